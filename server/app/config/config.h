// The configuration of posenc-server: one struct, one table of flags, one check.
//
// Every flag may be given on the command line (--cache-bytes 2GiB), in the environment
// (POSENC_CACHE_BYTES=2GiB) or in a TOML file named with --config (cache-bytes = "2GiB"). Command line
// before environment before file before default, flag by flag; a repeatable flag is replaced as a whole.
//
// Units:   sizes are bytes, times are durations. Threads: plain values and functions without state.

#ifndef POSENC_SERVER_APP_CONFIG_CONFIG_H_
#define POSENC_SERVER_APP_CONFIG_CONFIG_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/app/listeners/listen_address.h"
#include "server/core/element_type.h"
#include "server/core/limits.h"
#include "server/models/tensors/stored_tensors.h"
#include "server/telemetry/log.h"

namespace posenc {

struct ServerConfig {
  std::vector<ListenAddress> listen;
  std::optional<ListenAddress> admin_listen;  // absent: no admin pages
  std::string port_file;        // empty: none
  std::string admin_port_file;  // empty: none
  std::string shared_memory_socket;  // empty: none

  // Connections to the gRPC listeners at once; fewer where the descriptor limit is lower.
  size_t max_connections = 0;

  size_t cache_bytes = 0;
  std::optional<size_t> memory_limit;  // of the container, as the surroundings say it
  size_t block_bytes = limits::kDefaultBlockBytes;
  size_t max_unary_bytes = limits::kDefaultMaxUnaryBytes;
  int threads = 0;  // 0: one for each CPU
  absl::Duration max_memory_wait;
  absl::Duration stall_timeout;

  std::vector<std::string> warm;  // files
  ElementType warm_dtype = ElementType::kF32;
  std::vector<TensorSource> learned;

  absl::Duration drain_delay;
  absl::Duration drain_timeout;

  LogFormat log_format = LogFormat::kText;
  LogLevel log_level = LogLevel::kInfo;
};

// One flag as it was settled, for --print-config.
struct ConfigValue {
  std::string name;  // "cache-bytes"
  std::vector<std::string> texts;
  bool repeatable = false;
  std::string origin;  // "command line", "POSENC_CACHE_BYTES", "file PATH", "default"
};

// What a command line asks for.
struct Invocation {
  enum class Action { kServe, kShowText, kPrintConfig, kCheckConfig };
  Action action = Action::kServe;
  std::string text;  // of kShowText: help or version
  ServerConfig config;
  std::vector<ConfigValue> values;
};

// What the configuration depends on besides its arguments.
struct ConfigSurroundings {
  std::function<std::optional<std::string>(const std::string& name)> environment;
  std::optional<size_t> memory_limit;  // of the container, for the default of --cache-bytes
  bool on_terminal = false;            // for --log-format auto
  std::string version_text;            // what --version shows
};

// Reads the command line (without the program's name), the environment and the file, and checks it all.
// Errors: InvalidArgument that names every wrong flag, its value and what is allowed.
absl::StatusOr<Invocation> ParseInvocation(const std::vector<std::string>& args,
                                           const ConfigSurroundings& surroundings);

// Returns the configuration as a TOML file with the origin of each value as a comment; reading it with
// --config gives the same configuration.
std::string PrintConfig(const std::vector<ConfigValue>& values);

// The default of --cache-bytes: half of the container's limit, else 1 GiB. The other half is for the
// program itself, for messages on their way and for what the allocator keeps.
size_t DefaultCacheBytes(std::optional<size_t> memory_limit);

}  // namespace posenc

#endif  // POSENC_SERVER_APP_CONFIG_CONFIG_H_
