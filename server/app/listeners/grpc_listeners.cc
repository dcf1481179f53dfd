#include "server/app/listeners/grpc_listeners.h"

#include <grpc/grpc.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>

#include <string>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "server/app/listeners/grpc_log.h"
#include "server/core/limits.h"

namespace posenc {
namespace {

// Time for the last answers to leave before their connection is closed.
constexpr absl::Duration kIdleGrace = absl::Seconds(1);
constexpr absl::Duration kIdleCheckInterval = absl::Milliseconds(50);

void SetUp(grpc::ServerBuilder& builder, const RpcMetrics& metrics) {
  // Two servers on one port would each get half of the connections, without an error.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  // One connection may not take the whole server; gRPC's default has no limit.
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 256);
  // Clients may ping every 10 s, idle or not; gRPC would send them away for less than 5 minutes.
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 10000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  // Requests are small; answers have no limit here.
  builder.SetMaxReceiveMessageSize(static_cast<int>(limits::kMaxRequestBytes));
  builder.SetMaxSendMessageSize(-1);
  std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> interceptors;
  interceptors.push_back(metrics.MakeInterceptorFactory());
  builder.experimental().SetInterceptorCreators(std::move(interceptors));
}

absl::Status BindError(const ListenAddress& address, const std::string& grpc_text) {
  const std::string reason = absl::StrContains(grpc_text, "already in use")
                                 ? "the address is already in use"
                                 : absl::StrCat("gRPC says: ", grpc_text);
  return absl::UnavailableError(absl::StrCat("cannot listen on ", address.text, " (--listen): ", reason));
}

}  // namespace

absl::StatusOr<std::unique_ptr<GrpcListeners>> GrpcListeners::Open(
    const std::vector<ListenAddress>& addresses, const std::vector<grpc::Service*>& services,
    const RpcMetrics& metrics) {
  static const bool with_reflection = [] {
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    grpc::EnableDefaultHealthCheckService(false);
    return true;
  }();
  (void)with_reflection;
  std::unique_ptr<GrpcListeners> listeners(new GrpcListeners);
  grpc::ServerBuilder builder;
  SetUp(builder, metrics);
  for (const ListenAddress& address : addresses) listeners->bound_.push_back({address, 0});
  for (BoundAddress& bound : listeners->bound_) {
    if (bound.address.is_unix()) {
      auto lock = SocketLock::Acquire(bound.address.path);
      if (!lock.ok()) return lock.status();
      listeners->locks_.push_back(*std::move(lock));
    }
    builder.AddListeningPort(bound.address.text, grpc::InsecureServerCredentials(), &bound.port);
  }
  for (grpc::Service* service : services) builder.RegisterService(service);
  const GrpcErrors errors;
  listeners->server_ = builder.BuildAndStart();
  for (BoundAddress& bound : listeners->bound_) {
    // gRPC leaves the port alone where it could not bind, and sets 1 for a Unix socket.
    if (bound.port == 0) return BindError(bound.address, errors.text());
    if (bound.address.is_unix()) bound.port = 0;
  }
  if (listeners->server_ == nullptr) return BindError(addresses.back(), errors.text());
  return listeners;
}

void GrpcListeners::Shutdown(absl::Time deadline, const std::function<bool()>& idle) {
  absl::Notification ended;
  std::thread closer([&] {
    absl::Time idle_since = absl::Now();
    while (!ended.WaitForNotificationWithTimeout(kIdleCheckInterval)) {
      if (!idle()) idle_since = absl::Now();
      if (absl::Now() - idle_since < kIdleGrace) continue;
      grpc_server_cancel_all_calls(server_->c_server());  // and with them the connections
      return;
    }
  });
  server_->Shutdown(absl::ToChronoTime(deadline));
  ended.Notify();
  closer.join();
}

}  // namespace posenc
