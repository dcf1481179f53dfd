#include "server/app/signals.h"

#include <pthread.h>
#include <signal.h>

#include <cstdlib>

namespace posenc {
namespace {

// Ends the waiting thread; no one else sends it.
constexpr int kWakeUp = SIGUSR2;

sigset_t StopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (int signal : {SIGTERM, SIGINT, kWakeUp}) sigaddset(&signals, signal);
  return signals;
}

const char* NameOf(int signal) { return signal == SIGTERM ? "SIGTERM" : "SIGINT"; }

void WaitForSignals(StopRequest& stop, Logger& log) {
  const sigset_t signals = StopSignals();
  for (bool again = false;; again = true) {
    int signal = 0;
    if (sigwait(&signals, &signal) != 0 || signal == kWakeUp) return;
    if (again) {
      log.Error("second signal: exiting at once", {{"signal", NameOf(signal)}});
      std::_Exit(128 + signal);
    }
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
    : thread_([&stop, &log] { WaitForSignals(stop, log); }) {}

SignalWaiter::~SignalWaiter() {
  pthread_kill(thread_.native_handle(), kWakeUp);
  thread_.join();
}

}  // namespace posenc
