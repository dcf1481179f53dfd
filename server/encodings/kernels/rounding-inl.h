// Rounding a vector of doubles, known to within an error, to elements.
//
// In doubt, twice: once at each end of the interval. A cheaper test of the bits comes first and
// leaves few in doubt: a value far enough from every midpoint is decided. Decided lanes hold the
// same bits at both ends, so every value between them rounds to these bits, and neither a tie nor
// double rounding can be hidden there. F16 and BF16 go by way of float, whose own rounding, 2^-24
// of the value and 2^-150 among subnormals, belongs to the error.

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

// Values narrower than a double fill a vector from two vectors of doubles; the scalar target has
// one lane.
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

using DInt = hn::RebindToSigned<DFloat>;

// One word for each double, its low 32 bits, in any order.
#if HWY_TARGET == HWY_SCALAR
HWY_INLINE hn::Vec<DUint> LowWords(const V (&value)[1]) {
  const uint64_t bits = hn::GetLane(hn::BitCast(DUint64(), value[0]));
  return hn::Set(DUint(), static_cast<uint32_t>(bits));
}
#else
HWY_INLINE hn::Vec<DUint> LowWords(const V (&value)[2]) {
  const DUint d;
  const auto odd = hn::BitCast(d, hn::ShiftLeft<32>(hn::BitCast(DUint64(), value[1])));
  return hn::OddEven(odd, hn::BitCast(d, value[0]));
}
#endif

// The bits below an element's last place as a signed number that is least, INT32_MIN and a little,
// within kReach of the midpoint between two elements. kBits: how many these bits are.
template <int kBits, int32_t kReach>
HWY_INLINE hn::Vec<DInt> AboveMidpoint(hn::Vec<DUint> bits) {
  constexpr uint32_t kHalf = 1u << (kBits - 1);
  const auto moved =
      hn::Set(DUint(), ((static_cast<uint32_t>(kReach) - kHalf) << (32 - kBits)) + 0x80000000u);
  return hn::BitCast(DInt(), hn::Add(hn::ShiftLeft<32 - kBits>(bits), moved));
}

template <int kBits, int32_t kReach>
constexpr int32_t kNearMidpoint = INT32_MIN + ((2 * kReach + 1) << (32 - kBits));

// Each element type says: the tag of its elements (as floats or bits), whether products are in
// double-double (kWide), and how to round. The others further say
//  * FromFloat: the nearest element, from the nearest float (good where the value is decided);
//  * Margin, kLeastMargin: below it the value may be undecided. Above it the value is decided, if
//  its
//    error is below 2^-40 of it, 2^13 last places of a double, and it is at least kLeastNormal;
//  * Difference: not 0 in the lanes that are undecided, by rounding both ends.
struct RoundF32 {
  using DOut = DFloat;
  using DDifference = DUint;
  using Error = double;
  static constexpr bool kWide = false;
  static constexpr int32_t kLeastMargin = kNearMidpoint<29, 1 << 13>;
  static constexpr double kLeastNormal = 0x1p-126;
  static HWY_INLINE hn::Vec<DOut> FromFloat(hn::Vec<DFloat> value) { return value; }
  static HWY_INLINE hn::Vec<DInt> Margin(const V (&value)[kParts], hn::Vec<DFloat>) {
    return AboveMidpoint<29, 1 << 13>(LowWords(value));
  }
  static HWY_INLINE hn::Vec<DUint> Difference(const V (&value)[kParts], const double* error) {
    V low[kParts], high[kParts];
    for (int i = 0; i < kParts; ++i) {
      const V e = hn::LoadU(D(), error + i * hn::Lanes(D()));
      low[i] = hn::Sub(value[i], e);
      high[i] = hn::Add(value[i], e);
    }
    return hn::Xor(AsBits(ToFloat(low)), AsBits(ToFloat(high)));
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
  // 0.5 has a last place of 2^-24, the step of subnormals. Magnitudes from 65536 on become
  // infinite.
  const auto size = hn::Min(hn::And(bits, hn::Set(d, 0x7FFFFFFFu)), hn::Set(d, 0x47800000u));
  const auto shifted = hn::Add(hn::BitCast(DFloat(), size), hn::Set(DFloat(), 0.5f));
  const auto subnormal = hn::Sub(AsBits(shifted), hn::Set(d, 0x3F000000u));
  const auto normal = hn::ShiftRight<13>(hn::Sub(size, hn::Set(d, 0x38000000u - 0x1000u)));
  const auto small = hn::Lt(hn::BitCast(DFloat(), size), hn::Set(DFloat(), 0x1p-14f));
  return hn::Or(sign, hn::IfThenElse(hn::RebindMask(d, small), subnormal, normal));
}

// The float is within half its last place of the value, and so little beyond that it decides unless
// its low bits are those of a midpoint; two places of reach leave no doubt. For Difference, the
// float's own rounding and that of the two ends add 2^-23 of the value to the error.
template <bool kBrain>
struct RoundHalf {
  using DOut = hn::Rebind<uint16_t, DFloat>;
  using DDifference = DUint;
  using Error = float;
  static constexpr bool kWide = false;
  static constexpr int kBits = kBrain ? 16 : 13;
  static constexpr int32_t kLeastMargin = kNearMidpoint<kBits, 2>;
  static constexpr double kLeastNormal = kBrain ? 0x1p-126 : 0x1p-14;
  static HWY_INLINE hn::Vec<DUint> Nearest(hn::Vec<DFloat> value) {
    return kBrain ? NearestBF16(value) : NearestF16(value);
  }
  static HWY_INLINE hn::Vec<DOut> FromFloat(hn::Vec<DFloat> value) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
    if constexpr (!kBrain) {
      return hn::BitCast(DOut(), hn::DemoteTo(hn::Rebind<hwy::float16_t, DFloat>(), value));
    }
#endif
    return hn::DemoteTo(DOut(), hn::BitCast(DInt(), Nearest(value)));
  }
  static HWY_INLINE hn::Vec<DInt> Margin(const V (&)[kParts], hn::Vec<DFloat> single) {
    return AboveMidpoint<kBits, 2>(AsBits(single));
  }
  static HWY_INLINE hn::Vec<DUint> Difference(const V (&value)[kParts], const float* error) {
    const DFloat d;
    const auto single = ToFloat(value);
    const auto wider = hn::MulAdd(hn::Abs(single), hn::Set(d, 0x1.02p-23f), hn::LoadU(d, error));
    return hn::Xor(Nearest(hn::Sub(single, wider)), Nearest(hn::Add(single, wider)));
  }
};
using RoundF16 = RoundHalf<false>;
using RoundBF16 = RoundHalf<true>;

struct RoundF64 {
  using DOut = D;
  using DDifference = DUint64;
  using Error = double;
  static constexpr bool kWide = true;
  // The element, and in `difference` what is not 0 in undecided lanes.
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
