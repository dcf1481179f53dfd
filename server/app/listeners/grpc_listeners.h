// The grpc::Server of our services on the addresses of the configuration, with the settings that a server
// of large tables needs: each is argued where it is set.
//
// Ownership: the services and metrics must outlive the object; its destructor ends the server.
// Threads:   Shutdown must not be called on a gRPC thread.

#ifndef POSENC_SERVER_APP_LISTENERS_GRPC_LISTENERS_H_
#define POSENC_SERVER_APP_LISTENERS_GRPC_LISTENERS_H_

#include <grpcpp/server.h>

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/app/listeners/listen_address.h"
#include "server/app/listeners/socket_lock.h"
#include "server/telemetry/rpc_metrics.h"

namespace posenc {

struct BoundAddress {
  ListenAddress address;
  int port = 0;  // the one that was bound; 0 for a Unix socket
};

class GrpcListeners {
 public:
  // Binds every address and serves.
  // Errors: Unavailable that names the address and the reason, when one cannot be bound.
  static absl::StatusOr<std::unique_ptr<GrpcListeners>> Open(const std::vector<ListenAddress>& addresses,
                                                             const std::vector<grpc::Service*>& services,
                                                             const RpcMetrics& metrics);

  const std::vector<BoundAddress>& bound() const { return bound_; }

  // Closes the listeners, lets running calls end until the deadline, cancels the rest and waits for them.
  // Connections without calls are closed once `idle` has been true for a second: gRPC waits for each client
  // to answer its GOAWAY, and a C++ client that has no call looks at its connection every 5 s only.
  void Shutdown(absl::Time deadline, const std::function<bool()>& idle);

 private:
  GrpcListeners() = default;

  std::vector<std::unique_ptr<SocketLock>> locks_;  // before server_: let go after it
  std::vector<BoundAddress> bound_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace posenc

#endif  // POSENC_SERVER_APP_LISTENERS_GRPC_LISTENERS_H_
