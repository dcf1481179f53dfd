#include "client/src/retry.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace posenc {
namespace {

constexpr absl::string_view kDelayUrl = "posenc/retry-delay-nanoseconds";

double Random() {
  thread_local std::minstd_rand engine{std::random_device{}()};
  return std::uniform_real_distribution<double>(0.0, 1.0)(engine);
}

}  // namespace

RetryEnvironment SystemEnvironment() { return {absl::Now, absl::SleepFor, Random}; }

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

void SetRetryDelay(absl::Duration delay, absl::Status& status) {
  status.SetPayload(kDelayUrl, absl::Cord(absl::StrCat(absl::ToInt64Nanoseconds(delay))));
}

std::optional<absl::Duration> RetryDelayOf(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kDelayUrl);
  int64_t nanoseconds = 0;
  if (!payload || !absl::SimpleAtoi(std::string(*payload), &nanoseconds)) return std::nullopt;
  return absl::Nanoseconds(std::max<int64_t>(nanoseconds, 0));
}

bool IsTransient(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDataLoss:
      return true;
    case absl::StatusCode::kResourceExhausted:
      return RetryDelayOf(status).has_value();
    case absl::StatusCode::kInternal:
      // A connection that dies while a stream runs is reported so by gRPC itself.
      return absl::StrContains(status.message(), "RST_STREAM");
    default:
      return false;
  }
}

absl::Duration RetryLoop::NextDelay(const absl::Status& status) {
  const absl::Duration ceiling =
      std::min(options_.initial_delay * std::exp2(std::min(failures_ - 1, 30)), options_.max_delay);
  const absl::Duration jittered = ceiling * environment_.random();
  return std::max(jittered, RetryDelayOf(status).value_or(absl::ZeroDuration()));
}

bool RetryLoop::WaitToRetry(const absl::Status& status) {
  ++failures_;
  if (!IsTransient(status) || failures_ >= options_.max_attempts) return false;
  const absl::Duration delay = NextDelay(status);
  if (environment_.now() + delay >= deadline_) return false;
  if (!budget_.TakeForRetry()) return false;
  environment_.sleep(delay);
  ++attempts_;
  return true;
}

}  // namespace posenc
