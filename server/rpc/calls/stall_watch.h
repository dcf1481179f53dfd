// Cuts off RPCs whose client takes nothing of what the transport was given for too long, so that stalled
// readers cannot hold the budget.
//
// Progress: gRPC tells only when an operation is over: a message of a stream once flow control and the
//           socket have taken it, a unary answer once all of it is taken (OnDone waits for that). So a
//           unary answer has the time for its whole, a stream for each message.
// Pressure: while somebody waits for memory, those are cut off too who have not taken their message in
//           kPressureStall and a second more for each MiB of it: the stalest first, and no more than are needed.
// Time:     one alarm for all RPCs of a service, set while something is in flight and for the oldest of
//           it: a call costs two steps of a list, no timer of its own. The steady clock counts: a step of the
//           wall clock cuts nobody off. gRPC's own timers would do, but the last of them to go joins gRPC's
//           threads, which takes up to ten seconds of a shutdown.
// Threads:  any method, any thread. Under the watch's mutex nothing is called but the alarm's WakeBy and
//           TryCancel, and gRPC runs reactions on its own threads only, never inside a call of ours.
// Lifetime: a guard holds the watch; the RPC must be alive whenever its guard is between Begin and End.

#ifndef POSENC_SERVER_RPC_CALLS_STALL_WATCH_H_
#define POSENC_SERVER_RPC_CALLS_STALL_WATCH_H_

#include <grpcpp/server_context.h>

#include <chrono>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>

#include "absl/time/time.h"
#include "server/tables/threads/alarm.h"

namespace posenc {

class StallWatch {
 public:
  // InfiniteDuration cuts nobody off.
  explicit StallWatch(absl::Duration timeout);

  absl::Duration timeout() const { return timeout_; }

  static constexpr std::chrono::seconds kPressureStall{1};

  // Cuts off stalled RPCs until what they hold together comes to `bytes`. Each is taken to hold what it was
  // given last, and at least `least_bytes`.
  void CutOffStalest(size_t bytes, size_t least_bytes);

 private:
  friend class StallGuard;

  using Clock = std::chrono::steady_clock;

  struct Place {
    grpc::CallbackServerContext* rpc = nullptr;
    Clock::time_point begun;
    size_t bytes = 0;       // of the message in flight
    absl::Time deadline;    // steady
    bool waiting = false;  // the place is in waiting_
    bool stalled = false;
  };

  // Below: mutex_ is held, but for OnAlarm.
  void SetAlarm(absl::Time deadline);
  void OnAlarm();
  void CutOffExpired(absl::Time now);
  void CutOff(std::list<Place>::iterator place);

  const absl::Duration timeout_;
  std::mutex mutex_;
  // Guarded by mutex_:
  std::list<Place> waiting_;  // all have the same timeout, so the oldest is the first to expire
  std::list<Place> cut_off_;
  bool alarm_set_ = false;

  std::unique_ptr<Alarm> alarm_;  // last: it calls back until it is gone; null when nobody is cut off
};

// One RPC under the watch.
class StallGuard {
 public:
  StallGuard(std::shared_ptr<StallWatch> watch, grpc::CallbackServerContext* rpc);

  // The transport is about to be given something, with so many bytes of data; from now on it has the watch's
  // timeout to take it.
  void Begin(size_t data_bytes = 0);
  // It has taken it, or the RPC is over. The RPC is not touched after this.
  void End();

  // True once the RPC was cut off.
  bool stalled() const;

 private:
  // Below: the watch's mutex is held.
  void Leave();

  const std::shared_ptr<StallWatch> watch_;
  std::list<StallWatch::Place> own_;  // the place while it is in no list of the watch
  const std::list<StallWatch::Place>::iterator place_;
};

}  // namespace posenc

#endif  // POSENC_SERVER_RPC_CALLS_STALL_WATCH_H_
