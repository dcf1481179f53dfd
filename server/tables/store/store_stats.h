// What the table store counts, for metrics, administration and tests. Plain values; bytes are bytes,
// counters only grow.

#ifndef POSENC_SERVER_TABLES_STORE_STORE_STATS_H_
#define POSENC_SERVER_TABLES_STORE_STORE_STATS_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <variant>

#include "server/core/specs/spec.h"
#include "server/tables/table.h"

namespace posenc {

// Seconds that generating one block took, as a histogram: bucket i counts durations up to kBounds[i],
// the last one everything above.
struct GenerationHistogram {
  static constexpr std::array<double, 12> kBounds = {25e-6, 50e-6, 100e-6, 250e-6, 500e-6, 1e-3,
                                                     2.5e-3, 5e-3, 10e-3,  50e-3,  250e-3, 1.0};
  std::array<uint64_t, kBounds.size() + 1> counts{};
  double sum_seconds = 0;

  void Add(double seconds) {
    const auto bucket = std::lower_bound(kBounds.begin(), kBounds.end(), seconds) - kBounds.begin();
    ++counts[static_cast<size_t>(bucket)];
    sum_seconds += seconds;
  }
};

struct StoreStats {
  size_t limit_bytes = 0;
  size_t resident_bytes = 0;  // blocks in the cache, pinned ones included
  size_t pinned_bytes = 0;    // set aside for pinned tables: their full size, resident or not yet
  size_t building_bytes = 0;
  size_t buffer_bytes = 0;     // answers that were put together
  size_t orphaned_bytes = 0;   // evicted, still held
  size_t generator_bytes = 0;  // frequencies and phasors of the tables kept
  size_t spare_bytes = 0;      // memory of former blocks, for the next ones
  size_t peak_bytes = 0;       // highest sum of all of these but pinned_bytes; never above the limit
  int64_t resident_blocks = 0;
  int64_t waiting_requests = 0;
  size_t waiting_bytes = 0;  // that they need together

  uint64_t hits = 0;        // blocks that were resident
  uint64_t misses = 0;      // blocks that this request had generated
  uint64_t coalesced = 0;   // blocks that another request was already having generated
  uint64_t generated_blocks = 0;
  uint64_t generated_bytes = 0;
  std::array<uint64_t, std::variant_size_v<FamilySpec>> generated_by_family{};  // indexed as FamilySpec
  uint64_t cancelled_builds = 0;
  uint64_t capacity_evictions = 0;
  uint64_t admin_evictions = 0;
  uint64_t evicted_bytes = 0;
  uint64_t rejected_too_large = 0;  // could never fit
  uint64_t rejected_timeout = 0;    // did not fit by the deadline
  GenerationHistogram generation;
};

struct TableResidency {
  TablePtr table;
  size_t resident_bytes = 0;
  int64_t resident_blocks = 0;
  bool pinned = false;
};

struct EvictionResult {
  int tables = 0;
  int64_t blocks = 0;
  size_t bytes = 0;
};

}  // namespace posenc

#endif  // POSENC_SERVER_TABLES_STORE_STORE_STATS_H_
