// One thread that calls back when a point in time has come: the deadlines of waiting requests.
//
// Time:    SteadyNow, so that a step of the wall clock neither rings nor silences it.
// Threads: WakeBy from any thread, the call-back too. The call-back must not block.

#ifndef POSENC_SERVER_TABLES_THREADS_ALARM_H_
#define POSENC_SERVER_TABLES_THREADS_ALARM_H_

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "absl/time/time.h"

namespace posenc {

class Alarm {
 public:
  explicit Alarm(std::function<void()> ring);
  ~Alarm() { Shutdown(); }

  // Rings once at the steady time `time`, or earlier if an earlier time was asked for; whoever needs a later
  // one too asks again when it rings.
  void WakeBy(absl::Time time);

  // Joins the thread. Nothing rings afterwards.
  void Shutdown();

 private:
  void Watch();

  const std::function<void()> ring_;
  // Of the standard library: Abseil's waits by the wall clock.
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_:
  absl::Time next_ = absl::InfiniteFuture();
  bool closing_ = false;

  std::mutex join_mutex_;
  std::jthread thread_;  // guarded by join_mutex_
};

}  // namespace posenc

#endif  // POSENC_SERVER_TABLES_THREADS_ALARM_H_
