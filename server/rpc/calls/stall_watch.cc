#include "server/rpc/calls/stall_watch.h"

#include <algorithm>
#include <utility>

#include "server/tables/threads/steady_clock.h"

namespace posenc {
namespace {

// What a slow reader may take for a long message: gRPC does not tell how much of it is gone.
std::chrono::milliseconds TimeFor(size_t bytes) {
  constexpr size_t kBytesPerMillisecond = (size_t{1} << 20) / 1000;
  return std::chrono::milliseconds(bytes / kBytesPerMillisecond);
}

}  // namespace

StallWatch::StallWatch(absl::Duration timeout) : timeout_(timeout) {
  if (timeout_ != absl::InfiniteDuration()) alarm_ = std::make_unique<Alarm>([this] { OnAlarm(); });
}

void StallWatch::SetAlarm(absl::Time deadline) {
  if (alarm_set_) return;
  alarm_->WakeBy(deadline);
  alarm_set_ = true;
}

void StallWatch::OnAlarm() {
  const std::lock_guard lock(mutex_);
  alarm_set_ = false;
  CutOffExpired(SteadyNow());
  if (!waiting_.empty()) SetAlarm(waiting_.front().deadline);
}

void StallWatch::CutOffExpired(absl::Time now) {
  while (!waiting_.empty() && waiting_.front().deadline <= now) CutOff(waiting_.begin());
}

void StallWatch::CutOff(std::list<Place>::iterator place) {
  cut_off_.splice(cut_off_.end(), waiting_, place);
  place->waiting = false;
  place->stalled = true;
  place->rpc->TryCancel();
}

void StallWatch::CutOffStalest(size_t bytes, size_t least_bytes) {
  const std::lock_guard lock(mutex_);
  const Clock::time_point latest = Clock::now() - kPressureStall;
  size_t freed = 0;
  // In the order of their beginnings: the stalest come first.
  for (auto next = waiting_.begin(); next != waiting_.end() && next->begun <= latest && freed < bytes;) {
    const auto place = next++;
    if (place->begun + TimeFor(place->bytes) > latest) continue;
    freed += std::max(place->bytes, least_bytes);
    CutOff(place);
  }
}

StallGuard::StallGuard(std::shared_ptr<StallWatch> watch, grpc::CallbackServerContext* rpc)
    : watch_(std::move(watch)), own_(1), place_(own_.begin()) {
  place_->rpc = rpc;
}

void StallGuard::Begin(size_t data_bytes) {
  const std::lock_guard lock(watch_->mutex_);
  if (place_->stalled) return;  // it is cut off already
  Leave();
  place_->deadline = SteadyNow() + watch_->timeout();
  place_->begun = StallWatch::Clock::now();
  place_->bytes = data_bytes;
  place_->waiting = true;
  watch_->waiting_.splice(watch_->waiting_.end(), own_);
  if (watch_->timeout() != absl::InfiniteDuration()) watch_->SetAlarm(watch_->waiting_.front().deadline);
}

void StallGuard::End() {
  const std::lock_guard lock(watch_->mutex_);
  Leave();
}

bool StallGuard::stalled() const {
  const std::lock_guard lock(watch_->mutex_);
  return place_->stalled;
}

void StallGuard::Leave() {
  if (!own_.empty()) return;
  own_.splice(own_.end(), place_->waiting ? watch_->waiting_ : watch_->cut_off_, place_);
  place_->waiting = false;
}

}  // namespace posenc
