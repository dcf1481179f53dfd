#include "server/app/run.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/app/admin/program_info.h"
#include "server/app/config/config.h"
#include "server/app/config/memory_limit.h"
#include "server/app/config/warm_list.h"
#include "server/app/lifecycle/exit_guard.h"
#include "server/app/lifecycle/signals.h"
#include "server/app/lifecycle/stop_request.h"
#include "server/app/listeners/grpc_log.h"
#include "server/app/server.h"
#include "server/encodings/table_generator.h"
#include "server/models/tensors/stored_tensors.h"
#include "server/telemetry/log.h"

namespace posenc {
namespace {

constexpr int kExitOk = 0;
constexpr int kExitCannotStart = 1;
constexpr int kExitWrongConfig = 2;

constexpr absl::Duration kTearDownTimeout = absl::Milliseconds(300);

ConfigSurroundings TheSurroundings() {
  ConfigSurroundings surroundings;
  surroundings.environment = [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr) return std::nullopt;
    return value;
  };
  surroundings.memory_limit = CgroupMemoryLimit();
  surroundings.on_terminal = isatty(STDERR_FILENO) == 1;
  surroundings.version_text = VersionText(GetProgramInfo());
  return surroundings;
}

// Debian builds Abseil with its checks for debugging: each mutex that is taken, gRPC's too, takes a lock of the
// whole process to record the order of locks. A small call has a seventh fewer instructions without. Tests of
// the libraries keep the check.
void StopWatchingLockOrder() { absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore); }

int Refuse(const absl::Status& status) {
  std::fprintf(stderr, "posenc-server: %s\n", std::string(status.message()).c_str());
  return kExitWrongConfig;
}

int Show(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  return kExitOk;
}

int Serve(const ServerConfig& config, std::shared_ptr<const TensorCatalog> catalog,
          std::vector<WarmEntry> warm) {
  Logger log(config.log_format, config.log_level);
  RouteLibraryLogs(&log);
  StopRequest stop;
  std::optional<SignalWaiter> signals(std::in_place, stop, log);
  std::optional<Server> server(std::in_place, config, std::move(catalog), std::move(warm), log, stop);
  const absl::Status status = server->Run();
  if (status.ok()) {
    log.Info("stopped");
  } else {
    log.Error(absl::string_view(status.message()));
  }
  const int code = status.ok() ? kExitOk : kExitCannotStart;
  // Nothing is left to lose now, and nobody is to wait for threads that take their time.
  const ExitGuard guard(kTearDownTimeout, code, [] {});
  RouteLibraryLogs(nullptr);
  server.reset();
  signals.reset();
  return code;
}

}  // namespace

int RunServer(const std::vector<std::string>& args) {
  StopWatchingLockOrder();
  BlockStopSignals();
  if (const absl::Status kernels = CheckKernelTargetOfEnvironment(); !kernels.ok()) return Refuse(kernels);
  const absl::StatusOr<Invocation> invocation = ParseInvocation(args, TheSurroundings());
  if (!invocation.ok()) return Refuse(invocation.status());
  if (invocation->action == Invocation::Action::kShowText) return Show(invocation->text);
  if (invocation->action == Invocation::Action::kPrintConfig) return Show(PrintConfig(invocation->values));
  const ServerConfig& config = invocation->config;
  absl::StatusOr<std::shared_ptr<const TensorCatalog>> catalog = LoadTensorCatalog(config.learned);
  if (!catalog.ok()) {
    return Refuse(absl::Status(catalog.status().code(), absl::StrCat("--learned ", catalog.status().message())));
  }
  absl::StatusOr<std::vector<WarmEntry>> warm = LoadWarmList(config.warm, config.warm_dtype, **catalog);
  if (!warm.ok()) return Refuse(warm.status());
  if (invocation->action == Invocation::Action::kCheckConfig) return Show("the configuration is valid\n");
  return Serve(config, *std::move(catalog), *std::move(warm));
}

}  // namespace posenc
