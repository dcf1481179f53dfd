// The program's log: one line for each event, as text for people or as JSON for collectors.
//
// Form:    a message that is a constant, and fields that vary. Text: "TIME LEVEL message name=value …";
//          JSON: {"ts", "level", "msg", fields …}. Times are UTC with milliseconds. Whatever a message or
//          a field holds, a line stays one line and JSON stays JSON: everything is escaped.
// Threads: any thread, any time; lines do not mix.
// Errors:  none; what cannot be written is lost.

#ifndef POSENC_SERVER_TELEMETRY_LOG_H_
#define POSENC_SERVER_TELEMETRY_LOG_H_

#include <array>
#include <atomic>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace spdlog {
class logger;
}

namespace posenc {

enum class LogLevel : uint8_t { kDebug = 0, kInfo = 1, kWarning = 2, kError = 3 };
inline constexpr std::array kAllLogLevels = {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarning,
                                             LogLevel::kError};

// Returns "debug", "info", "warning" or "error".
absl::string_view LogLevelName(LogLevel level);
// Errors: InvalidArgument that lists the names.
absl::StatusOr<LogLevel> ParseLogLevel(absl::string_view name);

enum class LogFormat : uint8_t { kText, kJson };

// One named value of a line.
struct LogField {
  LogField(absl::string_view name, absl::string_view text) : name(name), text(text), quoted(true) {}
  LogField(absl::string_view name, const char* text) : LogField(name, absl::string_view(text)) {}
  LogField(absl::string_view name, const std::string& text) : LogField(name, absl::string_view(text)) {}
  LogField(absl::string_view name, bool value) : name(name), text(value ? "true" : "false") {}
  // A number must be finite: JSON has no others.
  template <typename Number>
    requires std::integral<Number> || std::floating_point<Number>
  LogField(absl::string_view name, Number value) : name(name), text(absl::StrCat(value)) {}

  std::string name;
  std::string text;
  bool quoted = false;
};

class Logger {
 public:
  using Fields = std::initializer_list<LogField>;

  // Writes to standard error, or to `stream`, which must then outlive the logger.
  Logger(LogFormat format, LogLevel least, std::ostream* stream = nullptr);

  void Debug(absl::string_view message, Fields fields = {}) { Write(LogLevel::kDebug, message, fields); }
  void Info(absl::string_view message, Fields fields = {}) { Write(LogLevel::kInfo, message, fields); }
  void Warning(absl::string_view message, Fields fields = {}) { Write(LogLevel::kWarning, message, fields); }
  void Error(absl::string_view message, Fields fields = {}) { Write(LogLevel::kError, message, fields); }

  // Lines of a level so far; those below the least level are neither written nor counted.
  uint64_t count(LogLevel level) const { return counts_[static_cast<size_t>(level)]; }

 private:
  void Write(LogLevel level, absl::string_view message, Fields fields);

  const LogFormat format_;
  const LogLevel least_;
  const std::shared_ptr<spdlog::logger> out_;
  std::array<std::atomic<uint64_t>, kAllLogLevels.size()> counts_{};
};

}  // namespace posenc

#endif  // POSENC_SERVER_TELEMETRY_LOG_H_
