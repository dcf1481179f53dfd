#include "server/rpc/requests/spec_memo.h"

#include <utility>

namespace posenc {

KeyedSpecPtr SpecMemo::Find(absl::string_view bytes) {
  const std::lock_guard lock(mutex_);
  const auto found = by_bytes_.find(bytes);
  if (found == by_bytes_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->spec;
}

void SpecMemo::Keep(absl::string_view bytes, KeyedSpecPtr spec) {
  if (bytes.size() > kMaxSpecBytes) return;
  const std::lock_guard lock(mutex_);
  if (by_bytes_.contains(bytes)) return;  // another request was quicker
  entries_.push_front({std::string(bytes), std::move(spec)});
  by_bytes_.emplace(entries_.front().bytes, entries_.begin());
  bytes_ += bytes.size();
  Trim();
}

void SpecMemo::Trim() {
  while (entries_.size() > kMaxSpecs || bytes_ > kMaxBytes) {
    bytes_ -= entries_.back().bytes.size();
    by_bytes_.erase(entries_.back().bytes);
    entries_.pop_back();
  }
}

}  // namespace posenc
