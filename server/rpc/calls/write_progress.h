// When the transport last took some of what it was given for one RPC.
//
// Threads: any. Ownership: shared by the RPC's place under the StallWatch and by the pieces in flight, which
// may outlive the RPC.

#ifndef POSENC_SERVER_RPC_CALLS_WRITE_PROGRESS_H_
#define POSENC_SERVER_RPC_CALLS_WRITE_PROGRESS_H_

#include <atomic>
#include <chrono>

namespace posenc {

class WriteProgress {
 public:
  using Clock = std::chrono::steady_clock;

  void Touch() { last_.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed); }
  // The clock's epoch as long as nothing was taken.
  Clock::time_point last() const {
    return Clock::time_point(Clock::duration(last_.load(std::memory_order_relaxed)));
  }

 private:
  std::atomic<Clock::rep> last_{0};
};

}  // namespace posenc

#endif  // POSENC_SERVER_RPC_CALLS_WRITE_PROGRESS_H_
