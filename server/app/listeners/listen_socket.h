// Sockets that listen on an address: one for a Unix path, one for each address that a host's name has.
//
// 0.0.0.0 and [::] are both any address of this host, IPv4 and IPv6. Non-blocking, closed on exec; accepted
// connections send small packets at once (TCP_NODELAY). Nobody else may listen on the same port.
//
// Threads: a movable value. Ownership: a Unix path is removed when its socket is closed; whoever binds one
// must hold its SocketLock, as what lies there is taken for a leftover.

#ifndef POSENC_SERVER_APP_LISTENERS_LISTEN_SOCKET_H_
#define POSENC_SERVER_APP_LISTENERS_LISTEN_SOCKET_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/app/listeners/descriptor.h"
#include "server/app/listeners/listen_address.h"

namespace posenc {

class ListenSocket {
 public:
  // Errors: Unavailable that names the address and the reason; `flag` says whose address it is ("--listen").
  static absl::StatusOr<std::vector<ListenSocket>> Open(const ListenAddress& address, const std::string& flag);

  ListenSocket(ListenSocket&&) = default;
  ~ListenSocket();

  const std::string& name() const { return name_; }  // the address as it was given
  int descriptor() const { return descriptor_.get(); }
  int port() const { return port_; }  // the one that was bound; 0 for a Unix socket

 private:
  ListenSocket(const ListenAddress& address, Descriptor descriptor);

  std::string name_;
  Descriptor descriptor_;
  int port_;
  std::string path_;
};

}  // namespace posenc

#endif  // POSENC_SERVER_APP_LISTENERS_LISTEN_SOCKET_H_
