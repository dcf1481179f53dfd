#include "server/app/listeners/grpc_listeners.h"

#include <grpc/grpc.h>
#include <grpc/support/time.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/resource_quota.h>

#include <algorithm>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/app/lifecycle/event.h"
#include "server/app/listeners/goaway.h"
#include "server/app/listeners/grpc_log.h"
#include "server/core/limits.h"
#include "server/tables/threads/steady_clock.h"

namespace posenc {
namespace {

// Time for the last answers to leave before their connection is closed.
constexpr absl::Duration kIdleGrace = absl::Seconds(1);
// Time for a call whose first bytes had been read before the GOAWAY to reach its handler, and be counted.
constexpr absl::Duration kArrivalGrace = absl::Milliseconds(100);
constexpr absl::Duration kIdleCheckInterval = absl::Milliseconds(10);

constexpr int kSecondMs = 1000;
// Reflection is gRPC's own and takes a thread for each stream, however idle; nothing else of ours does.
constexpr int kMaxGrpcThreads = 32;

void SetUpTransport(grpc::ServerBuilder& builder) {
  // A connection may have this many calls under way; gRPC's default has no limit.
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 256);
  // Clients may ping every 10 s, idle or not; gRPC would send them away for less than 5 minutes.
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 10 * kSecondMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  // A peer that is frozen, or whose host has gone without a word, does not answer these.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 60 * kSecondMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20 * kSecondMs);
  // Who connects and says nothing; gRPC's default is two minutes.
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, 10 * kSecondMs);
  // Who has had no call for long gives its place to others: clients connect again by themselves.
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, 15 * 60 * kSecondMs);
  // Requests have a few hundred bytes of headers.
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, 8 << 10);
}

void SetUpMessages(grpc::ServerBuilder& builder) {
  // Requests are small; answers have no limit here.
  builder.SetMaxReceiveMessageSize(static_cast<int>(limits::kMaxRequestBytes));
  builder.SetMaxSendMessageSize(-1);
  // gRPC looks at the limit before it inflates, so that one megabyte could become a gigabyte: a compressed
  // request is refused with UNIMPLEMENTED, as the protocol has it, and inflated by nobody.
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
  builder.AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
}

void SetUp(grpc::ServerBuilder& builder, const RpcMetrics& metrics) {
  SetUpTransport(builder);
  SetUpMessages(builder);
  grpc::ResourceQuota quota("posenc");
  quota.SetMaxThreads(kMaxGrpcThreads);
  builder.SetResourceQuota(quota);
  std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> interceptors;
  interceptors.push_back(metrics.MakeInterceptorFactory());
  builder.experimental().SetInterceptorCreators(std::move(interceptors));
}

void RegisterPlugins() {
  static const bool registered = [] {
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    grpc::EnableDefaultHealthCheckService(false);
    return true;
  }();
  (void)registered;
}

// Returns whether `idle` was true for `grace` without a break before `deadline`.
bool AwaitIdle(const std::function<bool()>& idle, absl::Duration grace, absl::Time deadline,
               Event& ended) {
  absl::Time idle_since = SteadyNow();
  while (!ended.WaitFor(kIdleCheckInterval)) {
    const absl::Time now = SteadyNow();
    if (!idle()) idle_since = now;
    if (now - idle_since >= grace) return true;
    if (now >= deadline) return false;
  }
  return false;
}

// A wall-clock deadline would move with that clock.
gpr_timespec GrpcDeadline(absl::Time steady) {
  const absl::Duration left = std::max(steady - SteadyNow(), absl::ZeroDuration());
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                      gpr_time_from_millis(absl::ToInt64Milliseconds(left), GPR_TIMESPAN));
}

}  // namespace

absl::StatusOr<std::vector<ListenSocket>> GrpcListeners::Bind(const std::vector<ListenAddress>& addresses) {
  std::vector<ListenSocket> all;
  for (const ListenAddress& address : addresses) {
    if (address.is_unix()) {
      auto lock = SocketLock::Acquire(address.path);
      if (!lock.ok()) return lock.status();
      locks_.push_back(*std::move(lock));
    }
    auto sockets = ListenSocket::Open(address, "--listen");
    if (!sockets.ok()) return sockets.status();
    bound_.push_back({address, sockets->front().port()});
    for (ListenSocket& socket : *sockets) all.push_back(std::move(socket));
  }
  return all;
}

absl::StatusOr<std::unique_ptr<GrpcListeners>> GrpcListeners::Open(
    const std::vector<ListenAddress>& addresses, const std::vector<grpc::Service*>& services,
    const RpcMetrics& metrics, const GrpcListenerOptions& options) {
  RegisterPlugins();
  std::unique_ptr<GrpcListeners> listeners(new GrpcListeners);
  auto sockets = listeners->Bind(addresses);
  if (!sockets.ok()) return sockets.status();
  grpc::ServerBuilder builder;
  SetUp(builder, metrics);
  listeners->grpc_acceptor_ = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
      grpc::InsecureServerCredentials());
  for (grpc::Service* service : services) builder.RegisterService(service);
  const GrpcErrors errors;
  listeners->server_ = builder.BuildAndStart();
  if (listeners->server_ == nullptr) {
    return absl::InternalError(absl::StrCat("gRPC cannot start: ", errors.text()));
  }
  const auto take = [acceptor = listeners->grpc_acceptor_.get()](int listener, int connection) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters taken;
    taken.listener_fd = listener;
    taken.fd = connection;
    acceptor->HandleNewConnection(&taken);
  };
  std::vector<ProbeTarget> targets;
  for (const ListenSocket& socket : *sockets) targets.emplace_back(socket.name(), socket.descriptor());
  listeners->acceptor_ = std::make_unique<ConnectionAcceptor>(
      AcceptorOptions{*std::move(sockets), options.max_connections, take, options.log});
  listeners->probe_ = std::make_unique<ListenerProbe>(std::move(targets), options.probe);
  return listeners;
}

bool GrpcListeners::Shutdown(absl::Duration timeout, const std::function<bool()>& idle) {
  const absl::Time deadline = SteadyNow() + timeout;
  probe_.reset();
  acceptor_->Close();
  SendGoaways(*server_);
  Event ended;
  const bool answered = AwaitIdle(idle, kArrivalGrace, deadline, ended);
  std::thread closer([&] {
    // Cancels nothing but connections.
    if (AwaitIdle(idle, kIdleGrace, absl::InfiniteFuture(), ended)) {
      grpc_server_cancel_all_calls(server_->c_server());
    }
  });
  server_->Shutdown(GrpcDeadline(deadline));
  ended.Happen();
  closer.join();
  return !answered;
}

}  // namespace posenc
