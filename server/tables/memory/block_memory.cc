#include "server/tables/memory/block_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <new>

#include "absl/strings/str_cat.h"
#include "server/core/byte_size.h"

namespace posenc {
namespace {

constexpr size_t kPageBytes = 4096;
constexpr size_t kLargePageBytes = size_t{2} << 20;
// What a block may waste so that large pages hold all of it.
constexpr size_t kLargePageWasteBytes = kLargePageBytes / 32;
// Below this the heap wastes less than the rest of a page would.
constexpr size_t kMappedFromBytes = 32768;

std::byte* Map(size_t size_bytes) {
  void* mapping = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return mapping == MAP_FAILED ? nullptr : static_cast<std::byte*>(mapping);
}

size_t BytesToLargePage(const std::byte* address) {
  return (kLargePageBytes - reinterpret_cast<uintptr_t>(address) % kLargePageBytes) % kLargePageBytes;
}

// The same, beginning with a large page. Newer systems place mappings that way by themselves.
std::byte* MapLargePages(size_t size_bytes) {
  std::byte* placed = Map(size_bytes);
  if (placed == nullptr || BytesToLargePage(placed) == 0) return placed;
  munmap(placed, size_bytes);
  std::byte* wide = Map(size_bytes + kLargePageBytes);
  if (wide == nullptr) return nullptr;
  const size_t before = BytesToLargePage(wide);
  if (before > 0) munmap(wide, before);
  munmap(wide + before + size_bytes, kLargePageBytes - before);
  return wide + before;
}

}  // namespace

size_t ChargeFor(size_t size_bytes) {
  if (size_bytes < kMappedFromBytes) {
    return std::max(SaturatedRoundUp(size_bytes, kBlockAlignmentBytes), kBlockAlignmentBytes);
  }
  // The waste is what is left of the last large page behind whole pages, so that a charge is its own charge.
  const size_t pages = SaturatedRoundUp(size_bytes, kPageBytes);
  const size_t large = SaturatedRoundUp(pages, kLargePageBytes);
  return large - pages <= kLargePageWasteBytes ? large : pages;
}

BlockMemory BlockMemory::Allocate(size_t size_bytes, Pages pages) {
  const size_t charge = ChargeFor(size_bytes);
  if (charge < kMappedFromBytes) {
    void* heap = ::operator new(charge, std::align_val_t{kBlockAlignmentBytes}, std::nothrow);
    return heap == nullptr ? BlockMemory() : BlockMemory(static_cast<std::byte*>(heap), charge);
  }
  const bool large = charge >= kLargePageBytes;
  std::byte* mapping = large ? MapLargePages(charge) : Map(charge);
  if (mapping == nullptr) return {};
  // Both are advice: where the system does not take it, pages are small and come as they are touched.
  if (large) madvise(mapping, charge, MADV_HUGEPAGE);
  if (pages == Pages::kPresent) madvise(mapping, charge, MADV_POPULATE_WRITE);
  return BlockMemory(mapping, charge);
}

size_t ShareableChargeFor(size_t size_bytes) {
  return SaturatedRoundUp(std::max<size_t>(size_bytes, 1), kPageBytes);
}

BlockMemory BlockMemory::AllocateShareable(size_t size_bytes) {
  const size_t charge = ShareableChargeFor(size_bytes);
  const int fd = memfd_create("posenc-table", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return {};
  // Unlike ftruncate alone, this takes the pages now: a full system refuses here instead of killing us later.
  const bool sized = posix_fallocate(fd, 0, static_cast<off_t>(charge)) == 0;
  void* mapping = sized ? mmap(nullptr, charge, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0)
                        : MAP_FAILED;
  if (mapping == MAP_FAILED) {
    close(fd);
    return {};
  }
  return BlockMemory(static_cast<std::byte*>(mapping), charge, fd);
}

absl::Status BlockMemory::Seal() {
  if (!shareable()) return absl::OkStatus();
  // F_SEAL_WRITE would be in the way: before Linux 6.7 it refuses shared mappings that only read, too. After
  // this seal ours is the last writable mapping, and it is replaced in its place by one that reads.
  constexpr int kSeals = F_SEAL_FUTURE_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;
  const bool sealed = fcntl(fd_, F_ADD_SEALS, kSeals) == 0;
  const auto remap = [&] {
    return mmap(data_, size_bytes_, PROT_READ, MAP_SHARED | MAP_POPULATE | MAP_FIXED, fd_, 0);
  };
  if (sealed && remap() != MAP_FAILED) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("sealing the memory of a shared table: ", std::strerror(errno)));
}

BlockMemory::~BlockMemory() {
  if (data_ == nullptr) return;
  if (shareable()) {
    munmap(data_, size_bytes_);
    close(fd_);
  } else if (size_bytes_ < kMappedFromBytes) {
    ::operator delete(data_, std::align_val_t{kBlockAlignmentBytes});
  } else {
    munmap(data_, size_bytes_);
  }
}

}  // namespace posenc
