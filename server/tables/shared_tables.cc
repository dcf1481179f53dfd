#include "server/tables/shared_tables.h"

#include <openssl/rand.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "server/tables/threads/steady_clock.h"

namespace posenc {
namespace {

absl::StatusOr<std::string> RandomToken() {
  std::string bytes(32, '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(bytes.size())) != 1) {
    return absl::InternalError("the system has no random numbers for a token");
  }
  return absl::BytesToHexString(bytes);
}

}  // namespace

SharedTables::SharedTables(TableStore& store)
    : store_(store), observation_(store.WhileSomebodyWaits([this](size_t) {
        // A token expires kTokenLifetime after it was made.
        DropExpired(SteadyNow() + kTokenLifetime - kLifetimeUnderPressure);
      })) {}

std::shared_ptr<FetchTicket> SharedTables::Offer(const PeerId& peer, const TablePtr& table, absl::Time deadline,
                                                 Callback done) {
  const TablePtr shared = Table::Shared(table);
  return store_.Fetch(peer, shared, 0, 0, deadline,
                      [this, peer, done = std::move(done)](absl::StatusOr<std::vector<BlockPtr>> blocks) {
                        if (!blocks.ok()) return done(blocks.status());
                        done(Register(peer, std::move(blocks->front()), SteadyNow()));
                      });
}

absl::StatusOr<SharedTables::SharedTable> SharedTables::Register(const PeerId& peer, BlockPtr block,
                                                                 absl::Time now) {
  DropExpired(now);
  absl::StatusOr<std::string> token = RandomToken();
  if (!token.ok()) return token.status();
  BlockPtr dropped;  // let go of without the lock, as in DropExpired
  MutexLock lock(&mutex_);
  if (waiting_.size() >= kMaxTokens) {
    return absl::ResourceExhaustedError(
        absl::StrCat(kMaxTokens, " shared tables wait for their clients already: try again in ",
                     absl::FormatDuration(kTokenLifetime)));
  }
  waiting_[*token] = {peer, block, now + kTokenLifetime};
  dropped = DropOldestBeyondLimit(peer);
  return SharedTable{*std::move(token), std::move(block)};
}

// Returns the block of the token that went, if one had to.
BlockPtr SharedTables::DropOldestBeyondLimit(const PeerId& peer) {
  size_t count = 0;
  auto oldest = waiting_.end();
  for (auto it = waiting_.begin(); it != waiting_.end(); ++it) {
    if (!(it->second.peer == peer)) continue;
    ++count;
    if (oldest == waiting_.end() || it->second.expires < oldest->second.expires) oldest = it;
  }
  if (count <= kMaxTokensOfPeer) return nullptr;
  BlockPtr block = std::move(oldest->second.block);
  waiting_.erase(oldest);
  return block;
}

BlockPtr SharedTables::Redeem(const std::string& token, absl::Time now) {
  MutexLock lock(&mutex_);
  const auto found = waiting_.find(token);
  if (found == waiting_.end() || found->second.expires <= now) return nullptr;
  BlockPtr block = std::move(found->second.block);
  waiting_.erase(found);
  return block;
}

absl::Time SharedTables::DropExpired(absl::Time now) {
  std::vector<BlockPtr> dropped;  // let go of without the lock: the store may free memory
  absl::Time next = absl::InfiniteFuture();
  MutexLock lock(&mutex_);
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    if (it->second.expires <= now) {
      dropped.push_back(std::move(it->second.block));
      waiting_.erase(it++);
    } else {
      next = std::min(next, it->second.expires);
      ++it;
    }
  }
  return next;
}

}  // namespace posenc
