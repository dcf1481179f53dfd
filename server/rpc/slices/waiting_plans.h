// The memory of plans whose answers wait for theirs: a plan of many positions is held while its call waits, beside
// the budget. So much of it is allowed together, and so much for each peer.
//
// Threads: any. Ownership: a Place must not outlive its WaitingPlans.

#ifndef POSENC_SERVER_RPC_SLICES_WAITING_PLANS_H_
#define POSENC_SERVER_RPC_SLICES_WAITING_PLANS_H_

#include <cstddef>
#include <mutex>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "server/tables/memory/peer.h"

namespace posenc {

class WaitingPlans {
 public:
  static constexpr size_t kMaxBytes = size_t{32} << 20;
  static constexpr size_t kMaxBytesOfPeer = size_t{4} << 20;

  // Bytes that are counted until this is destroyed.
  class Place {
   public:
    Place() = default;
    Place(WaitingPlans* plans, std::string peer, size_t bytes)
        : plans_(plans), peer_(std::move(peer)), bytes_(bytes) {}
    Place(Place&& other) noexcept
        : plans_(std::exchange(other.plans_, nullptr)), peer_(std::move(other.peer_)), bytes_(other.bytes_) {}
    Place& operator=(Place&& other) noexcept {
      std::swap(plans_, other.plans_);
      std::swap(peer_, other.peer_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Place() {
      if (plans_ != nullptr) plans_->Leave(peer_, bytes_);
    }
    explicit operator bool() const { return plans_ != nullptr; }

   private:
    WaitingPlans* plans_ = nullptr;
    std::string peer_;
    size_t bytes_ = 0;
  };

  // Returns an empty place when there is no room. Whoever waits with nothing else is always let in.
  Place Enter(const PeerId& peer, size_t bytes) {
    const std::lock_guard lock(mutex_);
    size_t& of_peer = by_peer_[peer.name()];
    if (of_peer > 0 && (of_peer + bytes > kMaxBytesOfPeer || bytes_ + bytes > kMaxBytes)) return {};
    of_peer += bytes;
    bytes_ += bytes;
    return Place(this, peer.name(), bytes);
  }

 private:
  void Leave(const std::string& peer, size_t bytes) {
    const std::lock_guard lock(mutex_);
    bytes_ -= bytes;
    const auto found = by_peer_.find(peer);
    found->second -= bytes;
    if (found->second == 0) by_peer_.erase(found);
  }

  std::mutex mutex_;
  // Guarded by mutex_:
  size_t bytes_ = 0;
  absl::flat_hash_map<std::string, size_t> by_peer_;  // of peers with more than nothing
};

}  // namespace posenc

#endif  // POSENC_SERVER_RPC_SLICES_WAITING_PLANS_H_
