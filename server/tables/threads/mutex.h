// absl::Mutex with its locks made visible to ThreadSanitizer.
//
// The system's Abseil is not built with the sanitizer, which therefore cannot see that its mutex orders
// anything and would report every guarded field. In a sanitizer build these classes tell it; otherwise they
// cost nothing.

#ifndef POSENC_SERVER_TABLES_THREADS_MUTEX_H_
#define POSENC_SERVER_TABLES_THREADS_MUTEX_H_

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define POSENC_THREAD_SANITIZER 1
#endif
#endif
#ifdef __SANITIZE_THREAD__
#define POSENC_THREAD_SANITIZER 1
#endif

#ifdef POSENC_THREAD_SANITIZER
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#endif

namespace posenc {

inline void SeeAcquired([[maybe_unused]] absl::Mutex* mutex) {
#ifdef POSENC_THREAD_SANITIZER
  __tsan_acquire(mutex);
#endif
}

inline void SeeReleased([[maybe_unused]] absl::Mutex* mutex) {
#ifdef POSENC_THREAD_SANITIZER
  __tsan_release(mutex);
#endif
}

class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(absl::Mutex* mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) : mutex_(mutex) {
    mutex_->Lock();
    SeeAcquired(mutex_);
  }
  ~MutexLock() ABSL_UNLOCK_FUNCTION() {
    SeeReleased(mutex_);
    mutex_->Unlock();
  }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  absl::Mutex* mutex_;
};

// Waits on a condition variable until it is signalled or the deadline is there.
inline void WaitUntil(absl::CondVar& changed, absl::Mutex& mutex,
                      absl::Time deadline = absl::InfiniteFuture())
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
  SeeReleased(&mutex);
  changed.WaitWithDeadline(&mutex, deadline);
  SeeAcquired(&mutex);
}

}  // namespace posenc

#endif  // POSENC_SERVER_TABLES_THREADS_MUTEX_H_
