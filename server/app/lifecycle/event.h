// Something that happens once, and waits for it whose time limits no step of the wall clock moves.
//
// Threads: any method, any thread.

#ifndef POSENC_SERVER_APP_LIFECYCLE_EVENT_H_
#define POSENC_SERVER_APP_LIFECYCLE_EVENT_H_

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "absl/time/time.h"

namespace posenc {

class Event {
 public:
  void Happen() {
    const std::lock_guard lock(mutex_);
    happened_ = true;
    changed_.notify_all();
  }

  // Returns whether it has happened, after at most `limit` (no more than a day).
  bool WaitFor(absl::Duration limit) {
    std::unique_lock lock(mutex_);
    const auto wait = absl::ToChronoNanoseconds(std::min(limit, absl::Hours(24)));
    return changed_.wait_for(lock, wait, [this] { return happened_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool happened_ = false;  // guarded by mutex_
};

}  // namespace posenc

#endif  // POSENC_SERVER_APP_LIFECYCLE_EVENT_H_
