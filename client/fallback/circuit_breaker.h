// Remembers whether a service could be reached, and decides when it is asked again.
//
// States: unknown (a new one; the first call probes), in use, and out of use until a point in time, from
//         which on somebody probes beside the calls, all of which still do without.
// Threads: any method, any thread.

#ifndef POSENC_CLIENT_FALLBACK_CIRCUIT_BREAKER_H_
#define POSENC_CLIENT_FALLBACK_CIRCUIT_BREAKER_H_

#include <cstdint>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/remote/retry.h"
#include "posenc/fallback.h"

namespace posenc {

class CircuitBreaker {
 public:
  CircuitBreaker(const FallbackOptions& options, RetryEnvironment environment);

  // kProbe and kProbeBeside are followed by Reached or ProbeFailed: of the same caller, who waits for it, or of
  // a thread that this caller, who does without, begins.
  enum class Way : uint8_t { kService, kProbe, kProbeBeside, kWithout };
  Way Next();

  // The service has answered.
  void Reached();
  // A call, or a probe, could not reach it.
  void Failed(const absl::Status& reason);
  void ProbeFailed(const absl::Status& reason);

  // Fills in the fields about outages.
  void AddTo(FallbackStats& stats) const;

 private:
  enum class State : uint8_t { kUnknown, kInUse, kOutOfUse };

  // Both with the lock.
  void BeginOutage(const absl::Status& reason);
  void Pause();

  const FallbackOptions options_;
  const RetryEnvironment environment_;
  mutable std::mutex mutex_;
  // All below guarded by mutex_.
  State state_ = State::kUnknown;
  bool probing_ = false;
  absl::Duration pause_;      // of the present outage
  absl::Time next_probe_ = absl::InfinitePast();
  uint64_t outages_ = 0;
  std::string last_reason_;
  absl::Time last_outage_ = absl::InfinitePast();
};

}  // namespace posenc

#endif  // POSENC_CLIENT_FALLBACK_CIRCUIT_BREAKER_H_
