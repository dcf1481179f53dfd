#include "server/app/lifecycle/signals.h"

#include <pthread.h>
#include <signal.h>

#include <cstdlib>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace posenc {
namespace {

// Makes the waiting thread look whether it shall end. Anybody may send it, so it says nothing by itself.
constexpr int kWakeUp = SIGUSR2;

sigset_t StopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (int signal : {SIGTERM, SIGINT, kWakeUp}) sigaddset(&signals, signal);
  return signals;
}

const char* NameOf(int signal) { return signal == SIGTERM ? "SIGTERM" : "SIGINT"; }

// One wish to stop may come as two signals at almost the same time: timeout(1) and some wrappers send one to
// the process and one to its group.
constexpr absl::Duration kSameWish = absl::Milliseconds(100);

void WaitForSignals(const std::atomic<bool>& ended, StopRequest& stop, Logger& log) {
  const sigset_t signals = StopSignals();
  absl::Time first = absl::InfiniteFuture();
  for (;;) {
    int signal = 0;
    if (sigwait(&signals, &signal) != 0 || ended) return;
    if (signal == kWakeUp) continue;
    if (absl::Now() > first + kSameWish) {
      log.Error("second signal: exiting at once", {{"signal", NameOf(signal)}});
      std::_Exit(128 + signal);
    }
    if (first == absl::InfiniteFuture()) first = absl::Now();
    stop.Request(NameOf(signal));
  }
}

}  // namespace

void BlockStopSignals() {
  const sigset_t signals = StopSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

SignalWaiter::SignalWaiter(StopRequest& stop, Logger& log)
    : thread_([this, &stop, &log] { WaitForSignals(ended_, stop, log); }) {}

SignalWaiter::~SignalWaiter() {
  ended_ = true;
  pthread_kill(thread_.native_handle(), kWakeUp);
  thread_.join();
}

}  // namespace posenc
