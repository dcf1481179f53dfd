// The shape of a table: how many rows, and what each tensor holds in one row.
//
// A table is a virtual array of rows. Its tensors share the row count; a row of a tensor is `row_shape`
// elements, row-major. ALiBi's bias, [heads, queries, keys] to the outside, has heads · queries rows: the
// leading dimensions are `row_dims`, whose product is `rows`.

#ifndef POSENC_SERVER_CORE_TABLE_SHAPE_H_
#define POSENC_SERVER_CORE_TABLE_SHAPE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "server/core/byte_size.h"
#include "server/core/element_type.h"

namespace posenc {

// One tensor of a table.
struct TensorShape {
  std::string name;  // "table", "cos", "sin", "angles", "bias", "slopes", …
  ElementType element_type = ElementType::kF32;
  std::vector<int64_t> row_shape;  // elements of one row, e.g. {64} or {64, 2}

  // Elements and bytes of one row.
  int64_t row_elements() const {
    int64_t count = 1;
    for (int64_t dim : row_shape) count *= dim;
    return count;
  }
  int64_t row_bytes() const {
    return row_elements() * static_cast<int64_t>(ElementSizeBytes(element_type));
  }
  // Columns are counted along row_shape's first dimension; one column is this many bytes.
  int64_t columns() const { return row_shape.front(); }
  int64_t column_bytes() const { return row_bytes() / columns(); }
};

// What the rows are, which decides how a selection names them.
enum class RowKind : uint8_t {
  kPositions = 1,    // row r is position first_position + r
  kHeadQueries = 2,  // row h · queries + q: head h, query q; columns are keys
  kSingle = 3,       // one row that has no position (frequencies, slopes)
  kCells = 4,        // row r is a cell of a grid, or a query of a map; it has no position of its own
  kHeads = 5,        // row h is head h; columns are keys
};

struct TableShape {
  std::vector<int64_t> row_dims;  // {max_len} or {heads, queries}
  std::vector<TensorShape> tensors;
  RowKind row_kind = RowKind::kPositions;
  int64_t first_position = 0;  // position of row 0
  // Positions that may be asked for one by one: [positions_begin, positions_end). The formula goes on
  // past the rows on the negative side, where a cache is shifted back.
  int64_t positions_begin = 0;
  int64_t positions_end = 0;
  int64_t position_axes = 1;      // coordinates of one position (M-RoPE: 3)
  bool last_axis_still = false;   // rows by index and single positions have 0 on the last axis
  bool real_positions = false;    // whether positions may be any real number between begin and end
  bool descending = false;        // row r is position first_position − r

  int64_t rows() const {
    int64_t count = 1;
    for (int64_t dim : row_dims) count *= dim;
    return count;
  }
  int64_t row_bytes() const {  // of all tensors together
    int64_t bytes = 0;
    for (const TensorShape& tensor : tensors) bytes += tensor.row_bytes();
    return bytes;
  }
  // Bytes of the whole table; kUnboundedBytes where a virtual table exceeds 64 bits.
  uint64_t total_bytes() const { return SaturatedProduct(rows(), row_bytes()); }
};

}  // namespace posenc

#endif  // POSENC_SERVER_CORE_TABLE_SHAPE_H_
