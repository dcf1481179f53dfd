#include "server/app/lifecycle/stop_request.h"

namespace posenc {

void StopRequest::Request(std::string reason) {
  absl::MutexLock lock(&mutex_);
  if (requested_) return;
  requested_ = true;
  reason_ = std::move(reason);
  for (const auto& [hook, action] : hooks_) action();
}

bool StopRequest::requested() const {
  absl::MutexLock lock(&mutex_);
  return requested_;
}

std::string StopRequest::reason() const {
  absl::MutexLock lock(&mutex_);
  return reason_;
}

void StopRequest::Wait() const {
  absl::MutexLock lock(&mutex_);
  mutex_.Await(absl::Condition(&requested_));
}

StopHook::StopHook(StopRequest& stop, std::function<void()> action) : stop_(stop) {
  absl::MutexLock lock(&stop_.mutex_);
  if (stop_.requested_) action();
  stop_.hooks_.emplace(this, std::move(action));
}

StopHook::~StopHook() {
  absl::MutexLock lock(&stop_.mutex_);
  stop_.hooks_.erase(this);
}

}  // namespace posenc
