// The first stage of BF16: a float's 24 bits are enough for most of its cells, which are computed so, and only
// vectors with a cell that this leaves undecided (about one in fifty) by the stage in double (tile-inl.h).
// F16 would leave eight times as many, and gains nothing.
//
// Error of a value, v = 2^-24: each of the two terms of the product has at most four roundings (its two
// factors to float, product, sum), with or without FMA, and the ends of the interval one more: below
// 5.03 v · min(m, m·σ + |S|) for a sine and 5.03 v · m for a cosine, in tile-inl.h's terms. kSingleError is 6 v,
// which covers what doubles have lost before. Where floats are subnormal, these roundings are up to
// 2^-150 · max(1, m) each, 2^-147 · (1 + m) in all; a frequency of 0 has none.
// Rounding is monotonic: ends of the interval that give the same bits decide the cell. Ties go away from 0 here,
// but a tie lies inside of an interval, whose ends then differ.

#if defined(POSENC_KERNELS_SINGLE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POSENC_KERNELS_SINGLE_INL_H_
#undef POSENC_KERNELS_SINGLE_INL_H_
#else
#define POSENC_KERNELS_SINGLE_INL_H_
#endif

#include "hwy/highway.h"
#include "server/encodings/kernels/rounding-inl.h"
#include "server/encodings/kernels/tile.h"

HWY_BEFORE_NAMESPACE();
namespace posenc {
namespace HWY_NAMESPACE {

constexpr double kSingleError = 0x1.8p-22;
// Beyond it infinities would meet.
constexpr double kMostSingle = 0x1p100;

// Anchors of one chunk and bounds of errors, as floats.
struct Singles {
  alignas(64) float cos[kChunkPairs];
  alignas(64) float sin[kChunkPairs];
  alignas(64) float sin_error[kChunkPairs];
  float cos_error;
};

HWY_INLINE void StoreSingle(V value, float* to) {
  const hn::Rebind<float, D> narrow;
  hn::StoreU(hn::DemoteTo(narrow, value), narrow, to);
}

// `size` is the sine's, min(m, m·σ + |S|), and 0 for a frequency of 0.
HWY_INLINE void StoreSingles(const Anchors& anchors, V size, double magnitude, int64_t k, Singles& to) {
  const D d;
  constexpr double kUp = 1 + 0x1p-20;
  const double least = 0x1p-147 * (1 + magnitude);
  const V sum = hn::MulAdd(size, hn::Set(d, kSingleError), hn::LoadU(d, &anchors.drift[k]));
  const V error = hn::MulAdd(sum, hn::Set(d, kUp), hn::Set(d, least));
  StoreSingle(hn::LoadU(d, &anchors.cos_high[k]), to.cos + k);
  StoreSingle(hn::LoadU(d, &anchors.sin_high[k]), to.sin + k);
  StoreSingle(hn::IfThenElseZero(hn::Gt(size, hn::Zero(d)), error), to.sin_error + k);
  to.cos_error = static_cast<float>((magnitude * kSingleError) * kUp + least);
}

using SingleVec = hn::Vec<DFloat>;

// Elements of one vector in the high halves of words, whose low halves do not count, and what differs between
// the two ends.
struct SingleCells {
  HWY_INLINE SingleCells(SingleVec cosine, SingleVec sine, SingleVec cos_error, SingleVec sin_error)
      : difference(hn::Zero(DUint())) {
    cos = Round(cosine, cos_error);
    sin = Round(sine, sin_error);
  }
  HWY_INLINE hn::Vec<DUint> Round(SingleVec value, SingleVec error) {
    const auto half = hn::Set(DUint(), 0x8000u);
    const auto low = hn::Add(AsBits(hn::Sub(value, error)), half);
    const auto high = hn::Add(AsBits(hn::Add(value, error)), half);
    difference = hn::Or(difference, hn::Xor(low, high));
    return high;
  }
  hn::Vec<DUint> cos, sin, difference;
};

HWY_INLINE bool SameBF16(hn::Vec<DUint> difference) {
  return hn::AllTrue(DUint(), hn::Eq(hn::ShiftRight<16>(difference), hn::Zero(DUint())));
}

// The rows A · P, whose phasors are at `on`, and A · P̄, at `back`.
struct SingleRows {
  HWY_INLINE SingleRows(const Singles& anchors, const PhasorArrays& phasors, int64_t k, int64_t on_at,
                        int64_t back_at)
      : a(hn::Load(DFloat(), anchors.cos + k)),
        b(hn::Load(DFloat(), anchors.sin + k)),
        cos_error(hn::Set(DFloat(), anchors.cos_error)),
        sin_error(hn::Load(DFloat(), anchors.sin_error + k)),
        on(On(Load(phasors.cos_single, on_at + k), Load(phasors.sin_single, on_at + k))),
        back(Back(Load(phasors.cos_single, back_at + k), Load(phasors.sin_single, back_at + k))) {}
  static HWY_INLINE SingleVec Load(const float* from, int64_t at) { return hn::LoadU(DFloat(), from + at); }
  HWY_INLINE SingleCells On(SingleVec c, SingleVec s) const {
    return {hn::NegMulAdd(b, s, hn::Mul(a, c)), hn::MulAdd(a, s, hn::Mul(b, c)), cos_error, sin_error};
  }
  HWY_INLINE SingleCells Back(SingleVec c, SingleVec s) const {
    return {hn::MulAdd(b, s, hn::Mul(a, c)), hn::NegMulAdd(a, s, hn::Mul(b, c)), cos_error, sin_error};
  }
  const SingleVec a, b, cos_error, sin_error;
  const SingleCells on, back;
};

}  // namespace HWY_NAMESPACE
}  // namespace posenc
HWY_AFTER_NAMESPACE();

#endif  // include guard per target
