#include "server/encodings/tile_phasors.h"

#include <algorithm>
#include <cmath>

namespace posenc {
namespace {

// Wide tables take fewer rows, so that the phasors stay in the caches.
int TileRows(int64_t pairs) { return pairs > 8192 ? kMaxTileRows / 2 : kMaxTileRows; }

}  // namespace

TilePhasors::TilePhasors(const PhasorCells& cells)
    : rows_(TileRows(cells.count())),
      stride_((cells.count() + kPairPadding - 1) / kPairPadding * kPairPadding) {
  // One row more than a tile has: the last one is the step.
  const int64_t size = stride_ * (rows_ + 1);
  for (auto* part : {&cos_high_, &sin_high_, &cos_low_, &sin_low_}) part->assign(size, 0.0);
  std::fill_n(cos_high_.begin(), cells.count(), 1.0);
  for (int64_t k = 0; k < cells.count(); ++k) {
    const Phasor phasor = cells.UnitAt(1, k);
    const DoubleDouble cos = ToDoubleDouble(phasor.cos), sin = ToDoubleDouble(phasor.sin);
    cos_high_[stride_ + k] = cos.high;
    cos_low_[stride_ + k] = cos.low;
    sin_high_[stride_ + k] = sin.high;
    sin_low_[stride_ + k] = sin.low;
  }
  FillPowers(At(stride_), cells.count(), rows_ + 1, stride_,
             {cos_high_.data(), sin_high_.data(), cos_low_.data(), sin_low_.data()});
  sin_bound_.assign(stride_, 0.0);
  for (int r = 1; r < rows_; ++r) {
    for (int64_t k = 0; k < cells.count(); ++k) {
      sin_bound_[k] = std::max(sin_bound_[k], std::fabs(sin_high_[r * stride_ + k]));
    }
  }
  step_.reserve(4 * stride_);
  for (auto* part : {&cos_high_, &sin_high_, &cos_low_, &sin_low_}) {
    step_.insert(step_.end(), part->begin() + rows_ * stride_, part->end());
    part->resize(rows_ * stride_);
  }
  if (cells.type() != ElementType::kF64) {
    cos_low_ = {};
    sin_low_ = {};
  }
  for (auto* part : {&cos_high_, &sin_high_, &cos_low_, &sin_low_}) part->shrink_to_fit();
}

size_t TilePhasors::footprint_bytes() const {
  return sizeof(double) * (cos_high_.capacity() + sin_high_.capacity() + cos_low_.capacity() +
                           sin_low_.capacity() + step_.capacity() + sin_bound_.capacity());
}

PhasorArrays TilePhasors::At(int64_t offset) const {
  const bool low = !cos_low_.empty();
  return {cos_high_.data() + offset, sin_high_.data() + offset,
          low ? cos_low_.data() + offset : nullptr, low ? sin_low_.data() + offset : nullptr};
}

PhasorArrays TilePhasors::StepFrom(int64_t first_pair) const {
  const double* step = step_.data() + first_pair;
  return {step, step + stride_, step + 2 * stride_, step + 3 * stride_};
}

}  // namespace posenc
