// The Unix socket over which clients on this host fetch the memory of shared tables.
//
// A client connects, sends the 64 hex digits of its token (OpenSharedTable), and gets one byte with the
// descriptor of the sealed memory beside it (SCM_RIGHTS). The connection is the lease: as long as it is open,
// the memory counts as held; when it closes, or its process dies, the lease ends. A wrong token, or none
// within five seconds, closes the connection.
//
// Who may:  the socket's mode is 0666, as the token says who may have a table, whatever user it runs as; the
//           folder's mode may say less. One process may have a quarter of all connections, one user half:
//           whoever comes then is hung up on.
// Threads: one of its own, which waits in poll(2), a second at most. Ownership: the socket's path is locked and removed as
// socket_lock.h says.

#ifndef POSENC_SERVER_APP_LISTENERS_SHARED_MEMORY_SOCKET_H_
#define POSENC_SERVER_APP_LISTENERS_SHARED_MEMORY_SOCKET_H_

#include <cstddef>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "server/app/listeners/socket_lock.h"
#include "server/tables/shared_tables.h"
#include "server/telemetry/log.h"

namespace posenc {

class SharedMemorySocket {
 public:
  struct Options {
    // Connections at once: each is one mapped table of one process. At least 1.
    size_t max_connections = 4096;
    Logger* log = nullptr;  // null logs nothing
  };

  // Binds and begins to serve. `tables` and the log must outlive the socket.
  // Errors: InvalidArgument for a path that is too long, Unavailable that names the path.
  static absl::StatusOr<std::unique_ptr<SharedMemorySocket>> Open(const std::string& path,
                                                                  SharedTables& tables,
                                                                  const Options& options);

  // Ends all leases, joins the thread and removes the socket. Memory that clients have mapped stays theirs.
  ~SharedMemorySocket();

 private:
  SharedMemorySocket(std::string path, std::unique_ptr<SocketLock> lock, int listener, int wake,
                     SharedTables& tables, const Options& options);

  const std::string path_;
  const std::unique_ptr<SocketLock> lock_;
  const int listener_;
  const int wake_;  // an eventfd that ends the thread
  SharedTables& tables_;
  std::thread thread_;
};

}  // namespace posenc

#endif  // POSENC_SERVER_APP_LISTENERS_SHARED_MEMORY_SOCKET_H_
