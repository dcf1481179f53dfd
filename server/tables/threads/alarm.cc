#include "server/tables/threads/alarm.h"

#include <utility>

#include "absl/time/clock.h"

namespace posenc {

Alarm::Alarm(std::function<void()> ring) : ring_(std::move(ring)) {
  MutexLock lock(&join_mutex_);
  thread_ = std::jthread([this] { Watch(); });
}

void Alarm::WakeBy(absl::Time time) {
  MutexLock lock(&mutex_);
  if (time >= next_) return;
  next_ = time;
  changed_.Signal();
}

void Alarm::Shutdown() {
  {
    MutexLock lock(&mutex_);
    closing_ = true;
    changed_.Signal();
  }
  MutexLock lock(&join_mutex_);
  if (thread_.joinable()) thread_.join();
}

void Alarm::Watch() {
  for (;;) {
    {
      MutexLock lock(&mutex_);
      while (!closing_ && absl::Now() < next_) WaitUntil(changed_, mutex_, next_);
      if (closing_) return;
      next_ = absl::InfiniteFuture();
    }
    ring_();
  }
}

}  // namespace posenc
