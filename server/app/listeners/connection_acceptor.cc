#include "server/app/listeners/connection_acceptor.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "server/app/listeners/accept_one.h"
#include "server/app/listeners/connection_census.h"
#include "server/tables/threads/steady_clock.h"

namespace posenc {
namespace {

// What one listener may take before the next has its turn.
constexpr int kAcceptsInARow = 64;
// A full house is counted anew at most this often, so that a flood cannot keep the thread counting.
constexpr absl::Duration kRecountInterval = absl::Milliseconds(100);

}  // namespace

class ConnectionAcceptor::Loop {
 public:
  Loop(AcceptorOptions options, int wake)
      : options_(std::move(options)), accept_("gRPC", options_.log), wake_(wake), thread_([this] { Run(); }) {}
  ~Loop() { thread_.join(); }

 private:
  // Until the eventfd is written to.
  void Run() {
    std::vector<pollfd> waited = {{wake_, POLLIN, 0}};
    for (const ListenSocket& socket : options_.sockets) waited.push_back({socket.descriptor(), POLLIN, 0});
    bool tired = false;
    for (;;) {
      const int timeout = tired ? static_cast<int>(absl::ToInt64Milliseconds(AcceptOne::kPause)) : -1;
      const int ready = poll(waited.data(), tired ? 1 : waited.size(), timeout);
      tired = false;
      if (ready < 0 && errno != EINTR) {
        accept_.LogRefusal("poll failed");
        tired = true;  // try again, without spinning
        continue;
      }
      if (ready <= 0) continue;
      if (waited[0].revents != 0) return;
      for (size_t i = 1; i < waited.size(); ++i) {
        if (waited[i].revents != 0 && !AcceptFrom(waited[i].fd)) tired = true;
      }
    }
  }

  // Returns false when descriptors are lacking so badly that the loop has to pause.
  bool AcceptFrom(int listener) {
    for (int i = 0; i < kAcceptsInARow; ++i) {
      Descriptor connection;
      switch (accept_.From(listener, connection)) {
        case AcceptOne::Result::kNobody: return true;
        case AcceptOne::Result::kTired: return false;
        case AcceptOne::Result::kRefused: break;
        case AcceptOne::Result::kAccepted: Admit(listener, std::move(connection));
      }
    }
    return true;
  }

  void Admit(int listener, Descriptor connection) {
    const std::string peer = PeerOf(connection.get());
    if (peer.empty()) return;  // gone already
    if (!HasRoom(peer)) Recount();
    if (!HasRoom(peer)) return accept_.LogRefusal(absl::StrCat("too many connections; the last from ", peer));
    census_.Add(connection.get(), peer);
    options_.take(listener, connection.Release());
  }

  bool HasRoom(const std::string& peer) const {
    const size_t all = options_.max_connections;
    return census_.total() < all && census_.HeldBy(peer) < std::max<size_t>(1, all - all / 4);
  }

  void Recount() {
    const absl::Time now = SteadyNow();
    if (now - recounted_ < kRecountInterval) return;
    census_.Recount();
    recounted_ = now;
  }

  const AcceptorOptions options_;
  AcceptOne accept_;
  const int wake_;
  ConnectionCensus census_;
  absl::Time recounted_ = absl::InfinitePast();
  std::thread thread_;  // last: it uses what stands above
};

ConnectionAcceptor::ConnectionAcceptor(AcceptorOptions options)
    : wake_(eventfd(0, EFD_CLOEXEC)), loop_(std::make_unique<Loop>(std::move(options), wake_.get())) {}

ConnectionAcceptor::~ConnectionAcceptor() { Close(); }

void ConnectionAcceptor::Close() {
  if (loop_ == nullptr) return;
  eventfd_write(wake_.get(), 1);
  loop_.reset();
}

}  // namespace posenc
