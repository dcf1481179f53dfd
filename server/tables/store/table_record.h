// What the store knows of one table and of each of its blocks that somebody is interested in.
//
// A slot exists while its block is resident, being built, or wanted by a request in line. The flight of a
// block is its slot's `build`: as long as there is one, everybody else joins `waiters`.
//
// Threads: none of their own; the store's lock guards them.

#ifndef POSENC_SERVER_TABLES_STORE_TABLE_RECORD_H_
#define POSENC_SERVER_TABLES_STORE_TABLE_RECORD_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "server/tables/memory/block_memory.h"
#include "server/tables/memory/cached_block.h"
#include "server/tables/store/request.h"
#include "server/tables/table.h"

namespace posenc {

struct TableRecord;

// One block on its way: admitted, its bytes reserved, not finished.
struct BlockBuild {
  PeerId peer;  // who has it built first
  TablePtr table;
  BlockSlot* slot = nullptr;
  int64_t index = 0;
  size_t charge_bytes = 0;
  BlockMemory memory;    // empty: the worker allocates it
  bool ahead = false;    // nobody has asked for it yet: whatever is waited for goes first
  bool started = false;  // a worker is at it: it will be finished
  bool dropped = false;  // nobody waits any more and no worker had begun
};

struct BlockSlot {
  TableRecord* record = nullptr;
  int64_t index = 0;
  size_t charge_bytes = 0;
  std::shared_ptr<CachedBlock> block;               // when resident
  std::shared_ptr<BlockBuild> build;                // when being built
  std::vector<std::shared_ptr<FetchRequest>> waiters;     // admitted, for the build
  std::vector<std::shared_ptr<FetchRequest>> candidates;  // in line, counting this block if it is missing
  bool ahead = false;  // generated before anybody asked for it, and nobody has since
  uint64_t last_use = 0;
  bool evictable = false;

  bool missing() const { return !block && !build; }
  bool idle() const { return missing() && waiters.empty() && candidates.empty(); }
};

struct TableRecord {
  explicit TableRecord(TablePtr the_table) : table(std::move(the_table)) {}

  BlockSlot* Find(int64_t index) {
    const auto found = slots.find(index);
    return found == slots.end() ? nullptr : found->second.get();
  }

  BlockSlot& SlotAt(int64_t index) {
    std::unique_ptr<BlockSlot>& slot = slots[index];
    if (!slot) {
      slot = std::make_unique<BlockSlot>();
      slot->record = this;
      slot->index = index;
      slot->charge_bytes = BlockCharge(*table, index);
    }
    return *slot;
  }

  TablePtr table;
  absl::flat_hash_map<int64_t, std::unique_ptr<BlockSlot>> slots;
  int64_t resident_blocks = 0;
  size_t resident_bytes = 0;
  int pins = 0;             // how many times it is pinned
  size_t pinned_bytes = 0;  // of the whole table; 0: not pinned
  std::optional<std::list<TableRecord*>::iterator> idle_position;  // in the registry's idle list
};

}  // namespace posenc

#endif  // POSENC_SERVER_TABLES_STORE_TABLE_RECORD_H_
