// Memory of former blocks, kept for the next block of the same size: it saves the page faults of a fresh
// mapping. What lies here is charged to the budget like everything else and is the first to go.
//
// Threads: none of its own; the store's lock guards it.

#ifndef POSENC_SERVER_TABLES_MEMORY_SPARE_MEMORY_H_
#define POSENC_SERVER_TABLES_MEMORY_SPARE_MEMORY_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "server/tables/memory/block_memory.h"

namespace posenc {

class SpareMemory {
 public:
  size_t bytes() const { return bytes_; }
  bool empty() const { return bytes_ == 0; }

  void Put(BlockMemory memory) {
    bytes_ += memory.size_bytes();
    by_size_[memory.size_bytes()].push_back(std::move(memory));
  }

  // Returns memory of exactly this size, or empty memory.
  BlockMemory Take(size_t size_bytes) {
    const auto found = by_size_.find(size_bytes);
    return found == by_size_.end() ? BlockMemory() : Pop(found);
  }

  // Returns the largest piece. Requires: not empty.
  BlockMemory TakeLargest() { return Pop(std::prev(by_size_.end())); }

 private:
  using Sizes = absl::btree_map<size_t, std::vector<BlockMemory>>;

  BlockMemory Pop(Sizes::iterator size) {
    BlockMemory memory = std::move(size->second.back());
    size->second.pop_back();
    if (size->second.empty()) by_size_.erase(size);
    bytes_ -= memory.size_bytes();
    return memory;
  }

  size_t bytes_ = 0;
  Sizes by_size_;
};

}  // namespace posenc

#endif  // POSENC_SERVER_TABLES_MEMORY_SPARE_MEMORY_H_
