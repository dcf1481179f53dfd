// Tables for processes on the same host: each is one block of sealed memory, handed out against a token.
//
// Offer makes the table's shared form resident (Table::Shared) and returns a token for it; whoever presents
// the token, once and in time, takes the lease on the block. So the memory is charged to the budget and
// evicted like any other, and what a process has mapped stays charged as long as its lease is held.
//
// Tokens are 256 random bits, valid once and for a limited time. What waits for its client is held for the peer
// that asked, and counts as its own: each peer has a few tokens at a time, the next one takes the place of its
// oldest, and while somebody waits for memory, tokens that were not presented within a second are dropped.
// Threads: any method, any thread.

#ifndef POSENC_SERVER_TABLES_SHARED_TABLES_H_
#define POSENC_SERVER_TABLES_SHARED_TABLES_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/tables/store/table_store.h"
#include "server/tables/threads/mutex.h"

namespace posenc {

class SharedTables {
 public:
  // Tokens that nobody has presented yet, and how long one may wait: a client presents it at once.
  static constexpr size_t kMaxTokens = 1024;
  static constexpr size_t kMaxTokensOfPeer = 8;
  static constexpr absl::Duration kTokenLifetime = absl::Seconds(10);
  static constexpr absl::Duration kLifetimeUnderPressure = absl::Seconds(1);

  // The store must outlive this object.
  explicit SharedTables(TableStore& store);

  struct SharedTable {
    std::string token;  // 64 hex digits
    BlockPtr block;     // all rows; memory_fd() is its memory
  };
  using Callback = std::function<void(absl::StatusOr<SharedTable>)>;

  // Makes the shared form of `table` resident and offers it to `peer`. `deadline` bounds the wait for memory.
  // Errors: as TableStore::Fetch; ResourceExhausted when kMaxTokens tokens are waiting.
  std::shared_ptr<FetchTicket> Offer(const PeerId& peer, const TablePtr& table, absl::Time deadline,
                                     Callback done);

  // Takes the lease that a token stands for; null for a token that is unknown, used or too old.
  BlockPtr Redeem(const std::string& token, absl::Time now);

  // Drops tokens that are too old; returns when the next one will be, or InfiniteFuture.
  absl::Time DropExpired(absl::Time now);

 private:
  struct Waiting {
    PeerId peer;
    BlockPtr block;
    absl::Time expires;
  };
  using Tokens = absl::flat_hash_map<std::string, Waiting>;

  absl::StatusOr<SharedTable> Register(const PeerId& peer, BlockPtr block, absl::Time now);
  BlockPtr DropOldestBeyondLimit(const PeerId& peer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  TableStore& store_;
  absl::Mutex mutex_;
  Tokens waiting_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<void> observation_;  // last: it may call back until it is gone
};

}  // namespace posenc

#endif  // POSENC_SERVER_TABLES_SHARED_TABLES_H_
