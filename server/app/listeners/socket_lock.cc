#include "server/app/listeners/socket_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace posenc {

absl::StatusOr<std::unique_ptr<SocketLock>> SocketLock::Acquire(const std::string& socket_path) {
  struct stat there {};
  if (lstat(socket_path.c_str(), &there) == 0 && !S_ISSOCK(there.st_mode)) {
    return absl::UnavailableError(absl::StrCat("cannot listen on unix:", socket_path,
                                               ": a file that is no socket has this name; allowed: a socket "
                                               "that was left behind, or no file"));
  }
  const std::string lock_path = socket_path + ".lock";
  const int file = open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) {
    return absl::UnavailableError(absl::StrCat("cannot listen on unix:", socket_path, ": cannot open ",
                                               lock_path, ": ", std::strerror(errno)));
  }
  if (flock(file, LOCK_EX | LOCK_NB) != 0) {
    close(file);
    return absl::UnavailableError(absl::StrCat("cannot listen on unix:", socket_path,
                                               ": the address is already in use by another server, which "
                                               "holds ", lock_path));
  }
  return std::unique_ptr<SocketLock>(new SocketLock(file));
}

SocketLock::~SocketLock() { close(file_); }

}  // namespace posenc
