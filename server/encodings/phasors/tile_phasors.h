// The phasors that every tile of a table shares: e^{i·r·w_k} for r ≤ R, and that of the step to the
// next tile, 2R + 1 rows.
//
// In double-double, by products from the accurate e^{i·w_k}; the low halves of rows are kept for
// F64 only, floats for BF16 only. kernels/tile-inl.h has their errors. Immutable; safe from any thread.

#ifndef POSENC_SERVER_ENCODINGS_PHASORS_TILE_PHASORS_H_
#define POSENC_SERVER_ENCODINGS_PHASORS_TILE_PHASORS_H_

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "server/encodings/exact/phasor_cells.h"
#include "server/encodings/kernels/tile.h"

namespace posenc {

// Starts arrays at a line of the cache: vectors that cross lines cost two loads.
template <typename T>
struct LineAllocator {
  using value_type = T;
  T* allocate(size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), kLine)); }
  void deallocate(T* at, size_t) { ::operator delete(at, kLine); }
  bool operator==(const LineAllocator&) const = default;
  static constexpr std::align_val_t kLine{64};
};

class TilePhasors {
 public:
  // `descending`: positions fall from row to row, so that rows turn backwards.
  TilePhasors(const PhasorCells& cells, bool descending);

  int reach() const { return reach_; }  // R
  int rows() const { return 2 * reach_ + 1; }
  int64_t stride() const { return stride_; }
  size_t footprint_bytes() const;
  // r = 0 … of the pairs from `first_pair` on, which may be any; the low halves are of use for F64
  // only. kPairPadding more may be read behind the last pair.
  PhasorArrays RowsFrom(int64_t first_pair) const { return At(0, first_pair); }
  // e^{i·rows·w}.
  PhasorArrays StepFrom(int64_t first_pair) const { return At(reach_ + 1, first_pair); }
  // max over r of |sin(r·w)|.
  const double* SinBoundFrom(int64_t first_pair) const { return sin_bound_.data() + first_pair; }

 private:
  PhasorArrays At(int row, int64_t pair) const;

  int reach_;
  int64_t stride_;
  int64_t
      low_stride_;  // 0 unless the rows keep their low halves: all rows then share one, the step's
  using Numbers = std::vector<double, LineAllocator<double>>;
  Numbers cos_high_, sin_high_, cos_low_, sin_low_;  // the row after the last one is the step
  Numbers sin_bound_;
  std::vector<float, LineAllocator<float>> cos_single_, sin_single_;  // of BF16
};

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_PHASORS_TILE_PHASORS_H_
