#include "server/app/config/config.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "server/app/config/config_flags.h"
#include "server/core/violations.h"

namespace posenc {
namespace {

// What one source says: texts by the flag's name.
using Layer = std::map<std::string, std::vector<std::string>>;

// Columns of --help.
constexpr size_t kFlagColumn = 34;
constexpr size_t kHelpWidth = 76;

constexpr const char* kAbout =
    "Serves positional-encoding tables (sinusoidal, rotary, ALiBi) over gRPC: posenc.v1, health and "
    "reflection.";

constexpr const char* kFooter =
    "Every flag may also stand in the environment, e.g. --cache-bytes as POSENC_CACHE_BYTES (lists with "
    "commas), or in the\nTOML file of --config, e.g. cache-bytes = \"2GiB\". Command line before environment "
    "before file before default.\n\n"
    "Exit codes: 0 after a drain (SIGTERM, SIGINT), 1 when it cannot start, 2 for a wrong "
    "configuration.\n\n"
    "Examples:\n"
    "  posenc-server\n"
    "  posenc-server --listen 127.0.0.1:50051 --warm llama/config.json --warm-dtype BF16\n"
    "  posenc-server --config /etc/posenc/server.toml --print-config";

std::string EnvironmentName(const std::string& flag) {
  return absl::StrCat("POSENC_", absl::AsciiStrToUpper(absl::StrReplaceAll(flag, {{"-", "_"}})));
}

// Breaks a help text into lines that fit a terminal beside the column of the flags.
std::string Wrapped(const std::string& help) {
  std::string text;
  size_t width = 0;
  for (absl::string_view line : absl::StrSplit(help, '\n')) {
    if (!text.empty()) text += "\n";
    width = 0;
    for (absl::string_view word : absl::StrSplit(line, ' ')) {
      const bool breaks = width > 0 && width + 1 + word.size() > kHelpWidth;
      if (width > 0) text += breaks ? "\n" : " ";
      width = breaks ? word.size() : width + word.size() + (width > 0 ? 1 : 0);
      absl::StrAppend(&text, word);
    }
  }
  return text;
}

// The parser of the command line, and what it found.
class CommandLine {
 public:
  CommandLine(const std::vector<ConfigFlag>& flags, const std::string& version_text)
      : app_(kAbout, "posenc-server") {
    app_.get_formatter()->column_width(kFlagColumn);
    app_.footer(kFooter);
    app_.set_version_flag("--version", version_text, "Show version, compiler and libraries, and exit.");
    app_.add_option("--config", config_file_, "TOML file with any of these flags.")->type_name("FILE");
    app_.add_flag("--print-config", print_, "Show the settled configuration and where each value comes "
                                            "from, as TOML, and exit.");
    app_.add_flag("--check-config", check_, "Check the configuration and the files of --warm and "
                                            "--learned, and exit.");
    for (const ConfigFlag& flag : flags) Add(flag);
  }

  // Parses; the text of help or version when that was asked for.
  absl::StatusOr<std::optional<std::string>> Parse(const std::vector<std::string>& args) {
    std::vector<std::string> reversed;  // as CLI11 wants them
    for (auto arg = args.rbegin(); arg != args.rend(); ++arg) {
      // CLI11 takes an empty value only as an argument of its own.
      const bool empty_value = absl::StartsWith(*arg, "--") && arg->find('=') == arg->size() - 1;
      if (empty_value) reversed.push_back("");
      reversed.push_back(empty_value ? arg->substr(0, arg->size() - 1) : *arg);
    }
    try {
      app_.parse(std::move(reversed));
    } catch (const CLI::CallForHelp&) {
      return app_.help();
    } catch (const CLI::CallForVersion&) {
      return absl::StrCat(app_.version(), "\n");
    } catch (const CLI::ParseError& error) {
      return absl::InvalidArgumentError(absl::StrCat(error.what(), "; --help lists the flags"));
    }
    return std::nullopt;
  }

  Layer layer() const {
    Layer layer;
    for (const auto& [name, option] : options_) {
      if (option->count() > 0) layer[name] = option->results();
    }
    return layer;
  }

  const std::string& config_file() const { return config_file_; }
  Invocation::Action action() const {
    if (print_) return Invocation::Action::kPrintConfig;
    return check_ ? Invocation::Action::kCheckConfig : Invocation::Action::kServe;
  }

 private:
  void Add(const ConfigFlag& flag) {
    // Texts stay texts here: all sources are then read in one way, with one kind of message.
    auto& texts = texts_.emplace_back(std::make_unique<std::vector<std::string>>());
    CLI::Option* option = app_.add_option("--" + flag.name, *texts, Wrapped(flag.help));
    option->type_name(flag.argument)->group(flag.group)->allow_extra_args(false);
    option->default_str(absl::StrJoin(flag.defaults, ","));
    option->expected(1)->multi_option_policy(flag.repeatable ? CLI::MultiOptionPolicy::TakeAll
                                                             : CLI::MultiOptionPolicy::Throw);
    options_[flag.name] = option;
  }

  CLI::App app_;
  std::string config_file_;
  bool print_ = false;
  bool check_ = false;
  std::vector<std::unique_ptr<std::vector<std::string>>> texts_;
  std::map<std::string, CLI::Option*> options_;
};

Layer EnvironmentLayer(const std::vector<ConfigFlag>& flags, const ConfigSurroundings& surroundings) {
  Layer layer;
  for (const ConfigFlag& flag : flags) {
    const auto text = surroundings.environment(EnvironmentName(flag.name));
    if (!text) continue;
    layer[flag.name] = {*text};
    if (flag.repeatable) layer[flag.name] = absl::StrSplit(*text, ',', absl::SkipEmpty());
  }
  return layer;
}

absl::StatusOr<Layer> FileLayer(const std::vector<ConfigFlag>& flags, const std::string& path) {
  std::vector<CLI::ConfigItem> items;
  try {
    items = CLI::ConfigTOML().from_file(path);
  } catch (const CLI::Error& error) {
    return absl::InvalidArgumentError(absl::StrCat("--config: ", path, " cannot be read"));
  }
  Layer layer;
  Violations bad;
  for (const CLI::ConfigItem& item : items) {
    const auto flag = std::find_if(flags.begin(), flags.end(),
                                   [&](const ConfigFlag& each) { return each.name == item.name; });
    if (!item.parents.empty() || flag == flags.end()) {
      bad.AddText(item.fullname(), absl::StrCat("is no setting of ", path, "; names are those of --help"));
    } else if (!flag->repeatable && item.inputs.size() != 1) {
      bad.AddText(item.fullname(), absl::StrCat("takes one value in ", path));
    } else {
      layer[item.name] = item.inputs;
    }
  }
  if (!bad.empty()) return bad.ToStatus();
  return layer;
}

struct NamedLayer {
  std::function<std::string(const std::string& flag)> origin;
  Layer texts;
};

ConfigValue Settle(const ConfigFlag& flag, const std::vector<NamedLayer>& layers) {
  for (const NamedLayer& layer : layers) {
    const auto found = layer.texts.find(flag.name);
    if (found == layer.texts.end()) continue;
    return {flag.name, found->second, flag.repeatable, layer.origin(flag.name)};
  }
  return {flag.name, flag.defaults, flag.repeatable, "default"};
}

absl::Status ApplyAll(const std::vector<ConfigFlag>& flags, Invocation& invocation) {
  Violations bad;
  for (size_t i = 0; i < flags.size(); ++i) {
    const ConfigValue& value = invocation.values[i];
    for (const std::string& text : value.texts) {
      const absl::Status status = flags[i].apply(text, invocation.config);
      if (status.ok()) continue;
      bad.AddText("--" + value.name, absl::StrCat("is \"", text, "\" (", value.origin, "); allowed: ",
                                                  status.message()));
    }
  }
  // An empty list in the environment or in a file.
  if (invocation.config.listen.empty() && bad.empty()) {
    bad.AddText("--listen", "is empty; allowed: at least one address");
  }
  return bad.ToStatus();
}

// CLI11's TOML reader knows no escapes, but both kinds of quotes.
std::string Quoted(const std::string& text) {
  const char* quote = absl::StrContains(text, '"') ? "'" : "\"";
  return absl::StrCat(quote, text, quote);
}

}  // namespace

absl::StatusOr<Invocation> ParseInvocation(const std::vector<std::string>& args,
                                           const ConfigSurroundings& surroundings) {
  const std::vector<ConfigFlag> flags = ConfigFlags(surroundings);
  CommandLine line(flags, surroundings.version_text);
  const auto text = line.Parse(args);
  if (!text.ok()) return text.status();
  Invocation invocation;
  if (*text) {
    invocation.action = Invocation::Action::kShowText;
    invocation.text = **text;
    return invocation;
  }
  invocation.action = line.action();
  std::vector<NamedLayer> layers = {
      {[](const std::string&) { return std::string("command line"); }, line.layer()},
      {EnvironmentName, EnvironmentLayer(flags, surroundings)}};
  const std::string path =
      line.config_file().empty() ? surroundings.environment("POSENC_CONFIG").value_or("") : line.config_file();
  if (!path.empty()) {
    absl::StatusOr<Layer> file = FileLayer(flags, path);
    if (!file.ok()) return file.status();
    layers.push_back({[path](const std::string&) { return "file " + path; }, *std::move(file)});
  }
  for (const ConfigFlag& flag : flags) invocation.values.push_back(Settle(flag, layers));
  invocation.config.memory_limit = surroundings.memory_limit;
  const absl::Status applied = ApplyAll(flags, invocation);
  if (!applied.ok()) return applied;
  return invocation;
}

std::string PrintConfig(const std::vector<ConfigValue>& values) {
  std::string text;
  for (const ConfigValue& value : values) {
    std::vector<std::string> quoted;
    for (const std::string& each : value.texts) quoted.push_back(Quoted(each));
    const std::string list = absl::StrJoin(quoted, ", ");
    absl::StrAppend(&text, value.name, " = ", value.repeatable ? absl::StrCat("[", list, "]") : list,
                    "  # ", value.origin, "\n");
  }
  return text;
}

}  // namespace posenc
