#include "server/app/listeners/grpc_log.h"

#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "server/tables/threads/steady_clock.h"

namespace posenc {
namespace {

// gRPC takes a plain function, so what it writes to has to be found from here. Never destroyed: gRPC's
// threads may write until the very end.
struct Route {
  absl::Mutex mutex;
  Logger* log ABSL_GUARDED_BY(mutex) = nullptr;
  GrpcErrors* errors ABSL_GUARDED_BY(mutex) = nullptr;
  // Peers can make gRPC complain as often as they like: some lines in a while say it.
  absl::Time interval_start ABSL_GUARDED_BY(mutex) = absl::InfinitePast();
  int in_interval ABSL_GUARDED_BY(mutex) = 0;
};

constexpr absl::Duration kInterval = absl::Seconds(10);
constexpr int kMostInInterval = 20;

// Returns whether one more warning may be written; tells once for each interval how many were not.
bool MayWarn(Route& route) ABSL_EXCLUSIVE_LOCKS_REQUIRED(route.mutex) {
  const absl::Time now = SteadyNow();
  if (now - route.interval_start >= kInterval) {
    const int suppressed = route.in_interval - kMostInInterval;
    if (suppressed > 0) route.log->Warning("gRPC reported more errors than are written", {{"count", suppressed}});
    route.interval_start = now;
    route.in_interval = 0;
  }
  return ++route.in_interval <= kMostInInterval;
}

Route& TheRoute() {
  static Route* const route = new Route;
  return *route;
}

void Write(gpr_log_func_args* args) {
  Route& route = TheRoute();
  absl::MutexLock lock(&route.mutex);
  const bool is_error = args->severity == GPR_LOG_SEVERITY_ERROR;
  if (is_error && route.errors != nullptr) {
    route.errors->Add(args->message);
  } else if (route.log != nullptr && is_error) {
    if (MayWarn(route)) route.log->Warning("gRPC reports an error", {{"reason", args->message}});
  } else if (route.log != nullptr) {
    route.log->Debug("gRPC says", {{"text", args->message}});
  }
}

// Protobuf complains of strings that are not UTF-8, which any peer can send: nothing for an operator.
void WriteProtobuf(google::protobuf::LogLevel /*level*/, const char* /*file*/, int /*line*/,
                   const std::string& message) {
  Route& route = TheRoute();
  absl::MutexLock lock(&route.mutex);
  if (route.log != nullptr) route.log->Debug("protobuf says", {{"text", message}});
}

}  // namespace

void RouteLibraryLogs(Logger* log) {
  {
    absl::MutexLock lock(&TheRoute().mutex);
    TheRoute().log = log;
  }
  gpr_set_log_function(Write);
  google::protobuf::SetLogHandler(WriteProtobuf);
}

GrpcErrors::GrpcErrors() {
  {
    absl::MutexLock lock(&TheRoute().mutex);
    TheRoute().errors = this;
  }
  gpr_set_log_function(Write);
}

GrpcErrors::~GrpcErrors() {
  absl::MutexLock lock(&TheRoute().mutex);
  TheRoute().errors = nullptr;
}

void GrpcErrors::Add(const char* text) {
  absl::MutexLock lock(&mutex_);
  absl::StrAppend(&text_, text_.empty() ? "" : "; ", text);
}

std::string GrpcErrors::text() const {
  absl::MutexLock lock(&mutex_);
  return text_;
}

}  // namespace posenc
