#include "server/app/lifecycle/signals.h"

#include <pthread.h>
#include <signal.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "server/tables/threads/steady_clock.h"

namespace posenc {
namespace {

// Makes the waiting thread look whether it shall end. Anybody may send it, so it says nothing by itself.
constexpr int kWakeUp = SIGUSR2;

// Those that ask a program to end. SIGUSR1 does not, but ends one that does not say so.
constexpr int kStop[] = {SIGTERM, SIGINT, SIGQUIT, SIGHUP};
constexpr int kIgnored[] = {SIGPIPE, SIGUSR1};

bool IsIgnored(int signal) {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

sigset_t WaitedSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : kStop) {
    // nohup(1) has SIGHUP ignored, and means it.
    if (signal != SIGHUP || !IsIgnored(signal)) sigaddset(&signals, signal);
  }
  sigaddset(&signals, kWakeUp);
  return signals;
}

std::string NameOf(int signal) { return absl::StrCat("SIG", sigabbrev_np(signal)); }

// One wish to stop may come as two signals at almost the same time: timeout(1) and some wrappers send one to
// the process and one to its group.
constexpr absl::Duration kSameWish = absl::Milliseconds(100);

void WaitForSignals(const std::atomic<bool>& ended, StopRequest& stop, Logger& log) {
  const sigset_t signals = WaitedSignals();
  absl::Time first = absl::InfiniteFuture();
  for (;;) {
    int signal = 0;
    if (sigwait(&signals, &signal) != 0 || ended) return;
    if (signal == kWakeUp) continue;
    if (SteadyNow() > first + kSameWish) {
      log.Error("second signal: exiting at once", {{"signal", NameOf(signal)}});
      std::_Exit(128 + signal);
    }
    if (first == absl::InfiniteFuture()) first = SteadyNow();
    stop.Request(NameOf(signal));
  }
}

}  // namespace

void BlockStopSignals() {
  const sigset_t signals = WaitedSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  for (const int ignored : kIgnored) signal(ignored, SIG_IGN);
}

SignalWaiter::SignalWaiter(StopRequest& stop, Logger& log)
    : thread_([this, &stop, &log] { WaitForSignals(ended_, stop, log); }) {}

SignalWaiter::~SignalWaiter() {
  ended_ = true;
  pthread_kill(thread_.native_handle(), kWakeUp);
  thread_.join();
}

}  // namespace posenc
