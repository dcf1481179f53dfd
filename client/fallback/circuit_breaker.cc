#include "client/fallback/circuit_breaker.h"

#include <algorithm>
#include <utility>

namespace posenc {

CircuitBreaker::CircuitBreaker(const FallbackOptions& options, RetryEnvironment environment)
    : options_(options), environment_(std::move(environment)), pause_(options.initial_pause) {}

CircuitBreaker::Way CircuitBreaker::Next() {
  const std::lock_guard lock(mutex_);
  if (state_ == State::kInUse) return Way::kService;
  if (probing_ || environment_.now() < next_probe_) return Way::kWithout;
  probing_ = true;
  return state_ == State::kUnknown ? Way::kProbe : Way::kProbeBeside;
}

void CircuitBreaker::Reached() {
  const std::lock_guard lock(mutex_);
  state_ = State::kInUse;
  probing_ = false;
}

void CircuitBreaker::Failed(const absl::Status& reason) {
  const std::lock_guard lock(mutex_);
  // Of many calls that fail together the first one counts.
  if (state_ != State::kOutOfUse) BeginOutage(reason);
}

void CircuitBreaker::ProbeFailed(const absl::Status& reason) {
  const std::lock_guard lock(mutex_);
  probing_ = false;
  if (state_ != State::kOutOfUse) return BeginOutage(reason);
  pause_ = std::min(2 * pause_, options_.max_pause);
  Pause();
}

void CircuitBreaker::BeginOutage(const absl::Status& reason) {
  state_ = State::kOutOfUse;
  ++outages_;
  last_reason_ = reason.ToString();
  last_outage_ = environment_.now();
  pause_ = options_.initial_pause;
  Pause();
}

void CircuitBreaker::Pause() {
  // Not at the same moment in all clients of one service.
  next_probe_ = environment_.now() + pause_ * (0.5 + 0.5 * environment_.random());
}

void CircuitBreaker::AddTo(FallbackStats& stats) const {
  const std::lock_guard lock(mutex_);
  stats.service_in_use = state_ == State::kInUse;
  stats.outages = outages_;
  stats.last_reason = last_reason_;
  stats.last_outage = last_outage_;
}

}  // namespace posenc
