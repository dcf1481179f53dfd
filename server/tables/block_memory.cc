#include "server/tables/block_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace posenc {
namespace {

constexpr size_t kPageBytes = 4096;
// Below this the heap wastes less than the rest of a page would.
constexpr size_t kMappedFromBytes = 32768;

size_t RoundUp(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

size_t ChargeFor(size_t size_bytes) {
  if (size_bytes >= kMappedFromBytes) return RoundUp(size_bytes, kPageBytes);
  return std::max(RoundUp(size_bytes, kBlockAlignmentBytes), kBlockAlignmentBytes);
}

BlockMemory BlockMemory::Allocate(size_t size_bytes, Pages pages) {
  const size_t charge = ChargeFor(size_bytes);
  if (charge < kMappedFromBytes) {
    void* heap = ::operator new(charge, std::align_val_t{kBlockAlignmentBytes}, std::nothrow);
    return heap == nullptr ? BlockMemory() : BlockMemory(static_cast<std::byte*>(heap), charge);
  }
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | (pages == Pages::kPresent ? MAP_POPULATE : 0);
  void* mapping = mmap(nullptr, charge, PROT_READ | PROT_WRITE, flags, -1, 0);
  return mapping == MAP_FAILED ? BlockMemory()
                               : BlockMemory(static_cast<std::byte*>(mapping), charge);
}

BlockMemory::~BlockMemory() {
  if (data_ == nullptr) return;
  if (size_bytes_ < kMappedFromBytes) {
    ::operator delete(data_, std::align_val_t{kBlockAlignmentBytes});
  } else {
    munmap(data_, size_bytes_);
  }
}

}  // namespace posenc
