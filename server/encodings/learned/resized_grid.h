// A grid of patch embeddings at another size: the cells of a learned table's bicubic resize, correctly
// rounded. Double with a bound decides nearly all of them, exact sums in MPFR the rest.
//
// Threads: immutable.

#ifndef POSENC_SERVER_ENCODINGS_LEARNED_RESIZED_GRID_H_
#define POSENC_SERVER_ENCODINGS_LEARNED_RESIZED_GRID_H_

#include <cstddef>
#include <cstdint>

#include "server/core/specs/learned_spec.h"
#include "server/core/tensor_catalog.h"
#include "server/encodings/exact/real.h"
#include "server/encodings/learned/grid_resize.h"

namespace posenc {

class ResizedGrid {
 public:
  // `tensor` is [rows, width] and outlives this. Requires: the rows are leading_rows + source_height ·
  // source_width.
  ResizedGrid(const GridResize& resize, double row_scale, const StoredTensor& tensor);

  size_t footprint_bytes() const;

  // Writes the row of one output cell, `row` counted from 0 after the leading rows.
  void WriteRow(int64_t row, ElementType type, std::byte* out) const;

 private:
  uint64_t Cell(const ResizeTaps& y, const ResizeTaps& x, int64_t column, ElementType type) const;
  double Load(int64_t y, int64_t x, int64_t column) const;
  int64_t Compute(const ResizeTaps& y, const ResizeTaps& x, int64_t column, int64_t bits, Real& value) const;

  const GridResize resize_;
  const double row_scale_;
  const StoredTensor& tensor_;
  const ResizeAxis y_;
  const ResizeAxis x_;
};

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_LEARNED_RESIZED_GRID_H_
