// Says once that the program is to stop: to those who wait for it, and to work that has to be ended.
//
// Threads: any method, any thread, any time.

#ifndef POSENC_SERVER_APP_LIFECYCLE_STOP_REQUEST_H_
#define POSENC_SERVER_APP_LIFECYCLE_STOP_REQUEST_H_

#include <functional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"

namespace posenc {

class StopRequest {
 public:
  // The first request counts; it runs the hooks.
  void Request(std::string reason);

  bool requested() const;
  // The reason of the request; empty before it.
  std::string reason() const;
  // Blocks until the request.
  void Wait() const;

 private:
  friend class StopHook;

  mutable absl::Mutex mutex_;
  bool requested_ ABSL_GUARDED_BY(mutex_) = false;
  std::string reason_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<const void*, std::function<void()>> hooks_ ABSL_GUARDED_BY(mutex_);
};

// Runs `action` at the request, or at once when it has been made, as long as the hook lives. The action
// must neither block nor call the StopRequest.
class StopHook {
 public:
  StopHook(StopRequest& stop, std::function<void()> action);
  ~StopHook();
  StopHook(const StopHook&) = delete;
  StopHook& operator=(const StopHook&) = delete;

 private:
  StopRequest& stop_;
};

}  // namespace posenc

#endif  // POSENC_SERVER_APP_LIFECYCLE_STOP_REQUEST_H_
