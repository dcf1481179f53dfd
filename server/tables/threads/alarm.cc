#include "server/tables/threads/alarm.h"

#include <algorithm>
#include <utility>

#include "server/tables/threads/steady_clock.h"

namespace posenc {
namespace {

// Longer waits are made of several: a time that is far away does not fit into nanoseconds.
constexpr absl::Duration kLongestWait = absl::Hours(1);

}  // namespace

Alarm::Alarm(std::function<void()> ring) : ring_(std::move(ring)) {
  const std::lock_guard lock(join_mutex_);
  thread_ = std::jthread([this] { Watch(); });
}

void Alarm::WakeBy(absl::Time time) {
  const std::lock_guard lock(mutex_);
  if (time >= next_) return;
  next_ = time;
  changed_.notify_one();
}

void Alarm::Shutdown() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    changed_.notify_one();
  }
  const std::lock_guard lock(join_mutex_);
  if (thread_.joinable()) thread_.join();
}

void Alarm::Watch() {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      for (;;) {
        if (closing_) return;
        const absl::Duration left = next_ - SteadyNow();
        if (left <= absl::ZeroDuration()) break;
        // wait_for waits by CLOCK_MONOTONIC.
        changed_.wait_for(lock, absl::ToChronoNanoseconds(std::min(left, kLongestWait)));
      }
      next_ = absl::InfiniteFuture();
    }
    ring_();
  }
}

}  // namespace posenc
