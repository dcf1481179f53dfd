// The phasors that every tile of a table shares: e^{i·r·w_k} of its rows, and of the step to the next tile.
//
// In double-double, by products from the accurate e^{i·w_k}; the low halves are kept for F64 only. A row's
// error is below r · 2^-100 (kernels/tile-inl.h). Immutable; safe from any thread.

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
  explicit TilePhasors(const PhasorCells& cells);

  int rows() const { return rows_; }
  int64_t stride() const { return stride_; }
  size_t footprint_bytes() const;
  // Rows 0 … of the pairs from `first_pair` on; the low parts are null unless the table is F64.
  PhasorArrays RowsFrom(int64_t first_pair) const { return At(first_pair); }
  // e^{i·rows·w}.
  PhasorArrays StepFrom(int64_t first_pair) const;
  // max over the rows of |sin(r·w)|.
  const double* SinBoundFrom(int64_t first_pair) const { return sin_bound_.data() + first_pair; }

 private:
  PhasorArrays At(int64_t offset) const;

  int rows_;
  int64_t stride_;
  std::vector<double> cos_high_, sin_high_, cos_low_, sin_low_;
  std::vector<double> step_;  // four runs of stride_: as PhasorArrays
  std::vector<double> sin_bound_;
};

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_TILE_PHASORS_H_
