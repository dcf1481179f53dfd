#include "server/encodings/phasors/tile_phasors.h"

#include <algorithm>
#include <cmath>

namespace posenc {
namespace {

// Wide tables take fewer rows, so that the phasors stay in the caches.
int ReachFor(int64_t pairs) { return pairs > 8192 ? kMaxReach / 2 : kMaxReach; }

// Frequencies of half a turn have no sine, but products of ±1 and ±0 that may give −0. A bound that is
// not 0 sends their cells to the accurate path.
constexpr double kHalfTurnBound = 0x1p-500;

int64_t Padded(int64_t pairs) { return (pairs + kPairPadding - 1) / kPairPadding * kPairPadding; }

}  // namespace

TilePhasors::TilePhasors(const PhasorCells& cells, bool descending)
    : reach_(ReachFor(cells.count())),
      stride_(Padded(cells.count())),
      low_stride_(cells.type() == ElementType::kF64 ? stride_ : 0),
      cos_high_(stride_ * (reach_ + 2) + kPairPadding),
      sin_high_(stride_ * (reach_ + 2) + kPairPadding),
      cos_low_(stride_ + low_stride_ * (reach_ + 1) + kPairPadding),
      sin_low_(stride_ + low_stride_ * (reach_ + 1) + kPairPadding),
      sin_bound_(stride_ + kPairPadding) {
  const double sign = descending ? -1.0 : 1.0;
  std::vector<double> first(4 * stride_);
  for (int64_t k = 0; k < cells.count(); ++k) {
    const Phasor phasor = cells.UnitAt(1, k);
    const DoubleDouble cos = ToDoubleDouble(phasor.cos), sin = ToDoubleDouble(phasor.sin);
    cos_high_[k] = 1.0;
    first[k] = cos.high;
    first[stride_ + k] = sign * sin.high;
    first[2 * stride_ + k] = cos.low;
    first[3 * stride_ + k] = sign * sin.low;
    sin_bound_[k] = sin.high == 0 && cos.high < 0 ? kHalfTurnBound : 0.0;
  }
  const PhasorArrays base{&first[0], &first[stride_], &first[2 * stride_], &first[3 * stride_]};
  FillPowers(base, cells.count(), reach_, stride_, low_stride_,
             {cos_high_.data(), sin_high_.data(), cos_low_.data(), sin_low_.data()});
  if (cells.type() == ElementType::kBF16) {
    cos_single_.assign(cos_high_.begin(), cos_high_.end());
    sin_single_.assign(sin_high_.begin(), sin_high_.end());
  }
  for (int row = 1; row <= reach_; ++row) {
    for (int64_t k = 0; k < cells.count(); ++k) {
      sin_bound_[k] = std::max(sin_bound_[k], std::fabs(sin_high_[row * stride_ + k]));
    }
  }
}

size_t TilePhasors::footprint_bytes() const {
  return sizeof(double) * (cos_high_.capacity() + sin_high_.capacity() + cos_low_.capacity() +
                           sin_low_.capacity() + sin_bound_.capacity()) +
         sizeof(float) * (cos_single_.capacity() + sin_single_.capacity());
}

PhasorArrays TilePhasors::At(int row, int64_t pair) const {
  const int64_t high = row * stride_ + pair, low = row * low_stride_ + pair;
  const bool single = !cos_single_.empty();
  return {&cos_high_[high], &sin_high_[high], &cos_low_[low], &sin_low_[low],
          single ? &cos_single_[high] : nullptr, single ? &sin_single_[high] : nullptr};
}

}  // namespace posenc
