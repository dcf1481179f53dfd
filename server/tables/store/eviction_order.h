// The blocks that may be evicted: resident, not pinned, held by nobody. Least recently fetched first.
//
// Threads: none of its own; the store's lock guards it.

#ifndef POSENC_SERVER_TABLES_STORE_EVICTION_ORDER_H_
#define POSENC_SERVER_TABLES_STORE_EVICTION_ORDER_H_

#include <cstddef>
#include <cstdint>

#include "absl/container/btree_map.h"
#include "server/tables/store/table_record.h"

namespace posenc {

class EvictionOrder {
 public:
  size_t bytes() const { return bytes_; }

  // Returns the block to go next. Requires: bytes() > 0.
  BlockSlot& Oldest() const { return *by_last_use_.begin()->second; }

  // Makes the block the most recent one.
  void Touch(BlockSlot& slot) {
    if (slot.evictable) by_last_use_.erase(slot.last_use);
    slot.last_use = ++clock_;
    if (slot.evictable) by_last_use_.emplace(slot.last_use, &slot);
  }

  // Takes the block in or out, after its holders, its pin or its residence have changed.
  void Update(BlockSlot& slot) {
    const bool evictable = slot.block && slot.record->pinned_bytes == 0 &&
                           slot.block->holders.load(std::memory_order_acquire) == 0;
    if (evictable == slot.evictable) return;
    slot.evictable = evictable;
    if (evictable) {
      by_last_use_.emplace(slot.last_use, &slot);
      bytes_ += slot.charge_bytes;
    } else {
      by_last_use_.erase(slot.last_use);
      bytes_ -= slot.charge_bytes;
    }
  }

 private:
  uint64_t clock_ = 0;
  size_t bytes_ = 0;
  absl::btree_map<uint64_t, BlockSlot*> by_last_use_;
};

}  // namespace posenc

#endif  // POSENC_SERVER_TABLES_STORE_EVICTION_ORDER_H_
