// Double-double arithmetic on vectors of doubles: unevaluated sums high + low.
//
// Error of a complex product, u = 2^-53: the products of the high halves and their sum are exact
// (as pairs); what rounds is the sum of low parts, about ten operations on terms of at most 4u ·
// (|a||c| + |b||d|), and low · low is left out. In all less than 44 u² < 2^-100 of |a||c| + |b||d|.

#if defined(POSENC_KERNELS_DOUBLE_DOUBLE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POSENC_KERNELS_DOUBLE_DOUBLE_INL_H_
#undef POSENC_KERNELS_DOUBLE_DOUBLE_INL_H_
#else
#define POSENC_KERNELS_DOUBLE_DOUBLE_INL_H_
#endif

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace posenc {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;

struct Pair {
  V high;
  V low;
};

HWY_INLINE Pair TwoSum(V a, V b) {
  const V sum = hn::Add(a, b);
  const V rest = hn::Sub(sum, a);
  return {sum, hn::Add(hn::Sub(a, hn::Sub(sum, rest)), hn::Sub(b, rest))};
}

// Requires: |a| ≥ |b|, or a = 0.
HWY_INLINE Pair QuickTwoSum(V a, V b) {
  const V sum = hn::Add(a, b);
  return {sum, hn::Sub(b, hn::Sub(sum, a))};
}

#if HWY_NATIVE_FMA
HWY_INLINE Pair TwoProduct(V a, V b) {
  const V product = hn::Mul(a, b);
  return {product, hn::MulSub(a, b, product)};
}
#else
// Dekker 1971, with Veltkamp's split. Exact for factors below 2^970 whose product is above 2^-960.
HWY_INLINE Pair Split(V a) {
  const V scaled = hn::Mul(a, hn::Set(D(), 134217729.0));
  const V high = hn::Sub(scaled, hn::Sub(scaled, a));
  return {high, hn::Sub(a, high)};
}

HWY_INLINE Pair TwoProduct(V a, V b) {
  const V product = hn::Mul(a, b);
  const Pair x = Split(a), y = Split(b);
  const V head = hn::Sub(hn::Mul(x.high, y.high), product);
  const V mixed = hn::Add(hn::Add(head, hn::Mul(x.high, y.low)), hn::Mul(x.low, y.high));
  return {product, hn::Add(mixed, hn::Mul(x.low, y.low))};
}
#endif

struct Complex {
  Pair cos;
  Pair sin;
};

// Neither is normalised: the high half of the result is the rounded product or sum of the high halves.
HWY_INLINE Pair Product(const Pair& a, const Pair& b) {
  const Pair product = TwoProduct(a.high, b.high);
  return {product.high, hn::MulAdd(a.high, b.low, hn::MulAdd(a.low, b.high, product.low))};
}

HWY_INLINE Pair Sum(const Pair& a, const Pair& b) {
  const Pair sum = TwoSum(a.high, b.high);
  return {sum.high, hn::Add(sum.low, hn::Add(a.low, b.low))};
}

HWY_INLINE Pair Negate(const Pair& a) { return {hn::Neg(a.high), hn::Neg(a.low)}; }

// a · b, its parts as Sum leaves them.
HWY_INLINE Complex Multiply(const Complex& a, const Complex& b) {
  return {Sum(Product(a.cos, b.cos), Negate(Product(a.sin, b.sin))),
          Sum(Product(a.cos, b.sin), Product(a.sin, b.cos))};
}

HWY_INLINE Complex Normalize(const Complex& a) {
  return {QuickTwoSum(a.cos.high, a.cos.low), QuickTwoSum(a.sin.high, a.sin.low)};
}

template <typename Arrays>
HWY_INLINE Complex LoadComplex(const Arrays& from, int64_t k) {
  const D d;
  return {{hn::LoadU(d, &from.cos_high[k]), hn::LoadU(d, &from.cos_low[k])},
          {hn::LoadU(d, &from.sin_high[k]), hn::LoadU(d, &from.sin_low[k])}};
}

template <typename Arrays>
HWY_INLINE void StoreComplex(const Complex& value, Arrays& to, int64_t k) {
  const D d;
  hn::StoreU(value.cos.high, d, &to.cos_high[k]);
  hn::StoreU(value.cos.low, d, &to.cos_low[k]);
  hn::StoreU(value.sin.high, d, &to.sin_high[k]);
  hn::StoreU(value.sin.low, d, &to.sin_low[k]);
}

}  // namespace HWY_NAMESPACE
}  // namespace posenc
HWY_AFTER_NAMESPACE();

#endif  // include guard per target
