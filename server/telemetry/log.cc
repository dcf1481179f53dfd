#include "server/telemetry/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"

namespace posenc {
namespace {

// Returns `text` as a JSON string with its quotes; what is not UTF-8 is replaced.
std::string Quoted(absl::string_view text) {
  return nlohmann::json(std::string(text))
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Returns `text` escaped like a JSON string, without the quotes.
std::string Escaped(absl::string_view text) {
  const std::string quoted = Quoted(text);
  return quoted.substr(1, quoted.size() - 2);
}

bool IsPlainWord(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isgraph(static_cast<unsigned char>(c)) && c != '"' && c != '\\' && c != '=';
  });
}

std::string Timestamp() {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::Now(), absl::UTCTimeZone());
}

std::string JsonLine(LogLevel level, absl::string_view message, Logger::Fields fields) {
  std::string line = absl::StrCat("{\"ts\":\"", Timestamp(), "\",\"level\":\"", LogLevelName(level),
                                  "\",\"msg\":", Quoted(message));
  for (const LogField& field : fields) {
    absl::StrAppend(&line, ",", Quoted(field.name), ":", field.quoted ? Quoted(field.text) : field.text);
  }
  return line + "}";
}

std::string TextLine(LogLevel level, absl::string_view message, Logger::Fields fields) {
  std::string line = absl::StrCat(Timestamp(), " ", LogLevelName(level), " ", Escaped(message));
  for (const LogField& field : fields) {
    absl::StrAppend(&line, " ", field.name, "=",
                    IsPlainWord(field.text) ? field.text : Quoted(field.text));
  }
  return line;
}

std::shared_ptr<spdlog::logger> MakeOutput(std::ostream* stream) {
  spdlog::sink_ptr sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  if (stream != nullptr) sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(*stream, true);
  auto out = std::make_shared<spdlog::logger>("posenc", sink);
  out->set_pattern("%v");  // lines come finished
  out->flush_on(spdlog::level::trace);
  return out;
}

}  // namespace

absl::string_view LogLevelName(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return "debug";
    case LogLevel::kInfo: return "info";
    case LogLevel::kWarning: return "warning";
    case LogLevel::kError: return "error";
  }
  return "error";
}

absl::StatusOr<LogLevel> ParseLogLevel(absl::string_view name) {
  for (LogLevel level : kAllLogLevels) {
    if (absl::EqualsIgnoreCase(name, LogLevelName(level))) return level;
  }
  return absl::InvalidArgumentError("debug, info, warning, error");
}

Logger::Logger(LogFormat format, LogLevel least, std::ostream* stream)
    : format_(format), least_(least), out_(MakeOutput(stream)) {}

void Logger::Write(LogLevel level, absl::string_view message, Fields fields) {
  if (level < least_) return;
  counts_[static_cast<size_t>(level)].fetch_add(1, std::memory_order_relaxed);
  const std::string line = format_ == LogFormat::kJson ? JsonLine(level, message, fields)
                                                       : TextLine(level, message, fields);
  out_->log(spdlog::level::info, spdlog::string_view_t(line));
}

}  // namespace posenc
