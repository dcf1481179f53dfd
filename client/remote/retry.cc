#include "client/remote/retry.h"

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <random>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace posenc {
namespace {

double Random() {
  thread_local std::minstd_rand engine{std::random_device{}()};
  return std::uniform_real_distribution<double>(0.0, 1.0)(engine);
}

}  // namespace

RetryEnvironment SystemEnvironment() { return {absl::Now, absl::SleepFor, Random}; }

bool SleepUnlessStopped(absl::Duration time, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  return !never.wait_for(lock, stop, absl::ToChronoNanoseconds(time), [&] { return stop.stop_requested(); });
}

bool RetryBudget::TakeForRetry() {
  const std::lock_guard lock(mutex_);
  if (tokens_ < 1) return false;
  tokens_ -= 1;
  return true;
}

void RetryBudget::GiveForSuccess() {
  const std::lock_guard lock(mutex_);
  tokens_ = std::min(limit_, tokens_ + 0.1);
}

bool IsTransient(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDataLoss:
      return true;
    case absl::StatusCode::kInternal:
      // A connection that dies while a stream runs is reported so by gRPC itself.
      return absl::StrContains(status.message(), "RST_STREAM");
    default:
      return false;
  }
}

absl::Status UnaskedCancelAsUnavailable(absl::Status status, const std::stop_token& stop) {
  if (!absl::IsCancelled(status) || stop.stop_requested()) return status;
  return absl::UnavailableError(absl::StrCat("cancelled by the server: ", status.message()));
}

absl::Duration RetryLoop::NextDelay() const {
  const absl::Duration ceiling =
      std::min(options_.initial_delay * std::exp2(std::min(failures_ - 1, 30)), options_.max_delay);
  return ceiling * environment_.random();
}

std::optional<absl::Duration> RetryLoop::DelayOfRetry(const absl::Status& status) {
  ++failures_;
  if (!IsTransient(status) || failures_ >= options_.max_attempts) return std::nullopt;
  const absl::Duration delay = NextDelay();
  if (environment_.now() + delay >= deadline_) return std::nullopt;
  if (!budget_.TakeForRetry()) return std::nullopt;
  ++attempts_;
  return delay;
}

bool RetryLoop::WaitToRetry(const absl::Status& status) {
  const std::optional<absl::Duration> delay = DelayOfRetry(status);
  if (delay) environment_.sleep(*delay);
  return delay.has_value();
}

}  // namespace posenc
