// One thread that calls back when a point in time has come: the deadlines of waiting requests.
//
// Threads: WakeBy from any thread, the call-back too. The call-back must not block.

#ifndef POSENC_SERVER_TABLES_THREADS_ALARM_H_
#define POSENC_SERVER_TABLES_THREADS_ALARM_H_

#include <functional>
#include <thread>

#include "absl/time/time.h"
#include "server/tables/threads/mutex.h"

namespace posenc {

class Alarm {
 public:
  explicit Alarm(std::function<void()> ring);
  ~Alarm() { Shutdown(); }

  // Rings once at `time`, or earlier if an earlier time was asked for; whoever needs a later one too asks
  // again when it rings.
  void WakeBy(absl::Time time);

  // Joins the thread. Nothing rings afterwards.
  void Shutdown();

 private:
  void Watch();

  const std::function<void()> ring_;
  absl::Mutex mutex_;
  absl::CondVar changed_;
  absl::Time next_ ABSL_GUARDED_BY(mutex_) = absl::InfiniteFuture();
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Mutex join_mutex_;
  std::jthread thread_ ABSL_GUARDED_BY(join_mutex_);
};

}  // namespace posenc

#endif  // POSENC_SERVER_TABLES_THREADS_ALARM_H_
