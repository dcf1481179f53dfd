// Decides whether a failed attempt is repeated, and when.
//
// Time and chance are parameters (RetryEnvironment), so that tests know every delay exactly.
//
// Threads: RetryBudget from any thread; a RetryLoop belongs to one call.

#ifndef POSENC_CLIENT_REMOTE_RETRY_H_
#define POSENC_CLIENT_REMOTE_RETRY_H_

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "posenc/connect.h"

namespace posenc {

struct RetryEnvironment {
  std::function<absl::Time()> now;
  std::function<void(absl::Duration)> sleep;
  std::function<double()> random;  // in [0, 1)
};

// The real clock, sleep and random numbers.
RetryEnvironment SystemEnvironment();

// Sleeps; false, at once, when a stop was requested.
bool SleepUnlessStopped(absl::Duration time, const std::stop_token& stop);

// Tokens that all calls of a connection share; see RetryOptions.
class RetryBudget {
 public:
  explicit RetryBudget(double tokens) : limit_(tokens), tokens_(tokens) {}

  // Takes a token; false when there is none.
  bool TakeForRetry();
  void GiveForSuccess();

 private:
  const double limit_;
  std::mutex mutex_;
  double tokens_;  // guarded by mutex_
};

// Whether an attempt that ended so may be repeated.
bool IsTransient(const absl::Status& status);

// Returns the end of an attempt; a CANCELLED that `stop` did not ask for as Unavailable. A server that goes
// away, or a proxy before it, cancels what is under way.
absl::Status UnaskedCancelAsUnavailable(absl::Status status, const std::stop_token& stop);

// Counts the attempts of one call.
//
//   RetryLoop loop(options, environment, budget, deadline);
//   do { status = Attempt(); } while (!status.ok() && loop.WaitToRetry(status));
class RetryLoop {
 public:
  RetryLoop(const RetryOptions& options, const RetryEnvironment& environment, RetryBudget& budget,
            absl::Time deadline)
      : options_(options), environment_(environment), budget_(budget), deadline_(deadline) {}

  // Returns the delay before the next attempt, which counts as made from now on. Nothing when there is to be
  // none: the error is permanent, attempts or tokens are used up, or the delay would outlast the deadline.
  std::optional<absl::Duration> DelayOfRetry(const absl::Status& status);

  // Sleeps that long before the next attempt and returns true; or false, at once, when there is to be none.
  bool WaitToRetry(const absl::Status& status);

  // The attempt made progress: failures from now on count as the first ones.
  void Progressed() { failures_ = 0; }

  // There is to be no further attempt.
  void GiveUp() { failures_ = options_.max_attempts; }

  int attempts() const { return attempts_; }

 private:
  absl::Duration NextDelay() const;

  const RetryOptions& options_;
  const RetryEnvironment& environment_;
  RetryBudget& budget_;
  const absl::Time deadline_;
  int attempts_ = 1;
  int failures_ = 0;  // since the last progress
};

}  // namespace posenc

#endif  // POSENC_CLIENT_REMOTE_RETRY_H_
