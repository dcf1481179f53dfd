// Rounding vectors of doubles, known to within an error, to elements.
//
// Twice: a quick test of the bits of the vectors that a step has stored, which leaves few of them in doubt,
// then, for a vector in doubt, each cell by itself: rounded at both ends of its error interval. Ends that
// agree decide the cell, since every value between them has these bits; F16 and BF16 go by way of a float
// that is rounded to odd, so that no double rounding hides there. Any other cell is reported.

#if defined(POSENC_KERNELS_ROUNDING_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POSENC_KERNELS_ROUNDING_INL_H_
#undef POSENC_KERNELS_ROUNDING_INL_H_
#else
#define POSENC_KERNELS_ROUNDING_INL_H_
#endif

#include <bit>
#include <cmath>
#include <cstdint>

#include "hwy/highway.h"
#include "server/encodings/float32/float32_elements.h"
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
using DInt = hn::RebindToSigned<DFloat>;
using DUint64 = hn::RebindToUnsigned<D>;

HWY_INLINE hn::Vec<DUint> AsBits(hn::Vec<DFloat> value) { return hn::BitCast(DUint(), value); }

// One word for each double, its low 32 bits: in the order of ToFloat, or in any, which is faster.
template <bool kInOrder>
HWY_INLINE hn::Vec<DUint> LowWords(const V (&value)[kParts]) {
#if HWY_TARGET == HWY_SCALAR
  const uint64_t bits = hn::GetLane(hn::BitCast(DUint64(), value[0]));
  return hn::Set(DUint(), static_cast<uint32_t>(bits));
#else
  const DUint d;
#if HWY_TARGET == HWY_AVX2
  if constexpr (!kInOrder) {
    const __m256 a = _mm256_castpd_ps(value[0].raw), b = _mm256_castpd_ps(value[1].raw);
    return hn::Vec<DUint>{_mm256_castps_si256(_mm256_shuffle_ps(a, b, 0x88))};
  }
#endif
  return hn::ConcatEven(d, hn::BitCast(d, value[1]), hn::BitCast(d, value[0]));
#endif
}

// The lowest kBits bits as a signed number that is least, INT32_MIN and a little, where they are within
// kReach of 10…0, the midpoint between two elements.
template <int kBits, int32_t kReach>
HWY_INLINE hn::Vec<DInt> AboveMidpoint(hn::Vec<DUint> bits) {
  const auto shifted = hn::ShiftLeft<32 - kBits>(bits);
  if constexpr (kReach == 0) return hn::BitCast(DInt(), shifted);
  return hn::BitCast(DInt(), hn::Add(shifted, hn::Set(DUint(), uint32_t{kReach} << (32 - kBits))));
}

template <int kBits, int32_t kReach>
constexpr int32_t kNearMidpoint = INT32_MIN + ((2 * kReach + 1) << (32 - kBits));

// Each element type says: the tag of its elements (as floats or bits), whether products are in
// double-double (kWide) or first in float (kSingle), and Nearest, the bits nearest to a double that is no
// tie. The others further say
//  * FromFloat: the nearest element, from the nearest float, good where the value is decided;
//  * Margin, kLeastMargin: below it the value may be undecided (the lanes are the floats' if kInOrder). Above it
//    the value is decided, if its error is below 1 / kPlaces of it and it is at least kLeastNormal.
struct RoundF64 {
  using DOut = D;
  static constexpr bool kWide = true, kSingle = false;
  static uint64_t Nearest(double value) { return std::bit_cast<uint64_t>(value); }
};

// An error of 2^-38 of the value is 2^15 last places of a double.
struct RoundF32 {
  using DOut = DFloat;
  static constexpr bool kWide = false, kSingle = false;
  static constexpr int32_t kReach = 1 << 15;
  static constexpr int32_t kLeastMargin = kNearMidpoint<29, kReach>;
  static constexpr double kPlaces = 0x1p38;
  static constexpr double kLeastNormal = 0x1p-126;
  static uint32_t Nearest(double value) { return std::bit_cast<uint32_t>(static_cast<float>(value)); }
  static HWY_INLINE hn::Vec<DOut> FromFloat(hn::Vec<DFloat> value) { return value; }
  template <bool kInOrder>
  static HWY_INLINE hn::Vec<DInt> Margin(const V (&value)[kParts], hn::Vec<DFloat>) {
    return AboveMidpoint<29, kReach>(LowWords<kInOrder>(value));
  }
};

// The float next to `value` whose last bit is odd, or `value` if it is a float: rounding it once more to fewer
// bits gives what rounding `value` gives.
inline float RoundedToOdd(double value) {
  const auto single = static_cast<float>(value);
  const auto bits = std::bit_cast<uint32_t>(single);
  if (static_cast<double>(single) == value || (bits & 1) != 0) return single;
  return std::bit_cast<float>(std::fabs(static_cast<double>(single)) < std::fabs(value) ? bits + 1 : bits - 1);
}

// The nearest BF16 and F16 of floats, ties to even, in the low halves.
template <int kBits>
HWY_INLINE hn::Vec<DUint> WithoutLowBits(hn::Vec<DUint> bits) {
  const DUint d;
  const auto odd = hn::And(hn::ShiftRight<kBits>(bits), hn::Set(d, 1u));
  return hn::ShiftRight<kBits>(hn::Add(hn::Add(bits, odd), hn::Set(d, (1u << (kBits - 1)) - 1)));
}

HWY_INLINE hn::Vec<DUint> NearestBF16s(hn::Vec<DFloat> value) { return WithoutLowBits<16>(AsBits(value)); }

HWY_INLINE hn::Vec<DUint> NearestF16s(hn::Vec<DFloat> value) {
  const DUint d;
  const auto bits = AsBits(value);
  const auto sign = hn::And(hn::ShiftRight<16>(bits), hn::Set(d, 0x8000u));
  // 0.5 has a last place of 2^-24, the step of subnormals. Magnitudes from 65536 on become
  // infinite.
  const auto size = hn::Min(hn::And(bits, hn::Set(d, 0x7FFFFFFFu)), hn::Set(d, 0x47800000u));
  const auto shifted = hn::Add(hn::BitCast(DFloat(), size), hn::Set(DFloat(), 0.5f));
  const auto subnormal = hn::Sub(AsBits(shifted), hn::Set(d, 0x3F000000u));
  const auto normal = WithoutLowBits<13>(hn::Sub(size, hn::Set(d, 0x38000000u)));
  const auto small = hn::Lt(hn::BitCast(DFloat(), size), hn::Set(DFloat(), 0x1p-14f));
  return hn::Or(sign, hn::IfThenElse(hn::RebindMask(d, small), subnormal, normal));
}

// The float is within half its last place of the double, and the double within 2^-2 places of the value: less
// than one in all. So a float that is no midpoint itself lies on the value's side of every midpoint.
template <bool kBrain>
struct RoundHalf {
  using DOut = hn::Rebind<uint16_t, DFloat>;
  static constexpr bool kWide = false, kSingle = kBrain;
  static constexpr int kBits = kBrain ? 16 : 13;
  static constexpr int32_t kLeastMargin = kNearMidpoint<kBits, 0>;
  static constexpr double kPlaces = 0x1p26;
  static constexpr double kLeastNormal = kBrain ? 0x1p-126 : 0x1p-14;
  static uint16_t Nearest(double value) {
    const float odd = RoundedToOdd(value);
    return static_cast<uint16_t>(kBrain ? BF16Of(odd) : F16Of(odd));
  }
  static HWY_INLINE hn::Vec<DOut> FromFloat(hn::Vec<DFloat> value) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
    if constexpr (!kBrain) {
      return hn::BitCast(DOut(), hn::DemoteTo(hn::Rebind<hwy::float16_t, DFloat>(), value));
    }
#endif
    return hn::DemoteTo(DOut(), hn::BitCast(DInt(), kBrain ? NearestBF16s(value) : NearestF16s(value)));
  }
  template <bool>
  static HWY_INLINE hn::Vec<DInt> Margin(const V (&)[kParts], hn::Vec<DFloat> single) {
    return AboveMidpoint<kBits, 0>(AsBits(single));
  }
};
using RoundF16 = RoundHalf<false>;
using RoundBF16 = RoundHalf<true>;

}  // namespace HWY_NAMESPACE
}  // namespace posenc
HWY_AFTER_NAMESPACE();

#endif  // include guard per target
