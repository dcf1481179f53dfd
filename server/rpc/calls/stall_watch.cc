#include "server/rpc/calls/stall_watch.h"

#include <utility>

#include "absl/time/clock.h"
#include "server/rpc/calls/exceptions.h"

namespace posenc {

void StallWatch::SetAlarm(absl::Time deadline) {
  if (alarm_set_) return;
  const auto ignore = [](const absl::Status&) {};  // no memory for a timer: the next Begin tries again
  CatchExceptions(
      [&] {
        alarm_ = std::make_unique<grpc::Alarm>();
        alarm_->Set(absl::ToChronoTime(deadline), [weak = weak_from_this()](bool expired) {
          const std::shared_ptr<StallWatch> self = weak.lock();
          if (expired && self != nullptr) self->OnAlarm();
        });
        alarm_set_ = true;
      },
      ignore);
}

void StallWatch::OnAlarm() {
  const std::lock_guard lock(mutex_);
  alarm_set_ = false;
  CutOffExpired(absl::Now());
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
  place_->deadline = absl::Now() + watch_->timeout();
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
