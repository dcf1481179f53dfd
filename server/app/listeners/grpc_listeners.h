// The grpc::Server of our services on the addresses of the configuration, with the settings that a server
// of large tables needs: each is argued where it is set.
//
// Connections are accepted by a ConnectionAcceptor, which bounds them, and handed to gRPC.
//
// Ownership: the services and metrics must outlive the object; its destructor ends the server.
// Threads:   Shutdown must not be called on a gRPC thread.

#ifndef POSENC_SERVER_APP_LISTENERS_GRPC_LISTENERS_H_
#define POSENC_SERVER_APP_LISTENERS_GRPC_LISTENERS_H_

#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/app/listeners/connection_acceptor.h"
#include "server/app/listeners/listen_address.h"
#include "server/app/listeners/listener_probe.h"
#include "server/app/listeners/socket_lock.h"
#include "server/telemetry/log.h"
#include "server/telemetry/rpc_metrics.h"

namespace posenc {

struct BoundAddress {
  ListenAddress address;
  int port = 0;  // the one that was bound; 0 for a Unix socket
};

struct GrpcListenerOptions {
  size_t max_connections = 1024;
  Logger* log = nullptr;  // null logs nothing; must outlive the listeners
  ProbeOptions probe;     // how the listeners are asked whether they still answer
};

class GrpcListeners {
 public:
  // Binds every address and serves.
  // Errors: Unavailable that names the address and the reason, when one cannot be bound.
  static absl::StatusOr<std::unique_ptr<GrpcListeners>> Open(const std::vector<ListenAddress>& addresses,
                                                             const std::vector<grpc::Service*>& services,
                                                             const RpcMetrics& metrics,
                                                             const GrpcListenerOptions& options = {});

  const std::vector<BoundAddress>& bound() const { return bound_; }

  // Closes the listeners and tells every client to go (GOAWAY); lets running calls end for `timeout`, cancels
  // the rest and waits for them. Every call that was accepted is answered, what was not is UNAVAILABLE.
  // Connections without calls are closed once `idle` has been true for a second: gRPC waits for each client
  // to answer its GOAWAY, and a C++ client that has no call looks at its connection every 5 s only.
  // Returns whether calls had to be cancelled: `idle` was not true in time.
  bool Shutdown(absl::Duration timeout, const std::function<bool()>& idle);

 private:
  GrpcListeners() = default;

  absl::StatusOr<std::vector<ListenSocket>> Bind(const std::vector<ListenAddress>& addresses);

  std::vector<std::unique_ptr<SocketLock>> locks_;  // before the rest: let go after it
  std::vector<BoundAddress> bound_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> grpc_acceptor_;
  std::unique_ptr<ConnectionAcceptor> acceptor_;  // after the server: it hands connections to it
  std::unique_ptr<ListenerProbe> probe_;          // last: it asks the acceptor
};

}  // namespace posenc

#endif  // POSENC_SERVER_APP_LISTENERS_GRPC_LISTENERS_H_
