// Rounding a vector of doubles, known to within an error, to elements: once at each end of the interval.
//
// Decided lanes hold the same bits at both ends, so every value between them rounds to these bits, and
// neither a tie nor double rounding can be hidden there. F16 and BF16 go by way of float, whose own rounding,
// 2^-24 of the value and 2^-150 among subnormals, belongs to the error.

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

// Values narrower than a double fill a vector from two vectors of doubles; the scalar target has one lane.
#if HWY_TARGET == HWY_SCALAR
constexpr int kParts = 1;
using DFloat = hn::Rebind<float, D>;
HWY_INLINE hn::Vec<DFloat> ToFloat(const V (&value)[1]) { return hn::DemoteTo(DFloat(), value[0]); }
#else
constexpr int kParts = 2;
using DFloat = hn::ScalableTag<float>;
HWY_INLINE hn::Vec<DFloat> ToFloat(const V (&value)[2]) {
  const hn::Half<DFloat> half;
  return hn::Combine(DFloat(), hn::DemoteTo(half, value[1]), hn::DemoteTo(half, value[0]));
}
#endif
using DUint = hn::RebindToUnsigned<DFloat>;
using DUint64 = hn::RebindToUnsigned<D>;

HWY_INLINE hn::Vec<DUint> AsBits(hn::Vec<DFloat> value) { return hn::BitCast(DUint(), value); }

// Each element type says: the tag of its elements (as floats or bits), whether products are in double-double
// (kWide), the type that errors are kept in, and how to round. `difference` is not 0 in the lanes that are
// undecided.
struct RoundF32 {
  using DOut = DFloat;
  using DDifference = DUint;
  using Error = double;
  static constexpr bool kWide = false;
  static HWY_INLINE hn::Vec<DOut> Round(const V (&value)[kParts], const double* error,
                                        hn::Vec<DUint>& difference) {
    V low[kParts], high[kParts];
    for (int i = 0; i < kParts; ++i) {
      const V e = hn::LoadU(D(), error + i * hn::Lanes(D()));
      low[i] = hn::Sub(value[i], e);
      high[i] = hn::Add(value[i], e);
    }
    const auto result = ToFloat(high);
    difference = hn::Or(difference, hn::Xor(AsBits(ToFloat(low)), AsBits(result)));
    return result;
  }
};

// The nearest BF16 and F16 of floats, in the low halves; a tie may go either way.
HWY_INLINE hn::Vec<DUint> NearestBF16(hn::Vec<DFloat> value) {
  return hn::ShiftRight<16>(hn::Add(AsBits(value), hn::Set(DUint(), 0x8000u)));
}

HWY_INLINE hn::Vec<DUint> NearestF16(hn::Vec<DFloat> value) {
  const DUint d;
  const auto bits = AsBits(value);
  const auto sign = hn::And(hn::ShiftRight<16>(bits), hn::Set(d, 0x8000u));
  // 0.5 has a last place of 2^-24, the step of subnormals. Magnitudes from 65536 on become infinite.
  const auto size = hn::Min(hn::And(bits, hn::Set(d, 0x7FFFFFFFu)), hn::Set(d, 0x47800000u));
  const auto shifted = hn::Add(hn::BitCast(DFloat(), size), hn::Set(DFloat(), 0.5f));
  const auto subnormal = hn::Sub(AsBits(shifted), hn::Set(d, 0x3F000000u));
  const auto normal = hn::ShiftRight<13>(hn::Sub(size, hn::Set(d, 0x38000000u - 0x1000u)));
  const auto small = hn::Lt(hn::BitCast(DFloat(), size), hn::Set(DFloat(), 0x1p-14f));
  return hn::Or(sign, hn::IfThenElse(hn::RebindMask(d, small), subnormal, normal));
}

// The float's own rounding and that of the two ends add 2^-23 of the value to the error.
template <bool kBrain>
struct RoundHalf {
  using DOut = hn::Rebind<uint16_t, DFloat>;
  using DDifference = DUint;
  using Error = float;
  static constexpr bool kWide = false;
  static HWY_INLINE hn::Vec<DUint> Nearest(hn::Vec<DFloat> value) {
    return kBrain ? NearestBF16(value) : NearestF16(value);
  }
  static HWY_INLINE hn::Vec<DOut> Round(const V (&value)[kParts], const float* error,
                                        hn::Vec<DUint>& difference) {
    const DFloat d;
    const auto single = ToFloat(value);
    const auto wider = hn::MulAdd(hn::Abs(single), hn::Set(d, 0x1.02p-23f), hn::LoadU(d, error));
    const auto low = Nearest(hn::Sub(single, wider)), high = Nearest(hn::Add(single, wider));
    difference = hn::Or(difference, hn::Xor(low, high));
    return hn::DemoteTo(DOut(), hn::BitCast(hn::RebindToSigned<DUint>(), high));
  }
};
using RoundF16 = RoundHalf<false>;
using RoundBF16 = RoundHalf<true>;

struct RoundF64 {
  using DOut = D;
  using DDifference = DUint64;
  using Error = double;
  static constexpr bool kWide = true;
  static HWY_INLINE V Round(const Pair& value, const double* error, hn::Vec<DUint64>& difference) {
    const V e = hn::LoadU(D(), error);
    const V low = hn::Add(value.high, hn::Sub(value.low, e));
    const V high = hn::Add(value.high, hn::Add(value.low, e));
    difference =
        hn::Or(difference, hn::Xor(hn::BitCast(DUint64(), low), hn::BitCast(DUint64(), high)));
    return high;
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace posenc
HWY_AFTER_NAMESPACE();

#endif  // include guard per target
