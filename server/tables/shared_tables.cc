#include "server/tables/shared_tables.h"

#include <openssl/rand.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

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

std::shared_ptr<FetchTicket> SharedTables::Offer(const TablePtr& table, absl::Time deadline, Callback done) {
  const TablePtr shared = Table::Shared(table);
  return store_.Fetch(shared, 0, 0, deadline,
                      [this, done = std::move(done)](absl::StatusOr<std::vector<BlockPtr>> blocks) {
                        if (!blocks.ok()) return done(blocks.status());
                        done(Register(std::move(blocks->front()), absl::Now()));
                      });
}

absl::StatusOr<SharedTables::SharedTable> SharedTables::Register(BlockPtr block, absl::Time now) {
  DropExpired(now);
  absl::StatusOr<std::string> token = RandomToken();
  if (!token.ok()) return token.status();
  MutexLock lock(&mutex_);
  if (waiting_.size() >= kMaxTokens) {
    return absl::ResourceExhaustedError(
        absl::StrCat(kMaxTokens, " shared tables wait for their clients already: try again in ",
                     absl::FormatDuration(kTokenLifetime)));
  }
  waiting_[*token] = {block, now + kTokenLifetime};
  return SharedTable{*std::move(token), std::move(block)};
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
