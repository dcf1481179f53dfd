// Sizes of tables and answers that may exceed what 64 bits hold: a virtual table has up to 2^53 rows.
// Pure functions.

#ifndef POSENC_SERVER_RPC_ANSWER_SIZE_H_
#define POSENC_SERVER_RPC_ANSWER_SIZE_H_

#include <algorithm>
#include <cstdint>
#include <limits>

#include "server/core/selection.h"
#include "server/core/table_shape.h"

namespace posenc {

// Returns rows · row_bytes, or 2^64 - 1 for more than that. Requires: neither is negative.
inline uint64_t SaturatedBytes(int64_t rows, int64_t row_bytes) {
  const auto exact = static_cast<unsigned __int128>(rows) * static_cast<uint64_t>(row_bytes);
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  return static_cast<uint64_t>(std::min<unsigned __int128>(exact, kMost));
}

inline uint64_t TableBytes(const TableShape& shape) {
  return SaturatedBytes(shape.rows(), shape.row_bytes());
}

inline uint64_t AnswerBytes(const SlicePlan& plan, const TableShape& shape) {
  return SaturatedBytes(plan.row_count(), plan.row_bytes(shape));
}

}  // namespace posenc

#endif  // POSENC_SERVER_RPC_ANSWER_SIZE_H_
