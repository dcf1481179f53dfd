// Keeps a second server off a Unix socket's path.
//
// gRPC removes whatever socket stands at the path before it binds, and again when it stops: without a lock a
// second server takes the path over in silence, and the first one's exit then removes the second one's
// socket. The lock is flock on PATH.lock; the kernel lets go of it when the process ends in any way.
//
// Ownership: the lock lasts as long as the object. The lock file stays: removing it would race.

#ifndef POSENC_SERVER_APP_LISTENERS_SOCKET_LOCK_H_
#define POSENC_SERVER_APP_LISTENERS_SOCKET_LOCK_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace posenc {

class SocketLock {
 public:
  // Errors: Unavailable that names the path, when another process has the lock, the file cannot be made, or
  // something other than a socket has that name, which the listener would remove.
  static absl::StatusOr<std::unique_ptr<SocketLock>> Acquire(const std::string& socket_path);

  ~SocketLock();
  SocketLock(const SocketLock&) = delete;
  SocketLock& operator=(const SocketLock&) = delete;

 private:
  explicit SocketLock(int file) : file_(file) {}

  const int file_;
};

}  // namespace posenc

#endif  // POSENC_SERVER_APP_LISTENERS_SOCKET_LOCK_H_
