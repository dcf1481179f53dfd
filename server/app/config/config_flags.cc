#include "server/app/config/config_flags.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "server/app/config/units.h"

namespace posenc {
namespace {

// Room for some blocks and the frequencies of the widest tables; less would refuse ordinary requests.
constexpr size_t kMinCacheBytes = size_t{16} << 20;

using Apply = std::function<absl::Status(const std::string&, ServerConfig&)>;

Apply Size(size_t ServerConfig::*member, size_t least, size_t most) {
  return [=](const std::string& text, ServerConfig& config) -> absl::Status {
    const absl::StatusOr<size_t> bytes = ParseByteSize(text);
    if (!bytes.ok()) return bytes.status();
    if (*bytes < least || *bytes > most) {
      return absl::InvalidArgumentError(
          absl::StrCat("from ", FormatByteSize(least), " to ", FormatByteSize(most)));
    }
    config.*member = *bytes;
    return absl::OkStatus();
  };
}

Apply Time(absl::Duration ServerConfig::*member) {
  return [=](const std::string& text, ServerConfig& config) -> absl::Status {
    const absl::StatusOr<absl::Duration> time = ParseDuration(text);
    if (time.ok()) config.*member = *time;
    return time.status();
  };
}

Apply Text(std::string ServerConfig::*member) {
  return [=](const std::string& text, ServerConfig& config) {
    config.*member = text;
    return absl::OkStatus();
  };
}

absl::Status AddListen(const std::string& text, ServerConfig& config) {
  const absl::StatusOr<ListenAddress> address = ParseListenAddress(text);
  if (!address.ok()) return address.status();
  for (const ListenAddress& other : config.listen) {
    const bool any_free_port = !address->is_unix() && address->port == 0;
    if (other.text == text && !any_free_port) {
      return absl::InvalidArgumentError("every address once");
    }
  }
  config.listen.push_back(*address);
  return absl::OkStatus();
}

absl::Status SetAdminListen(const std::string& text, ServerConfig& config) {
  config.admin_listen.reset();
  if (text.empty()) return absl::OkStatus();
  const absl::StatusOr<ListenAddress> address = ParseListenAddress(text);
  if (!address.ok() || address->is_unix()) {
    return absl::InvalidArgumentError("HOST:PORT, [IPV6]:PORT, or nothing for no admin pages");
  }
  config.admin_listen = *address;
  return absl::OkStatus();
}

absl::Status SetThreads(const std::string& text, ServerConfig& config) {
  constexpr int kMost = 1024;
  if (!absl::SimpleAtoi(text, &config.threads) || config.threads < 0 || config.threads > kMost) {
    return absl::InvalidArgumentError(absl::StrCat("0 (one for each CPU) to ", kMost));
  }
  return absl::OkStatus();
}

absl::Status SetMaxConnections(const std::string& text, ServerConfig& config) {
  constexpr size_t kMost = 1000000;
  if (!absl::SimpleAtoi(text, &config.max_connections) || config.max_connections < 1 ||
      config.max_connections > kMost) {
    return absl::InvalidArgumentError(absl::StrCat("1 to ", kMost));
  }
  return absl::OkStatus();
}

absl::Status AddWarm(const std::string& text, ServerConfig& config) {
  if (text.empty()) return absl::InvalidArgumentError("the path of a file");
  config.warm.push_back(text);
  return absl::OkStatus();
}

absl::Status AddLearned(const std::string& text, ServerConfig& config) {
  absl::StatusOr<TensorSource> source = ParseTensorSource(text);
  if (!source.ok()) return source.status();
  for (const TensorSource& other : config.learned) {
    if (other.name == source->name) return absl::InvalidArgumentError("every name once");
  }
  config.learned.push_back(*std::move(source));
  return absl::OkStatus();
}

absl::Status SetWarmDtype(const std::string& text, ServerConfig& config) {
  const absl::StatusOr<ElementType> type = ParseElementType(text);
  const bool real = type.ok() && *type >= ElementType::kF64 && *type <= ElementType::kBF16;
  if (!real) return absl::InvalidArgumentError("F64, F32, F16, BF16");
  config.warm_dtype = *type;
  return absl::OkStatus();
}

Apply SetLogFormat(bool on_terminal) {
  return [=](const std::string& text, ServerConfig& config) -> absl::Status {
    if (text != "text" && text != "json" && text != "auto") {
      return absl::InvalidArgumentError("text, json, auto");
    }
    const bool json = text == "json" || (text == "auto" && !on_terminal);
    config.log_format = json ? LogFormat::kJson : LogFormat::kText;
    return absl::OkStatus();
  };
}

absl::Status SetLogLevel(const std::string& text, ServerConfig& config) {
  const absl::StatusOr<LogLevel> level = ParseLogLevel(text);
  if (level.ok()) config.log_level = *level;
  return level.status();
}

void AddListenerFlags(std::vector<ConfigFlag>& flags) {
  const std::string group = "Listeners";
  flags.push_back({"listen", "ADDRESS", group,
                   "Where gRPC is served: HOST:PORT, [IPV6]:PORT or unix:PATH; port 0 takes any free one. "
                   "Repeatable.\nExample: --listen 0.0.0.0:50051 --listen unix:/run/posenc/posenc.sock",
                   {"0.0.0.0:50051"}, true, AddListen});
  flags.push_back({"admin-listen", "ADDRESS", group,
                   "Where /metrics, /livez, /readyz and /version are served over HTTP; \"\" serves none.",
                   {"0.0.0.0:9464"}, false, SetAdminListen});
  flags.push_back({"max-connections", "N", group,
                   "Connections to the gRPC listeners at once; whoever comes then is sent away. Fewer where the "
                   "limit on file descriptors (ulimit -n) leaves no room. One peer's address gets three "
                   "quarters at the most.",
                   {"4096"}, false, SetMaxConnections});
  flags.push_back({"port-file", "PATH", group,
                   "Write the bound gRPC TCP ports here, one a line in the order of --listen, once all "
                   "listeners are open; removed at exit.",
                   {""}, false, Text(&ServerConfig::port_file)});
  flags.push_back({"admin-port-file", "PATH", group, "The same for the admin port.", {""}, false,
                   Text(&ServerConfig::admin_port_file)});
  flags.push_back({"shared-memory-socket", "PATH", group,
                   "A Unix socket over which clients on this host map whole tables instead of receiving them: "
                   "one copy in memory for all of them. Containers share it through a common folder.\n"
                   "Example: --shared-memory-socket /run/posenc/memory.sock",
                   {""}, false, Text(&ServerConfig::shared_memory_socket)});
}

void AddMemoryFlags(const ConfigSurroundings& surroundings, std::vector<ConfigFlag>& flags) {
  const std::string group = "Memory and work";
  flags.push_back({"cache-bytes", "SIZE", group,
                   "Hard bound on the memory of tables: cached, being generated and being sent. By default "
                   "half of the container's limit (cgroup v1 or v2), or 1GiB where there is none.\n"
                   "Example: 512MiB, 1GiB, 1000000",
                   {FormatByteSize(DefaultCacheBytes(surroundings.memory_limit))}, false,
                   Size(&ServerConfig::cache_bytes, kMinCacheBytes, size_t{1} << 50)});
  flags.push_back({"block-bytes", "SIZE", group,
                   "Rows of a table are generated, cached and streamed in blocks of at most this size.",
                   {FormatByteSize(limits::kDefaultBlockBytes)}, false,
                   Size(&ServerConfig::block_bytes, limits::kMinBlockBytes, limits::kMaxBlockBytes)});
  flags.push_back({"max-unary-bytes", "SIZE", group,
                   "Largest answer of GetSlice; larger ones are referred to StreamSlice. gRPC clients "
                   "refuse messages over 4MiB unless told otherwise.",
                   {FormatByteSize(limits::kDefaultMaxUnaryBytes)}, false,
                   Size(&ServerConfig::max_unary_bytes, 1024, (size_t{1} << 31) - (size_t{1} << 20))});
  flags.push_back({"threads", "N", group, "Threads that generate; 0 is one for each CPU.", {"0"}, false,
                   SetThreads});
  flags.push_back({"max-memory-wait", "TIME", group,
                   "How long a request may wait for memory when its own deadline is later or absent.",
                   {"30s"}, false, Time(&ServerConfig::max_memory_wait)});
  flags.push_back({"stall-timeout", "TIME", group,
                   "A stream whose reader takes nothing for this long, or a unary call whose answer is not "
                   "taken whole by then, is ended: stalled readers cannot hold the memory.",
                   {"1m"}, false, Time(&ServerConfig::stall_timeout)});
}

void AddTableFlags(std::vector<ConfigFlag>& flags) {
  const std::string group = "Tables";
  flags.push_back({"warm", "FILE", group,
                   "Generate and pin these tables before the server says that it is ready: every table of a "
                   "model's config.json (any .json), or one posenc.v1.TableSpec as textproto. Repeatable.\n"
                   "Example: --warm llama/config.json; a textproto: rope { head_dim: 128 max_len: 131072 }",
                   {}, true, AddWarm});
  flags.push_back({"warm-dtype", "TYPE", group,
                   "Element type of the tables that --warm takes from a config.json: F64, F32, F16, BF16.",
                   {"F32"}, false, SetWarmDtype});
  flags.push_back({"learned", "NAME=FILE", group,
                   "Serve a tensor of a checkpoint under a name, for learned tables and the weights of bucket "
                   "biases: NAME=FILE.safetensors:TENSOR or NAME=FILE.npy. The file is mapped: replace it by "
                   "renaming, never write into it. Repeatable.\n"
                   "Example: --learned gpt2=gpt2/model.safetensors:wpe.weight",
                   {}, true, AddLearned});
}

void AddLifeFlags(const ConfigSurroundings& surroundings, std::vector<ConfigFlag>& flags) {
  flags.push_back({"drain-delay", "TIME", "Shutdown",
                   "After SIGTERM health says NOT_SERVING and this time passes before listeners close; "
                   "about 5s in Kubernetes, so that no caller is sent here any more.",
                   {"0s"}, false, Time(&ServerConfig::drain_delay)});
  flags.push_back({"drain-timeout", "TIME", "Shutdown",
                   "How long running calls may then go on before they are cancelled. A second signal exits "
                   "at once.",
                   {"8s"}, false, Time(&ServerConfig::drain_timeout)});
  flags.push_back({"log-format", "FORMAT", "Log",
                   "text, json (one object a line), or auto: text on a terminal, json elsewhere.", {"auto"},
                   false, SetLogFormat(surroundings.on_terminal)});
  flags.push_back({"log-level", "LEVEL", "Log", "Least level that is written: debug, info, warning, error.",
                   {"info"}, false, SetLogLevel});
}

}  // namespace

std::vector<ConfigFlag> ConfigFlags(const ConfigSurroundings& surroundings) {
  std::vector<ConfigFlag> flags;
  AddListenerFlags(flags);
  AddMemoryFlags(surroundings, flags);
  AddTableFlags(flags);
  AddLifeFlags(surroundings, flags);
  return flags;
}

size_t DefaultCacheBytes(std::optional<size_t> memory_limit) {
  if (!memory_limit) return size_t{1} << 30;
  return std::max(*memory_limit / 2, kMinCacheBytes);
}

}  // namespace posenc
