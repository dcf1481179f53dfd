// Arithmetic on sizes that a request decides. A virtual table has up to 2^53 rows, so rows times bytes may
// exceed 64 bits: every such size is computed here, and what does not fit is kUnboundedBytes, which no
// budget, limit or allocation can grant.
//
// Pure functions; any thread.

#ifndef POSENC_SERVER_CORE_BYTE_SIZE_H_
#define POSENC_SERVER_CORE_BYTE_SIZE_H_

#include <cstdint>
#include <limits>

namespace posenc {

inline constexpr uint64_t kUnboundedBytes = std::numeric_limits<uint64_t>::max();

// Returns count · bytes, or kUnboundedBytes for more than that. Requires: neither is negative.
constexpr uint64_t SaturatedProduct(int64_t count, int64_t bytes) {
  uint64_t product = 0;
  const bool overflow =
      __builtin_mul_overflow(static_cast<uint64_t>(count), static_cast<uint64_t>(bytes), &product);
  return overflow ? kUnboundedBytes : product;
}

constexpr uint64_t SaturatedSum(uint64_t a, uint64_t b) { return a > kUnboundedBytes - b ? kUnboundedBytes : a + b; }

// Returns `bytes` rounded up to whole units; kUnboundedBytes where that would exceed it. Requires: unit > 0.
constexpr uint64_t SaturatedRoundUp(uint64_t bytes, uint64_t unit) {
  const uint64_t rest = bytes % unit;
  return rest == 0 ? bytes : SaturatedSum(bytes, unit - rest);
}

}  // namespace posenc

#endif  // POSENC_SERVER_CORE_BYTE_SIZE_H_
