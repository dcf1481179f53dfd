#include "server/app/admin/http_server.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <list>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/app/admin/http_connection.h"
#include "server/app/listeners/accept_one.h"
#include "server/app/listeners/listen_socket.h"
#include "server/tables/threads/steady_clock.h"

namespace posenc {
namespace {

// Newcomers between two looks at those who are there: few enough that a flood cannot push out somebody who
// has just come before his request was looked at.
constexpr size_t kAcceptsInARow = 16;

}  // namespace

class HttpServer::Loop {
 public:
  Loop(HttpServerOptions options, std::vector<ListenSocket> sockets, int wake)
      : options_(std::move(options)),
        sockets_(std::move(sockets)),
        wake_(wake),
        accept_(options_.flag, options_.log),
        thread_([this] { Run(); }) {}
  ~Loop() { thread_.join(); }

 private:
  // Until the eventfd is written to.
  void Run() {
    while (Poll()) {
      const absl::Time now = SteadyNow();
      size_t next = 1 + sockets_.size();
      std::erase_if(connections_, [&](HttpConnection& connection) {
        const bool ready = waited_[next++].revents != 0;
        return (ready && !connection.Advance(options_.answer, now)) || connection.deadline() <= now;
      });
      tired_ = false;
      for (size_t i = 0; i < sockets_.size(); ++i) {
        if (waited_[i + 1].revents != 0) AcceptFrom(sockets_[i].descriptor(), now);
      }
    }
  }

  // Returns false at the end.
  bool Poll() {
    waited_.assign(1, {wake_, POLLIN, 0});
    absl::Time next = tired_ ? SteadyNow() + AcceptOne::kPause : absl::InfiniteFuture();
    for (const ListenSocket& socket : sockets_) {
      waited_.push_back({socket.descriptor(), static_cast<short>(tired_ ? 0 : POLLIN), 0});
    }
    for (const HttpConnection& connection : connections_) {
      waited_.push_back({connection.descriptor(), connection.events(), 0});
      next = std::min(next, connection.deadline());
    }
    // Rounded up, so that the deadline has passed then; never in the past, which poll takes for endless.
    const absl::Duration wait = std::clamp(next - SteadyNow(), absl::ZeroDuration(), absl::Minutes(1));
    const int ready = poll(waited_.data(), waited_.size(), static_cast<int>(absl::ToInt64Milliseconds(wait)) + 1);
    if (ready < 0) {
      for (pollfd& one : waited_) one.revents = 0;
      if (errno != EINTR) accept_.LogRefusal(std::strerror(errno));
      tired_ = errno != EINTR;
    }
    return waited_[0].revents == 0;
  }

  void AcceptFrom(int listener, absl::Time now) {
    const size_t most = std::clamp<size_t>(options_.max_connections / 2, 1, kAcceptsInARow);
    for (size_t i = 0; i < most; ++i) {
      Descriptor descriptor;
      const AcceptOne::Result result = accept_.From(listener, descriptor);
      if (result == AcceptOne::Result::kNobody) return;
      if (result == AcceptOne::Result::kTired) {
        tired_ = true;
        return;
      }
      if (result == AcceptOne::Result::kRefused) continue;
      if (connections_.size() >= options_.max_connections) MakeRoom();
      HttpConnection& connection = connections_.emplace_back(std::move(descriptor), now);
      // The request of an ordinary client is there already.
      if (!connection.Advance(options_.answer, now)) connections_.pop_back();
    }
  }

  // Connections are in the order of their arrival.
  void MakeRoom() {
    const auto silent = std::find_if(connections_.begin(), connections_.end(),
                                     [](const HttpConnection& connection) { return connection.silent(); });
    connections_.erase(silent == connections_.end() ? connections_.begin() : silent);
  }

  const HttpServerOptions options_;
  const std::vector<ListenSocket> sockets_;
  const int wake_;
  AcceptOne accept_;
  std::list<HttpConnection> connections_;
  std::vector<pollfd> waited_;  // the eventfd, the listeners, the connections
  bool tired_ = false;          // accepts nobody until the next look
  std::thread thread_;          // last: it uses what stands above
};

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Open(HttpServerOptions options) {
  auto sockets = ListenSocket::Open(options.listen, options.flag);
  if (!sockets.ok()) return sockets.status();
  Descriptor wake(eventfd(0, EFD_CLOEXEC));
  if (!wake.open()) return absl::UnavailableError(absl::StrCat("eventfd: ", std::strerror(errno)));
  const int port = sockets->front().port();
  auto loop = std::make_unique<Loop>(std::move(options), *std::move(sockets), wake.get());
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(wake), std::move(loop), port));
}

HttpServer::HttpServer(Descriptor wake, std::unique_ptr<Loop> loop, int port)
    : wake_(std::move(wake)), loop_(std::move(loop)), port_(port) {}

HttpServer::~HttpServer() {
  eventfd_write(wake_.get(), 1);
  loop_.reset();
}

}  // namespace posenc
