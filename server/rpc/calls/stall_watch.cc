#include "server/rpc/calls/stall_watch.h"

#include <utility>

#include "server/tables/threads/steady_clock.h"

namespace posenc {

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
  while (!waiting_.empty() && waiting_.front().deadline <= now) {
    Place& place = waiting_.front();
    cut_off_.splice(cut_off_.end(), waiting_, waiting_.begin());
    place.waiting = false;
    place.stalled = true;
    place.rpc->TryCancel();
  }
}

StallGuard::StallGuard(std::shared_ptr<StallWatch> watch, grpc::CallbackServerContext* rpc)
    : watch_(std::move(watch)), own_(1), place_(own_.begin()) {
  place_->rpc = rpc;
}

void StallGuard::Begin() {
  if (watch_->timeout() == absl::InfiniteDuration()) return;
  const std::lock_guard lock(watch_->mutex_);
  if (place_->stalled) return;  // it is cut off already
  Leave();
  place_->deadline = SteadyNow() + watch_->timeout();
  place_->waiting = true;
  watch_->waiting_.splice(watch_->waiting_.end(), own_);
  watch_->SetAlarm(watch_->waiting_.front().deadline);
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
