#include "server/app/exit_guard.h"

#include <cstdlib>

namespace posenc {

ExitGuard::ExitGuard(absl::Duration timeout, Logger& log)
    : thread_([this, timeout, &log] {
        if (called_off_.WaitForNotificationWithTimeout(timeout)) return;
        log.Error("calls did not end when they were cancelled: exiting without them");
        std::_Exit(1);
      }) {}

ExitGuard::~ExitGuard() {
  called_off_.Notify();
  thread_.join();
}

}  // namespace posenc
