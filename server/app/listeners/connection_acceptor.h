// Accepts connections on a thread of its own and hands them on, within a bound.
//
// gRPC 1.51 could accept by itself, but it has no bound, and a listener of it that once found no free
// descriptor is not looked at again: it stays deaf when descriptors are free. This one refuses instead. What is
// over the bound is accepted and closed at once, so that the peer learns it and goes elsewhere; without a free
// descriptor a spare one is given up for that. Nothing here spins or waits for ever.
//
// Counting:  whoever takes a connection closes it without a word to us. A connection is gone when its number
//            stands for another file or for none, which is looked up when the bound is reached; so a count
//            may be too high meanwhile, but nobody is refused for it.
// One peer:  an address may have three quarters of all connections at the most, so that others always get in.
//            Peers of a Unix socket are one address for each user.
// Threads:   `take` is called on the thread of this object, and may not block. Close from any other thread.

#ifndef POSENC_SERVER_APP_LISTENERS_CONNECTION_ACCEPTOR_H_
#define POSENC_SERVER_APP_LISTENERS_CONNECTION_ACCEPTOR_H_

#include <functional>
#include <memory>
#include <vector>

#include "server/app/listeners/descriptor.h"
#include "server/app/listeners/listen_socket.h"
#include "server/telemetry/log.h"

namespace posenc {

struct AcceptorOptions {
  std::vector<ListenSocket> sockets;
  size_t max_connections = 0;
  // Takes ownership of the descriptor `connection`.
  std::function<void(int listener, int connection)> take;
  Logger* log = nullptr;  // null logs nothing
};

class ConnectionAcceptor {
 public:
  // Accepts from now on.
  explicit ConnectionAcceptor(AcceptorOptions options);
  ~ConnectionAcceptor();

  // Closes the sockets; no connection is handed on afterwards.
  void Close();

 private:
  class Loop;

  Descriptor wake_;  // an eventfd that ends the loop
  std::unique_ptr<Loop> loop_;
};

}  // namespace posenc

#endif  // POSENC_SERVER_APP_LISTENERS_CONNECTION_ACCEPTOR_H_
