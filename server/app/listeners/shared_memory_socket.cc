#include "server/app/listeners/shared_memory_socket.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/app/listeners/accept_one.h"
#include "server/app/listeners/descriptor.h"
#include "server/tables/threads/steady_clock.h"

namespace posenc {
namespace {

constexpr size_t kTokenBytes = 64;
constexpr absl::Duration kTokenTimeout = absl::Seconds(5);

absl::Status Failed(const std::string& path, absl::string_view what) {
  return absl::UnavailableError(absl::StrCat("shared memory socket ", path, ": ", what, ": ", strerror(errno)));
}

// Sends one byte and the descriptor. A peer that takes neither at once is not waited for.
bool SendDescriptor(int connection, int descriptor) {
  char byte = 1;
  iovec data{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
  return sendmsg(connection, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

// One client: first its token comes in, then it holds a lease until it hangs up.
struct Connection {
  int fd;
  ucred peer;
  absl::Time token_deadline;  // steady
  std::string token = {};
  BlockPtr lease = nullptr;
};

class Loop {
 public:
  Loop(int listener, int wake, SharedTables& tables, const SharedMemorySocket::Options& options)
      : listener_(listener), wake_(wake), tables_(tables), options_(options),
        accept_("shared memory", options.log) {}
  ~Loop() {
    for (const Connection& connection : connections_) close(connection.fd);
  }

  // Serves until the eventfd is written to.
  void Run() {
    for (;;) {
      std::vector<pollfd> waited = {{wake_, POLLIN, 0}, {listener_, POLLIN, 0}};
      // A full house takes nobody in; who waits outside is let in when somebody has left.
      if (tired_ || connections_.size() >= options_.max_connections) waited[1].events = 0;
      for (const Connection& connection : connections_) waited.push_back({connection.fd, POLLIN, 0});
      const int ready = poll(waited.data(), waited.size(), WaitMilliseconds());
      tired_ = false;
      if (ready < 0) {
        if (errno != EINTR) accept_.LogRefusal(strerror(errno));
        tired_ = errno != EINTR;
      } else if (waited[0].revents != 0) {
        return;
      } else if (ready > 0) {
        ServeReady(waited);
        if (waited[1].revents != 0) Accept();
      }
      DropLate();
    }
  }

 private:
  // Until a connection or an offered token is too old; from 1 to 1001.
  int WaitMilliseconds() {
    absl::Time next = SteadyNow() + (tired_ ? AcceptOne::kPause : absl::Seconds(1));
    // A token that is offered later is looked at a second late at most.
    tables_.DropExpired(SteadyNow());
    for (const Connection& connection : connections_) {
      if (!connection.lease) next = std::min(next, connection.token_deadline);
    }
    const absl::Duration wait = std::max(next - SteadyNow(), absl::ZeroDuration());
    return static_cast<int>(absl::ToInt64Milliseconds(wait)) + 1;
  }

  void Accept() {
    Descriptor accepted;
    const AcceptOne::Result result = accept_.From(listener_, accepted);
    tired_ = result == AcceptOne::Result::kTired;
    if (result != AcceptOne::Result::kAccepted) return;
    ucred peer{};
    socklen_t size = sizeof(peer);
    if (getsockopt(accepted.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return;
    if (!HasRoom(peer)) return accept_.LogRefusal(absl::StrCat("too many of process ", peer.pid));
    connections_.push_back({accepted.Release(), peer, SteadyNow() + kTokenTimeout});
  }

  bool HasRoom(const ucred& peer) const {
    size_t of_process = 0;
    size_t of_user = 0;
    for (const Connection& connection : connections_) {
      if (connection.peer.pid == peer.pid) ++of_process;
      if (connection.peer.uid == peer.uid) ++of_user;
    }
    return of_process < std::max<size_t>(1, options_.max_connections / 4) &&
           of_user < std::max<size_t>(1, options_.max_connections / 2);
  }

  void ServeReady(const std::vector<pollfd>& waited) {
    std::vector<Connection> kept;
    for (size_t i = 0; i < connections_.size(); ++i) {
      Connection& connection = connections_[i];
      if (waited[i + 2].revents == 0 || Serve(connection)) {
        kept.push_back(std::move(connection));
      } else {
        close(connection.fd);
      }
    }
    connections_ = std::move(kept);
  }

  // Returns whether the connection stays. Whoever has its lease has nothing more to say but goodbye.
  bool Serve(Connection& connection) {
    char bytes[kTokenBytes];
    const ssize_t count = read(connection.fd, bytes, kTokenBytes - connection.token.size());
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    if (count == 0 || connection.lease) return false;
    connection.token.append(bytes, static_cast<size_t>(count));
    if (connection.token.size() < kTokenBytes) return true;
    connection.lease = tables_.Redeem(connection.token, SteadyNow());
    return connection.lease && SendDescriptor(connection.fd, connection.lease->memory_fd());
  }

  void DropLate() {
    const absl::Time now = SteadyNow();
    std::erase_if(connections_, [&](const Connection& connection) {
      const bool late = !connection.lease && connection.token_deadline <= now;
      if (late) close(connection.fd);
      return late;
    });
  }

  const int listener_;
  const int wake_;
  SharedTables& tables_;
  const SharedMemorySocket::Options options_;
  AcceptOne accept_;
  std::vector<Connection> connections_;
  bool tired_ = false;  // accepts nobody until the next look
};

}  // namespace

absl::StatusOr<std::unique_ptr<SharedMemorySocket>> SharedMemorySocket::Open(const std::string& path,
                                                                             SharedTables& tables,
                                                                             const Options& options) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path)) {
    return absl::InvalidArgumentError(absl::StrCat("shared memory socket '", path, "'; allowed: a path of 1 to ",
                                                   sizeof(address.sun_path) - 1, " bytes"));
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  absl::StatusOr<std::unique_ptr<SocketLock>> lock = SocketLock::Acquire(path);
  if (!lock.ok()) return lock.status();
  unlink(path.c_str());  // left by a process that died: its lock is gone
  const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener < 0) return Failed(path, "socket");
  if (bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      listen(listener, SOMAXCONN) != 0) {
    const absl::Status failed = Failed(path, "bind");
    close(listener);
    return failed;
  }
  // Whoever has a token may come, whatever user it runs as: the token says that it may.
  if (chmod(path.c_str(), 0666) != 0) {
    const absl::Status failed = Failed(path, "chmod");
    close(listener);
    return failed;
  }
  const int wake = eventfd(0, EFD_CLOEXEC);
  if (wake < 0) {
    const absl::Status failed = Failed(path, "eventfd");
    close(listener);
    return failed;
  }
  return std::unique_ptr<SharedMemorySocket>(
      new SharedMemorySocket(path, *std::move(lock), listener, wake, tables, options));
}

SharedMemorySocket::SharedMemorySocket(std::string path, std::unique_ptr<SocketLock> lock, int listener,
                                       int wake, SharedTables& tables, const Options& options)
    : path_(std::move(path)), lock_(std::move(lock)), listener_(listener), wake_(wake), tables_(tables) {
  thread_ = std::thread([this, options] { Loop(listener_, wake_, tables_, options).Run(); });
}

SharedMemorySocket::~SharedMemorySocket() {
  eventfd_write(wake_, 1);
  thread_.join();
  close(listener_);
  close(wake_);
  unlink(path_.c_str());
}

}  // namespace posenc
