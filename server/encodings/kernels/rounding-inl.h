// Rounding a vector of doubles, known to within an error, to elements: once at each end of the interval.
//
// Decided lanes hold the same bits at both ends, so every value between them rounds to these bits, and
// neither a tie nor double rounding can be hidden there. F16 and BF16 go by way of float: the float's own
// rounding, 2^-24 of the value and 2^-149 among subnormals, is added to the interval first.

#if defined(POSENC_KERNELS_ROUNDING_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POSENC_KERNELS_ROUNDING_INL_H_
#undef POSENC_KERNELS_ROUNDING_INL_H_
#else
#define POSENC_KERNELS_ROUNDING_INL_H_
#endif

#include "hwy/highway.h"
#include "server/encodings/kernels/double_double-inl.h"

HWY_BEFORE_NAMESPACE();
namespace posenc {
namespace HWY_NAMESPACE {

using DFloat = hn::Rebind<float, D>;
using DUint = hn::Rebind<uint32_t, D>;
using DUint64 = hn::Rebind<uint64_t, D>;

// Each element type says: the tag and lane type of its elements (as floats or bits), whether products are
// in double-double, and how to round. `Difference` is not 0 in the lanes that are undecided.
struct RoundF32 {
  using DOut = DFloat;
  using Difference = hn::Vec<DUint>;
  static constexpr bool kWide = false;
  static HWY_INLINE hn::Vec<DOut> Round(V value, V error, Difference& difference) {
    const auto low = hn::DemoteTo(DFloat(), hn::Sub(value, error));
    const auto high = hn::DemoteTo(DFloat(), hn::Add(value, error));
    difference = hn::Or(difference, hn::Xor(hn::BitCast(DUint(), low), hn::BitCast(DUint(), high)));
    return high;
  }
};

// The nearest BF16 and F16 of floats, in the low halves; a tie may go either way.
HWY_INLINE hn::Vec<DUint> NearestBF16(hn::Vec<DFloat> value) {
  const DUint d;
  return hn::ShiftRight<16>(hn::Add(hn::BitCast(d, value), hn::Set(d, 0x8000u)));
}

HWY_INLINE hn::Vec<DUint> NearestF16(hn::Vec<DFloat> value) {
  const DUint d;
  const auto bits = hn::BitCast(d, value);
  const auto sign = hn::And(hn::ShiftRight<16>(bits), hn::Set(d, 0x8000u));
  // 0.5 has a last place of 2^-24, the step of subnormals. Magnitudes from 65536 on become infinite.
  const auto size = hn::Min(hn::And(bits, hn::Set(d, 0x7FFFFFFFu)), hn::Set(d, 0x47800000u));
  const auto shifted = hn::Add(hn::BitCast(DFloat(), size), hn::Set(DFloat(), 0.5f));
  const auto subnormal = hn::Sub(hn::BitCast(d, shifted), hn::Set(d, 0x3F000000u));
  const auto normal = hn::ShiftRight<13>(hn::Sub(size, hn::Set(d, 0x38000000u - 0x1000u)));
  const auto small = hn::Lt(hn::BitCast(DFloat(), size), hn::Set(DFloat(), 0x1p-14f));
  return hn::Or(sign, hn::IfThenElse(hn::RebindMask(d, small), subnormal, normal));
}

template <bool kBrain>
struct RoundHalf {
  using DOut = hn::Rebind<uint16_t, D>;
  using Difference = hn::Vec<DUint>;
  static constexpr bool kWide = false;
  static HWY_INLINE hn::Vec<DUint> Nearest(V value) {
    const auto single = hn::DemoteTo(DFloat(), value);
    return kBrain ? NearestBF16(single) : NearestF16(single);
  }
  static HWY_INLINE hn::Vec<DOut> Round(V value, V error, Difference& difference) {
    const V wider = hn::MulAdd(hn::Abs(value), hn::Set(D(), 0x1.01p-24), error);
    const auto low = Nearest(hn::Sub(value, wider)), high = Nearest(hn::Add(value, wider));
    difference = hn::Or(difference, hn::Xor(low, high));
    return hn::DemoteTo(DOut(), hn::BitCast(hn::Rebind<int32_t, D>(), high));
  }
};
using RoundF16 = RoundHalf<false>;
using RoundBF16 = RoundHalf<true>;

struct RoundF64 {
  using DOut = D;
  using Difference = hn::Vec<DUint64>;
  static constexpr bool kWide = true;
  static HWY_INLINE V Round(const Pair& value, V error, Difference& difference) {
    const V low = hn::Add(value.high, hn::Sub(value.low, error));
    const V high = hn::Add(value.high, hn::Add(value.low, error));
    difference =
        hn::Or(difference, hn::Xor(hn::BitCast(DUint64(), low), hn::BitCast(DUint64(), high)));
    return high;
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace posenc
HWY_AFTER_NAMESPACE();

#endif  // include guard per target
