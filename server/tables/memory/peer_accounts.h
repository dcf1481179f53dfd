// What each peer holds of the budget because it asked for it, in bytes.
//
// Counted:     blocks from their admission until the lease is let go (for every peer that holds one, in full:
//              whoever keeps a block keeps its memory), and buffers. So answers in flight and shared tables whose
//              token nobody has presented count. Blocks that were resident when they were asked for do not: that
//              way takes no account, and whoever needs memory is never on it.
// Share:       the budget divided by the peers that hold something or wait. It bounds nobody as long as nobody
//              waits; it decides whose turn it is then, see AdmissionQueue.
// Threads:     accounts and charges any; PeerAccounts has none of its own, the store's lock guards it.

#ifndef POSENC_SERVER_TABLES_MEMORY_PEER_ACCOUNTS_H_
#define POSENC_SERVER_TABLES_MEMORY_PEER_ACCOUNTS_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "server/tables/memory/peer.h"

namespace posenc {

// One peer, for as long as it holds something or waits.
struct PeerAccount {
  explicit PeerAccount(std::shared_ptr<std::atomic<int64_t>> live) : live(std::move(live)) { ++*this->live; }
  ~PeerAccount() { --*live; }
  PeerAccount(const PeerAccount&) = delete;
  PeerAccount& operator=(const PeerAccount&) = delete;

  std::atomic<size_t> held_bytes{0};
  // Guarded by the store's lock:
  size_t waiting_bytes = 0;  // what its requests in line need
  absl::Time last_turn = absl::InfinitePast();  // of its requests in line

  const std::shared_ptr<std::atomic<int64_t>> live;  // how many accounts there are
};

// Bytes on a peer's account, until this is destroyed.
class PeerCharge {
 public:
  PeerCharge() = default;
  PeerCharge(std::shared_ptr<PeerAccount> account, size_t bytes) : account_(std::move(account)), bytes_(bytes) {
    if (account_) account_->held_bytes += bytes_;
  }
  PeerCharge(PeerCharge&& other) noexcept
      : account_(std::move(other.account_)), bytes_(std::exchange(other.bytes_, 0)) {}
  PeerCharge& operator=(PeerCharge&& other) noexcept {
    std::swap(account_, other.account_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~PeerCharge() {
    if (account_) account_->held_bytes -= bytes_;
  }

 private:
  std::shared_ptr<PeerAccount> account_;
  size_t bytes_ = 0;
};

class PeerAccounts {
 public:
  std::shared_ptr<PeerAccount> Of(const PeerId& peer) {
    if (accounts_.size() > 2 * static_cast<size_t>(*live_) + kMinSweep) DropDead();
    std::weak_ptr<PeerAccount>& known = accounts_[peer.name()];
    std::shared_ptr<PeerAccount> account = known.lock();
    if (account == nullptr) known = account = std::make_shared<PeerAccount>(live_);
    return account;
  }

  size_t ShareOf(size_t limit_bytes) const {
    return std::max<size_t>(1, limit_bytes / static_cast<size_t>(std::max<int64_t>(1, *live_)));
  }

 private:
  static constexpr size_t kMinSweep = 64;

  void DropDead() {
    absl::erase_if(accounts_, [](const auto& entry) { return entry.second.expired(); });
  }

  const std::shared_ptr<std::atomic<int64_t>> live_ = std::make_shared<std::atomic<int64_t>>(0);
  absl::flat_hash_map<std::string, std::weak_ptr<PeerAccount>> accounts_;
};

}  // namespace posenc

#endif  // POSENC_SERVER_TABLES_MEMORY_PEER_ACCOUNTS_H_
