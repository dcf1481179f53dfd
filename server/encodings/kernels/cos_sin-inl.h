// The kernel of cos_sin.h for one target.
//
// Reduction: q = round(a · 2/π), r = a − q·π/2 with π/2 in three parts of 26, 26 and 53 bits. For
// |a| ≤ 2^26 the products with the first two are exact, and so are the differences: a is a multiple of
// 2^-24 where q is not 0, q·first of 2^-25, q·second of 2^-51, and all results are below 4. The third
// product and its subtraction round: |δr| ≤ 2^-81 + 2^-53·|r|, below 2^-50·|r| for |r| ≥ 2^-30; smaller
// ones are left undecided unless q is 0, where r is a itself.
// Series on |r| ≤ π/4 + 2^-20: the sine's first term left out is below 2^-44.9 of it, the cosine's below
// 2^-49; their roundings, with or without FMA, stay below 2^-51 of the result. Together: 2^-44 of the
// value. kError is 2^-42.

#if defined(POSENC_KERNELS_COS_SIN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POSENC_KERNELS_COS_SIN_INL_H_
#undef POSENC_KERNELS_COS_SIN_INL_H_
#else
#define POSENC_KERNELS_COS_SIN_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"
#include "server/encodings/kernels/double_double-inl.h"

HWY_BEFORE_NAMESPACE();
namespace posenc {
namespace HWY_NAMESPACE {

constexpr double kCosSinError = 0x1p-42;
constexpr double kCosSinLimit = 0x1p26;
constexpr double kHalfPi[3] = {0x1.921fb5p+0, 0x1.110b46p-26, 0x1.1a62633145c07p-54};

using DSingle = hn::Rebind<float, D>;
using DWord = hn::RebindToUnsigned<DSingle>;

HWY_INLINE V Constant(double value) { return hn::Set(D(), value); }

struct Quadrant {
  V rest;
  V error;  // relative, of both results; 1 where the reduction is of no use
  hn::Vec<hn::RebindToUnsigned<D>> number;  // its low two bits count
};

HWY_INLINE Quadrant Reduce(V angle) {
  constexpr double kMagic = 0x1.8p52;  // adding it rounds to whole numbers, which end in the low bits
  const V shifted = hn::MulAdd(angle, Constant(0x1.45f306dc9c883p-1), Constant(kMagic));
  const V q = hn::Sub(shifted, Constant(kMagic));
  V rest = hn::NegMulAdd(q, Constant(kHalfPi[0]), angle);
  rest = hn::NegMulAdd(q, Constant(kHalfPi[1]), rest);
  rest = hn::NegMulAdd(q, Constant(kHalfPi[2]), rest);
  const V zero = hn::Zero(D());
  const auto far = hn::Not(hn::Le(hn::Abs(angle), Constant(kCosSinLimit)));
  const auto tiny = hn::And(hn::Ne(q, zero), hn::Lt(hn::Abs(rest), Constant(0x1p-30)));
  const auto useless = hn::Or(far, tiny);
  // A rest of 1 keeps the series finite: their two ends then differ.
  return {hn::IfThenElse(useless, Constant(1), rest),
          hn::IfThenElse(useless, Constant(1), Constant(kCosSinError)),
          hn::BitCast(hn::RebindToUnsigned<D>(), shifted)};
}

HWY_INLINE V SineSeries(V r) {
  const V x = hn::Mul(r, r);
  V sum = Constant(1.0 / 6227020800);
  sum = hn::MulAdd(sum, x, Constant(-1.0 / 39916800));
  sum = hn::MulAdd(sum, x, Constant(1.0 / 362880));
  sum = hn::MulAdd(sum, x, Constant(-1.0 / 5040));
  sum = hn::MulAdd(sum, x, Constant(1.0 / 120));
  sum = hn::MulAdd(sum, x, Constant(-1.0 / 6));
  return hn::Mul(hn::MulAdd(sum, x, Constant(1)), r);  // keeps the sign of a zero
}

HWY_INLINE V CosineSeries(V r) {
  const V x = hn::Mul(r, r);
  V sum = Constant(-1.0 / 87178291200);
  sum = hn::MulAdd(sum, x, Constant(1.0 / 479001600));
  sum = hn::MulAdd(sum, x, Constant(-1.0 / 3628800));
  sum = hn::MulAdd(sum, x, Constant(1.0 / 40320));
  sum = hn::MulAdd(sum, x, Constant(-1.0 / 720));
  sum = hn::MulAdd(sum, x, Constant(1.0 / 24));
  sum = hn::MulAdd(sum, x, Constant(-0.5));
  return hn::MulAdd(sum, x, Constant(1));
}

// Stores the float and returns what is not 0 in undecided lanes.
HWY_INLINE hn::Vec<DWord> StoreRounded(V value, V error, float* to) {
  const V slack = hn::Mul(value, error);
  const auto low = hn::DemoteTo(DSingle(), hn::Sub(value, slack));
  const auto high = hn::DemoteTo(DSingle(), hn::Add(value, slack));
  hn::StoreU(low, DSingle(), to);
  return hn::BitCast(DWord(), hn::Xor(low, high));
}

// Changes the sign where bit 1 of `number` is set.
HWY_INLINE V WithSign(V value, hn::Vec<hn::RebindToUnsigned<D>> number) {
  const hn::RebindToUnsigned<D> d;
  const auto sign = hn::ShiftLeft<62>(hn::And(number, hn::Set(d, uint64_t{2})));
  return hn::BitCast(D(), hn::Xor(hn::BitCast(d, value), sign));
}

HWY_INLINE hn::Vec<DWord> CosSinVector(V angle, float* cos, float* sin) {
  const hn::RebindToUnsigned<D> d;
  const Quadrant quadrant = Reduce(angle);
  const V s = SineSeries(quadrant.rest), c = CosineSeries(quadrant.rest);
  const auto one = hn::Set(d, uint64_t{1});
  const auto odd = hn::RebindMask(D(), hn::Ne(hn::And(quadrant.number, one), hn::Zero(d)));
  const V cosine = WithSign(hn::IfThenElse(odd, s, c), hn::Add(quadrant.number, one));
  const V sine = WithSign(hn::IfThenElse(odd, c, s), quadrant.number);
  return hn::Or(StoreRounded(cosine, quadrant.error, cos), StoreRounded(sine, quadrant.error, sin));
}

static size_t WriteCosSinOn(const float* angles, size_t count, float* cos, float* sin,
                            uint32_t* undecided) {
  const size_t lanes = hn::Lanes(D());
  size_t listed = 0;
  for (size_t i = 0; i < count; i += lanes) {
    const V angle = hn::PromoteTo(D(), hn::LoadU(DSingle(), angles + i));
    const auto difference = CosSinVector(angle, cos + i, sin + i);
    if (HWY_LIKELY(hn::AllTrue(DWord(), hn::Eq(difference, hn::Zero(DWord()))))) continue;
    alignas(64) uint32_t words[HWY_MAX_BYTES / sizeof(double)];
    hn::StoreU(difference, DWord(), words);
    for (size_t lane = 0; lane < lanes && i + lane < count; ++lane) {
      if (words[lane] != 0) undecided[listed++] = static_cast<uint32_t>(i + lane);
    }
  }
  return listed;
}

}  // namespace HWY_NAMESPACE
}  // namespace posenc
HWY_AFTER_NAMESPACE();

#endif  // include guard per target
