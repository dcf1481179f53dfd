// The ledger of the memory budget: what kind of use holds how many bytes, and the highest sum so far.
//
// Threads: none of its own; the store's lock guards it. All figures are bytes.
// The sum never exceeds the limit, and no kind falls below zero: every build checks it.

#ifndef POSENC_SERVER_TABLES_MEMORY_BUDGET_H_
#define POSENC_SERVER_TABLES_MEMORY_BUDGET_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "server/core/check.h"

namespace posenc {

// What a byte of the budget is used for.
enum class Charge : uint8_t {
  kResident,   // blocks in the cache
  kBuilding,   // blocks that are admitted and not yet finished
  kBuffer,     // answers that are put together
  kOrphaned,   // blocks that were evicted while somebody held them
  kGenerator,  // tables
  kSpare,      // memory of former blocks, kept for the next ones
  kRetiring,   // memory on its way back to the system
};

class Budget {
 public:
  explicit Budget(size_t limit_bytes) : limit_bytes_(limit_bytes) {}

  size_t limit_bytes() const { return limit_bytes_; }
  size_t free_bytes() const { return limit_bytes_ - used_bytes_; }
  size_t peak_bytes() const { return peak_bytes_; }
  size_t operator[](Charge charge) const { return bytes_[Index(charge)]; }

  // Requires: bytes <= free_bytes().
  void Add(Charge charge, size_t bytes) {
    Check(bytes <= free_bytes(), "the memory budget is never exceeded");
    bytes_[Index(charge)] += bytes;
    used_bytes_ += bytes;
    peak_bytes_ = std::max(peak_bytes_, used_bytes_);
  }
  void Remove(Charge charge, size_t bytes) {
    Check(bytes <= bytes_[Index(charge)], "only what was charged is given back");
    bytes_[Index(charge)] -= bytes;
    used_bytes_ -= bytes;
  }
  void Move(Charge from, Charge to, size_t bytes) {
    Check(bytes <= bytes_[Index(from)], "only what was charged is moved");
    bytes_[Index(from)] -= bytes;
    bytes_[Index(to)] += bytes;
  }

 private:
  static size_t Index(Charge charge) { return static_cast<size_t>(charge); }

  size_t limit_bytes_;
  size_t used_bytes_ = 0;
  size_t peak_bytes_ = 0;
  std::array<size_t, 7> bytes_{};
};

}  // namespace posenc

#endif  // POSENC_SERVER_TABLES_MEMORY_BUDGET_H_
