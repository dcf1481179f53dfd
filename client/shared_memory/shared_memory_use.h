// Remembers whether a server's shared memory can be used from here, and when the server is asked again.
//
// What failed once may be a moment's trouble, or a server that was started without: the pause until the next
// question doubles from one failure to the next and begins anew once a table was mapped.
//
// Threads: any method, any thread. Time is a parameter.

#ifndef POSENC_CLIENT_SHARED_MEMORY_SHARED_MEMORY_USE_H_
#define POSENC_CLIENT_SHARED_MEMORY_SHARED_MEMORY_USE_H_

#include <algorithm>
#include <mutex>

#include "absl/time/time.h"

namespace posenc {

class SharedMemoryUse {
 public:
  static constexpr absl::Duration kFirstPause = absl::Seconds(5);
  static constexpr absl::Duration kLongestPause = absl::Minutes(5);

  bool IsToBeAsked(absl::Time now) const {
    const std::lock_guard lock(mutex_);
    return !there_ && now >= next_question_;
  }
  bool is_there() const {
    const std::lock_guard lock(mutex_);
    return there_;
  }

  // The server has a socket that answers here.
  void Found() {
    const std::lock_guard lock(mutex_);
    there_ = true;
  }
  // A table was mapped.
  void Worked() {
    const std::lock_guard lock(mutex_);
    pause_ = kFirstPause;
  }
  // There is no socket, or it did not hand out a table.
  void Failed(absl::Time now) {
    const std::lock_guard lock(mutex_);
    there_ = false;
    next_question_ = now + pause_;
    pause_ = std::min(2 * pause_, kLongestPause);
  }

 private:
  mutable std::mutex mutex_;
  // All below guarded by mutex_.
  bool there_ = false;
  absl::Time next_question_ = absl::InfinitePast();
  absl::Duration pause_ = kFirstPause;
};

}  // namespace posenc

#endif  // POSENC_CLIENT_SHARED_MEMORY_SHARED_MEMORY_USE_H_
