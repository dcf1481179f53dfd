// The phasors that every tile of a table shares: e^{i·r·w_k} of its rows, and of the step to the
// next tile.
//
// In double-double, by products from the accurate e^{i·w_k}; the low halves of rows are kept for
// F64 only. A row's error is below r · 2^-100 (kernels/tile-inl.h). Immutable; safe from any
// thread.

#ifndef POSENC_SERVER_ENCODINGS_TILE_PHASORS_H_
#define POSENC_SERVER_ENCODINGS_TILE_PHASORS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/encodings/exact/phasor_cells.h"
#include "server/encodings/kernels/tile.h"

namespace posenc {

class TilePhasors {
 public:
  // `descending`: positions fall from row to row, so that rows turn backwards.
  TilePhasors(const PhasorCells& cells, bool descending);

  int rows() const { return rows_; }
  int64_t stride() const { return stride_; }
  size_t footprint_bytes() const;
  // Rows 0 … of the pairs from `first_pair` on, which may be any; the low halves are of use for F64
  // only. kPairPadding more may be read behind the last pair.
  PhasorArrays RowsFrom(int64_t first_pair) const { return At(0, first_pair); }
  // e^{i·rows·w}.
  PhasorArrays StepFrom(int64_t first_pair) const { return At(rows_, first_pair); }
  // max over the rows of |sin(r·w)|.
  const double* SinBoundFrom(int64_t first_pair) const { return sin_bound_.data() + first_pair; }

 private:
  PhasorArrays At(int row, int64_t pair) const;

  int rows_;
  int64_t stride_;
  int64_t
      low_stride_;  // 0 unless the rows keep their low halves: all rows then share one, the step's
  std::vector<double> cos_high_, sin_high_, cos_low_,
      sin_low_;  // the row after the last one is the step
  std::vector<double> sin_bound_;
};

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_TILE_PHASORS_H_
