// A block as the store keeps it: its memory, its checksum and who holds it.
//
// Callers never see a CachedBlock's shared_ptr but a lease on it, so that the store learns when the last
// of them lets go and the block may be evicted, or its memory reused.
//
// Threads: contents immutable once generated; `holders` atomic; the rest under the store's lock.

#ifndef POSENC_SERVER_TABLES_MEMORY_CACHED_BLOCK_H_
#define POSENC_SERVER_TABLES_MEMORY_CACHED_BLOCK_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "absl/base/call_once.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "server/tables/memory/block.h"
#include "server/tables/memory/block_memory.h"
#include "server/tables/memory/peer_accounts.h"
#include "server/tables/table.h"

namespace posenc {

struct BlockSlot;

// Returns the bytes of the budget that block `index` takes, alignment between its tensors included;
// kUnboundedBytes for a shared form that no memory could hold.
size_t BlockCharge(const Table& table, int64_t index);

class CachedBlock final : public Block {
 public:
  // Requires: memory of BlockCharge(table, index) bytes.
  CachedBlock(const Table& table, int64_t index, BlockMemory memory);

  // Writes the rows, and seals memory that others may map. Before the block is handed out, once.
  // Errors: Internal when the system refuses the seal.
  absl::Status Generate(const TableGenerator& generator);

  int64_t first_row() const override { return first_row_; }
  int64_t row_count() const override { return row_count_; }
  std::span<const std::byte> tensor(size_t index) const override { return tensors_[index]; }
  uint32_t crc32c() const override;
  int memory_fd() const override { return memory_.fd(); }

  size_t memory_bytes() const { return memory_.size_bytes(); }

  // Takes the memory out of a block that nobody holds; empty when that was done before.
  BlockMemory TakeMemory() { return std::move(memory_); }

  // Leases given out. Raised under the store's lock only; lowered anywhere.
  std::atomic<int64_t> holders{0};
  // Where the block is cached; null once it is evicted.
  BlockSlot* slot = nullptr;

 private:
  const int64_t first_row_;
  const int64_t row_count_;
  BlockMemory memory_;
  absl::InlinedVector<std::span<std::byte>, 2> tensors_;
  mutable absl::once_flag crc_once_;
  mutable uint32_t crc_ = 0;
};

using CachedBlocks = std::vector<std::shared_ptr<CachedBlock>>;

// Whom leases are given back to. Called without locks, on whatever thread lets go.
class LeaseTaker {
 public:
  virtual ~LeaseTaker() = default;
  virtual void LastHolderLeft(const std::shared_ptr<CachedBlock>& block) = 0;
};

// Turns one count of `block->holders` into the lease that gives it back, and is on the account of `peer` until
// then; null: on nobody's. Throws std::bad_alloc, with the count given back.
BlockPtr MakeLease(std::shared_ptr<LeaseTaker> store, std::shared_ptr<CachedBlock> block,
                   std::shared_ptr<PeerAccount> peer = nullptr);

}  // namespace posenc

#endif  // POSENC_SERVER_TABLES_MEMORY_CACHED_BLOCK_H_
