#include "server/app/lifecycle/lifecycle.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace posenc {

std::vector<Condition> Lifecycle::conditions() const {
  const int warmed = warmed_;
  const int total = warmed + pending_ + failed_;
  std::string warm_detail = absl::StrCat(warmed, " of ", total, " tables ready");
  if (failed_ > 0) absl::StrAppend(&warm_detail, ", ", failed_.load(), " failed");
  return {{"warm", serving_, warm_detail},
          {"not-draining", !draining_, draining_ ? "draining" : "taking calls"},
          {"listening", !deaf_, deaf_ ? absl::StrCat(deaf_listener(), " does not answer") : "listeners answer"}};
}

void Lifecycle::SetDeafListener(std::string address) {
  absl::MutexLock lock(&mutex_);
  deaf_ = !address.empty();
  deaf_listener_ = std::move(address);
}

std::string Lifecycle::deaf_listener() const {
  absl::MutexLock lock(&mutex_);
  return deaf_listener_;
}

}  // namespace posenc
