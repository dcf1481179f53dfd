#include "server/app/lifecycle/exit_guard.h"

#include <cstdlib>
#include <utility>

namespace posenc {

ExitGuard::ExitGuard(absl::Duration timeout, int code, std::function<void()> last_words)
    : thread_([this, timeout, code, last_words = std::move(last_words)] {
        if (called_off_.WaitFor(timeout)) return;
        last_words();
        std::_Exit(code);
      }) {}

ExitGuard::~ExitGuard() {
  called_off_.Happen();
  thread_.join();
}

}  // namespace posenc
