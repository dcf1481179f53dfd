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
  // Instead of rows, one of: positions; real numbers (timesteps); one position for each axis, the
  // coordinates of a row next to each other. In any order, repeats allowed.
  std::vector<int64_t> positions = {};
  std::vector<double> real_positions = {};
  std::vector<int64_t> axis_positions = {};
  std::optional<Range> columns = std::nullopt;  // sinusoidal and rotary tables
  std::optional<Range> heads = std::nullopt;    // biases
  std::optional<Range> keys = std::nullopt;     // biases and bucket maps
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
  std::vector<double> positions;   // in order of output, position_axes for each row
  int64_t position_axes = 1;
  // Columns [begin, end) of every tensor, counted along row_shape's first dimension. A tensor with fewer
  // columns than another (none today) would be refused.
  int64_t column_begin = 0;
  int64_t column_end = 0;
  bool whole_rows = true;  // every column: a slice of resident blocks needs no copy
  // The answer's leading dimensions, e.g. {rows} or {heads, queries}; empty for a single row.
  std::vector<int64_t> row_dims;

  int64_t row_count() const;
  // Bytes of one row of the answer, over all tensors, and of the whole answer; the latter is
  // kUnboundedBytes where it exceeds 64 bits.
  int64_t row_bytes(const TableShape& shape) const;
  uint64_t total_bytes(const TableShape& shape) const;
  // Shape of one tensor in the answer.
  std::vector<int64_t> TensorDims(const TensorShape& tensor) const;
};

// Returns the table's row that stands for row `out_row` of a plan with positions, or nothing where the
// position is not one of the rows: outside of them, between them, or different on several axes.
std::optional<int64_t> RowOfPosition(const TableShape& shape, const SlicePlan& plan, int64_t out_row);

// Checks `selection` against `shape`.
// Errors: OutOfRange for rows, positions, columns, heads or keys past the end; InvalidArgument for a
// range whose end is before its begin, for rows and positions together or two kinds of positions, for
// positions of a table whose rows have none or that has other ones, for heads or keys of a table without
// them, and for more than kMaxPositionsPerRequest positions. All carry field violations with paths such as "selection.rows.end".
absl::StatusOr<SlicePlan> ResolveSelection(const Selection& selection, const TableShape& shape);

}  // namespace posenc

#endif  // POSENC_SERVER_CORE_SELECTION_H_
