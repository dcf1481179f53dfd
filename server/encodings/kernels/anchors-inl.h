// The anchors and phasors of tile.h for one target. tile-inl.h analyses their errors.

#if defined(POSENC_KERNELS_ANCHORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POSENC_KERNELS_ANCHORS_INL_H_
#undef POSENC_KERNELS_ANCHORS_INL_H_
#else
#define POSENC_KERNELS_ANCHORS_INL_H_
#endif

#include "hwy/highway.h"
#include "server/encodings/kernels/double_double-inl.h"
#include "server/encodings/kernels/tile.h"

HWY_BEFORE_NAMESPACE();
namespace posenc {
namespace HWY_NAMESPACE {

constexpr double kWideError = 0x1p-84;
constexpr double kNarrowStepError = 0x1p-61;
constexpr double kAnchorError = 0x1p-57;

HWY_INLINE V LoadD(const double* from) { return hn::LoadU(D(), from); }

// sin and cos of step + rest by the addition theorem: with x = rest, sin x = x + t, cos x = 1 − q,
// and q and t in double (below 2^-13.6, error 2^-64.6). The product of the step with x.high is
// exact and the other terms round to less: |δA| ≤ 2^-63. A sine is 2^-6.4 and more, and its error
// at most 2^-57 of it, or the step's own is 0; then sin x alone remains, good to 2^-64 of itself.
HWY_INLINE Complex AddAngle(const Complex& step, const Pair& x) {
  const D d;
  const V square = hn::Mul(x.high, x.high);
  const auto next = [&](double coefficient, V sum) {
    return hn::MulAdd(square, sum, hn::Set(d, coefficient));
  };
  const V p = next(-1.0 / 6, next(1.0 / 120, next(-1.0 / 5040, hn::Set(d, 1.0 / 362880))));
  const V r = next(0.5, next(-1.0 / 24, next(1.0 / 720, hn::Set(d, -1.0 / 40320))));
  const V t = hn::MulAdd(hn::Mul(x.high, square), p, x.low), q = hn::Mul(square, r);
  const auto part = [&](const Pair& own, const Pair& other) {  // own · cos x + other · sin x
    const Pair product = TwoProduct(other.high, x.high);
    const Pair sum = TwoSum(own.high, product.high);
    V low = hn::MulAdd(other.high, t, hn::MulAdd(other.low, x.high, own.low));
    low = hn::Add(hn::NegMulAdd(own.high, q, low), product.low);
    return QuickTwoSum(sum.high, hn::Add(sum.low, low));
  };
  return {part(step.cos, Negate(step.sin)), part(step.sin, step.cos)};
}

static void SetAnchorsOn(const ReducedAngles& angles, Factor magnitude, int64_t pairs,
                         Anchors& anchors) {
  const D d;
  const V m = hn::Set(d, magnitude.high), rest = hn::Set(d, magnitude.low);
  const auto scaled = [&](const Pair& part) {
    const Pair product = TwoProduct(part.high, m);
    const V low = hn::MulAdd(part.low, m, hn::MulAdd(part.high, rest, product.low));
    return QuickTwoSum(product.high, low);
  };
  for (int64_t k = 0; k < pairs; k += hn::Lanes(d)) {
    const Pair angle{LoadD(&angles.rest_high[k]), LoadD(&angles.rest_low[k])};
    const Complex anchor = AddAngle(LoadComplex(angles, k), angle);
    const Complex result{scaled(anchor.cos), scaled(anchor.sin)};
    StoreComplex(result, anchors, k);
    // A sine of 0 is that of a frequency of 0, or of position 0; neither has an error.
    hn::StoreU(hn::Mul(hn::Abs(result.sin.high), hn::Set(d, kAnchorError)), d, &anchors.drift[k]);
  }
}

static void AdvanceAnchorsOn(ElementType type, const PhasorArrays& step, const double* sin_bound,
                             double magnitude, int64_t pairs, Anchors& anchors) {
  const D d;
  const double step_error = type == ElementType::kF64 ? kWideError : kNarrowStepError;
  const V m = hn::Set(d, magnitude), error = hn::Set(d, step_error);
  for (int64_t k = 0; k < pairs; k += hn::Lanes(d)) {
    const Complex anchor = LoadComplex(anchors, k);
    const V size = hn::MulAdd(m, LoadD(sin_bound + k), hn::Abs(anchor.sin.high));
    hn::StoreU(hn::MulAdd(size, error, LoadD(&anchors.drift[k])), d, &anchors.drift[k]);
    StoreComplex(Normalize(Multiply(anchor, LoadComplex(step, k))), anchors, k);
  }
}

static void FillPowersOn(const PhasorArrays& first, int64_t pairs, int reach, int64_t stride,
                         int64_t low_stride, const PhasorRows& out) {
  const D d;
  for (int64_t k = 0; k < pairs; k += hn::Lanes(d)) {
    const Complex base = LoadComplex(first, k);
    const auto store = [&](const Complex& power, int row) {
      hn::StoreU(power.cos.high, d, out.cos_high + row * stride + k);
      hn::StoreU(power.sin.high, d, out.sin_high + row * stride + k);
      hn::StoreU(power.cos.low, d, out.cos_low + row * low_stride + k);
      hn::StoreU(power.sin.low, d, out.sin_low + row * low_stride + k);
    };
    Complex power = base;
    store(power, 1);
    for (int row = 2; row <= reach; ++row) {
      power = Normalize(Multiply(power, base));
      store(power, row);
    }
    power = Normalize(Multiply(power, power));
    store(Normalize(Multiply(power, base)), reach + 1);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace posenc
HWY_AFTER_NAMESPACE();

#endif  // include guard per target
