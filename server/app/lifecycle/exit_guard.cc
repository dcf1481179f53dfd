#include "server/app/lifecycle/exit_guard.h"

#include <cstdlib>

namespace posenc {

ExitGuard::ExitGuard(absl::Duration timeout, Logger& log)
    : thread_([this, timeout, &log] {
        if (called_off_.WaitForNotificationWithTimeout(timeout)) return;
        log.Warning("drain has ended, without peers that take nothing any more");
        std::_Exit(0);
      }) {}

ExitGuard::~ExitGuard() {
  called_off_.Notify();
  thread_.join();
}

}  // namespace posenc
