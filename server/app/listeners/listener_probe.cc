#include "server/app/listeners/listener_probe.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "server/tables/threads/steady_clock.h"

namespace posenc {
namespace {

// The client's connection preface and an empty SETTINGS frame (RFC 9113, 3.4 and 6.5).
constexpr char kPreface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0";
constexpr size_t kPrefaceBytes = 24 + 9;
static_assert(sizeof(kPreface) == kPrefaceBytes);  // the last byte is the literal's own zero

int ToMilliseconds(absl::Duration wait) {
  return static_cast<int>(absl::ToInt64Milliseconds(std::clamp(wait, absl::ZeroDuration(), absl::Hours(1)))) + 1;
}

enum class Waited { kReady, kLate, kInterrupted };

Waited WaitFor(int descriptor, short events, absl::Time deadline, int wake) {
  for (;;) {
    const absl::Duration left = deadline - SteadyNow();
    if (left <= absl::ZeroDuration()) return Waited::kLate;
    pollfd waited[] = {{wake, POLLIN, 0}, {descriptor, events, 0}};
    if (poll(waited, 2, ToMilliseconds(left)) <= 0) continue;
    return waited[0].revents != 0 ? Waited::kInterrupted : Waited::kReady;
  }
}

}  // namespace

ProbeTarget::ProbeTarget(std::string name, int listener) : name_(std::move(name)) {
  getsockname(listener, reinterpret_cast<sockaddr*>(&address_), &size_);
}

ProbeTarget::Answer ProbeTarget::Ask(absl::Duration limit, int wake) const {
  const absl::Time deadline = SteadyNow() + limit;
  const Descriptor connection(socket(address_.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!connection.open()) return Answer::kUnknown;
  const auto silent_or = [](Waited waited) {
    return waited == Waited::kInterrupted ? Answer::kInterrupted : Answer::kSilent;
  };
  // The address of any interface, 0.0.0.0 or ::, leads to this host.
  if (connect(connection.get(), reinterpret_cast<const sockaddr*>(&address_), size_) != 0) {
    // A Unix socket whose backlog is full says EAGAIN, and nobody takes anything from it.
    if (errno != EINPROGRESS) return Answer::kSilent;
    const Waited connected = WaitFor(connection.get(), POLLOUT, deadline, wake);
    if (connected != Waited::kReady) return silent_or(connected);
  }
  send(connection.get(), kPreface, kPrefaceBytes, MSG_NOSIGNAL);
  const Waited answered = WaitFor(connection.get(), POLLIN, deadline, wake);
  return answered == Waited::kReady ? Answer::kAnswers : silent_or(answered);
}

ListenerProbe::ListenerProbe(std::vector<ProbeTarget> targets, ProbeOptions options)
    : targets_(std::move(targets)),
      options_(std::move(options)),
      wake_(eventfd(0, EFD_CLOEXEC)),
      thread_([this] { Run(); }) {}

ListenerProbe::~ListenerProbe() {
  eventfd_write(wake_.get(), 1);
  thread_.join();
}

void ListenerProbe::Run() {
  std::vector<int> failures(targets_.size(), 0);
  // Nobody listens to -1: what is waited for is the end, or the next round.
  while (WaitFor(-1, 0, SteadyNow() + options_.interval, wake_.get()) == Waited::kLate) {
    std::string deaf;
    for (size_t i = 0; i < targets_.size(); ++i) {
      const ProbeTarget::Answer answer = targets_[i].Ask(options_.limit, wake_.get());
      if (answer == ProbeTarget::Answer::kInterrupted) return;
      if (answer == ProbeTarget::Answer::kAnswers) failures[i] = 0;
      if (answer == ProbeTarget::Answer::kSilent) ++failures[i];
      if (failures[i] >= options_.failures) deaf = targets_[i].name();
    }
    if (options_.report) options_.report(deaf);
  }
}

}  // namespace posenc
