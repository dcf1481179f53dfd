// Finished rows of one table: the unit of generation, caching, eviction and single flight.
//
// Holds rows [first_row, first_row + row_count) of every tensor, each tensor contiguous and aligned to 64
// bytes, in the very form in which it goes on the wire.
//
// Threads:   immutable once handed out; any thread.
// Ownership: by shared_ptr. A block lives as long as its last holder, evicted or not, and its bytes stay
//            charged to the budget until then. Letting go is cheap and may happen on any thread: it never
//            waits for the cache or for generation.

#ifndef POSENC_SERVER_TABLES_MEMORY_BLOCK_H_
#define POSENC_SERVER_TABLES_MEMORY_BLOCK_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace posenc {

class Block {
 public:
  virtual ~Block() = default;

  virtual int64_t first_row() const = 0;
  virtual int64_t row_count() const = 0;

  // Bytes of tensor `index` (the order of TableShape::tensors) for all rows of the block.
  virtual std::span<const std::byte> tensor(size_t index) const = 0;

  // CRC-32C over all tensors of the block, one after the other. Computed at the first call, then kept.
  virtual uint32_t crc32c() const = 0;

  // The sealed memory that holds all tensors, as the descriptor of a memfd, for a block of a shared table;
  // −1 for others. Tensor t begins tensor(t).data() − tensor(0).data() bytes into it.
  virtual int memory_fd() const = 0;
};

using BlockPtr = std::shared_ptr<const Block>;

// Writable memory charged to the budget, for answers that must be put together (gathers, cut columns).
// Not thread-safe while it is written; immutable afterwards, shared like a block.
class Buffer {
 public:
  virtual ~Buffer() = default;
  virtual std::span<std::byte> bytes() = 0;
};

using BufferPtr = std::shared_ptr<Buffer>;

}  // namespace posenc

#endif  // POSENC_SERVER_TABLES_MEMORY_BLOCK_H_
