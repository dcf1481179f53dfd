// Which part of a table: rows by range or by position, and columns, heads or keys.
//
// Ranges are half-open; an absent end means "to the end". ResolveSelection checks a selection against a
// table's shape and turns it into a SlicePlan, which the serving code and the in-process client execute.

#ifndef POSENC_SERVER_CORE_SELECTION_H_
#define POSENC_SERVER_CORE_SELECTION_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/table_shape.h"

namespace posenc {

struct Range {
  int64_t begin = 0;
  std::optional<int64_t> end = std::nullopt;  // absent: to the end
};

// Every member absent selects the whole table.
struct Selection {
  std::optional<Range> rows = std::nullopt;     // row indices (queries, for a bias)
  std::vector<int64_t> positions = {};          // instead of rows; in any order, repeats allowed
  std::optional<Range> columns = std::nullopt;  // sinusoidal and rotary tables
  std::optional<Range> heads = std::nullopt;    // ALiBi
  std::optional<Range> keys = std::nullopt;     // ALiBi bias
};

// Rows [begin, end) of the table's flattened rows.
struct RowRun {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t count() const { return end - begin; }
};

// A checked selection.
struct SlicePlan {
  // Exactly one of the two is not empty, unless the selection is empty.
  std::vector<RowRun> runs;        // in order of output
  std::vector<int64_t> positions;  // in order of output
  // Columns [begin, end) of every tensor, counted along row_shape's first dimension. A tensor with fewer
  // columns than another (none today) would be refused.
  int64_t column_begin = 0;
  int64_t column_end = 0;
  bool whole_rows = true;  // every column: a slice of resident blocks needs no copy
  // The answer's leading dimensions, e.g. {rows} or {heads, queries}; empty for a single row.
  std::vector<int64_t> row_dims;

  int64_t row_count() const;
  // Bytes of one row of the answer, over all tensors, and of the whole answer; the latter is the highest
  // int64_t where it would not fit one.
  int64_t row_bytes(const TableShape& shape) const;
  int64_t total_bytes(const TableShape& shape) const;
  // Shape of one tensor in the answer.
  std::vector<int64_t> TensorDims(const TensorShape& tensor) const;
};

// Checks `selection` against `shape`.
// Errors: OutOfRange for rows, positions, columns, heads or keys past the end; InvalidArgument for a
// range whose end is before its begin, for rows and positions together, for positions of a table whose
// rows have none, for heads or keys of a table without them, and for more than kMaxPositionsPerRequest
// positions. All carry field violations with paths such as "selection.rows.end".
absl::StatusOr<SlicePlan> ResolveSelection(const Selection& selection, const TableShape& shape);

}  // namespace posenc

#endif  // POSENC_SERVER_CORE_SELECTION_H_
