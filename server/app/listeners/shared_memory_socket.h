// The Unix socket over which clients on this host fetch the memory of shared tables.
//
// A client connects, sends the 64 hex digits of its token (OpenSharedTable), and gets one byte with the
// descriptor of the sealed memory beside it (SCM_RIGHTS). The connection is the lease: as long as it is open,
// the memory counts as held; when it closes, or its process dies, the lease ends. A wrong token, or none
// within five seconds, closes the connection.
//
// Threads: one of its own, which waits in poll(2). Ownership: the socket's path is locked and removed as
// socket_lock.h says.

#ifndef POSENC_SERVER_APP_LISTENERS_SHARED_MEMORY_SOCKET_H_
#define POSENC_SERVER_APP_LISTENERS_SHARED_MEMORY_SOCKET_H_

#include <memory>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "server/app/listeners/socket_lock.h"
#include "server/tables/shared_tables.h"

namespace posenc {

class SharedMemorySocket {
 public:
  // Connections at once: each is one mapped table of one process.
  static constexpr size_t kMaxConnections = 4096;

  // Binds and begins to serve. `tables` must outlive the socket.
  // Errors: InvalidArgument for a path that is too long, Unavailable that names the path.
  static absl::StatusOr<std::unique_ptr<SharedMemorySocket>> Open(const std::string& path,
                                                                  SharedTables& tables);

  // Ends all leases, joins the thread and removes the socket. Memory that clients have mapped stays theirs.
  ~SharedMemorySocket();

 private:
  SharedMemorySocket(std::string path, std::unique_ptr<SocketLock> lock, int listener, int wake,
                     SharedTables& tables);

  const std::string path_;
  const std::unique_ptr<SocketLock> lock_;
  const int listener_;
  const int wake_;  // an eventfd that ends the thread
  SharedTables& tables_;
  std::thread thread_;
};

}  // namespace posenc

#endif  // POSENC_SERVER_APP_LISTENERS_SHARED_MEMORY_SOCKET_H_
