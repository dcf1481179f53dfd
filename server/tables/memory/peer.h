// Who asks: the connection of a request, as far as memory is shared out between peers.
//
// A peer is what gRPC's peer() says: address and port of a TCP connection, one name for all clients of a Unix
// socket. Requests without a name are the server's own (warming); they are one peer among the others.
//
// Threads: a value.

#ifndef POSENC_SERVER_TABLES_MEMORY_PEER_H_
#define POSENC_SERVER_TABLES_MEMORY_PEER_H_

#include <string>
#include <utility>

namespace posenc {

class PeerId {
 public:
  PeerId() = default;  // the server itself
  explicit PeerId(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  friend bool operator==(const PeerId& a, const PeerId& b) { return a.name_ == b.name_; }

 private:
  std::string name_;
};

}  // namespace posenc

#endif  // POSENC_SERVER_TABLES_MEMORY_PEER_H_
