// Memory for one block or buffer, aligned to 64 bytes.
//
// From 32 KiB on it is a mapping of its own, so that the system has it back the moment it is let go and the
// resident set follows the budget; smaller pieces come from the heap. A fresh mapping costs a page fault
// for every 4 KiB, several times what generating a block costs: from 2 MiB on it is of large pages where the
// system has them, a fault for each, and SpareMemory keeps former blocks for reuse.
//
// Threads: a value, moved and not copied; one thread at a time.

#ifndef POSENC_SERVER_TABLES_MEMORY_BLOCK_MEMORY_H_
#define POSENC_SERVER_TABLES_MEMORY_BLOCK_MEMORY_H_

#include <cstddef>
#include <utility>

#include "absl/status/status.h"

namespace posenc {

inline constexpr size_t kBlockAlignmentBytes = 64;

// Returns the bytes that `size_bytes` of memory take of the budget: rounded up to what is really allocated,
// which is whole large pages where they waste little. A charge is its own charge: ChargeFor(ChargeFor(n)) is
// ChargeFor(n). kUnboundedBytes, which no budget has, stays what it is.
size_t ChargeFor(size_t size_bytes);
// The same for memory that other processes may map: whole pages.
size_t ShareableChargeFor(size_t size_bytes);

class BlockMemory {
 public:
  BlockMemory() = default;

  // kPresent takes all page faults in one system call: for memory that this thread writes next, all of it.
  enum class Pages : bool { kOnDemand, kPresent };

  // Returns memory of ChargeFor(size_bytes) bytes with arbitrary contents; empty when the system has none.
  static BlockMemory Allocate(size_t size_bytes, Pages pages);

  // The same in a memfd, of ShareableChargeFor(size_bytes) bytes.
  static BlockMemory AllocateShareable(size_t size_bytes);

  // Makes shareable memory read-only for good, for this process too: sealed against writing, growing and
  // shrinking (memfd_create(2)). Does nothing to other memory.
  // Errors: Internal when the system refuses.
  absl::Status Seal();

  BlockMemory(BlockMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_bytes_(std::exchange(other.size_bytes_, 0)),
        fd_(std::exchange(other.fd_, -1)) {}
  BlockMemory& operator=(BlockMemory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_bytes_, other.size_bytes_);
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~BlockMemory();

  explicit operator bool() const { return data_ != nullptr; }
  std::byte* data() const { return data_; }
  size_t size_bytes() const { return size_bytes_; }
  bool shareable() const { return fd_ >= 0; }
  int fd() const { return fd_; }  // −1 unless shareable

 private:
  BlockMemory(std::byte* data, size_t size_bytes, int fd = -1)
      : data_(data), size_bytes_(size_bytes), fd_(fd) {}

  std::byte* data_ = nullptr;
  size_t size_bytes_ = 0;
  int fd_ = -1;
};

}  // namespace posenc

#endif  // POSENC_SERVER_TABLES_MEMORY_BLOCK_MEMORY_H_
