// Turns anchors by the tile's phasors: the numbers of one or two rows, before they are rounded.

#if defined(POSENC_KERNELS_TURN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POSENC_KERNELS_TURN_INL_H_
#undef POSENC_KERNELS_TURN_INL_H_
#else
#define POSENC_KERNELS_TURN_INL_H_
#endif

#include <cstdint>
#include <type_traits>

#include "hwy/highway.h"
#include "server/encodings/kernels/double_double-inl.h"
#include "server/encodings/kernels/rounding-inl.h"
#include "server/encodings/kernels/tile.h"

HWY_BEFORE_NAMESPACE();
namespace posenc {
namespace HWY_NAMESPACE {

// The numbers of one step along a row, before they are rounded: double-double or double.
struct Wide {
  static constexpr int kCount = 1;
  Pair cos[1], sin[1];
};
struct Narrow {
  static constexpr int kCount = kParts;
  V cos[kParts], sin[kParts];
};
template <class Rounding>
using Numbers = std::conditional_t<Rounding::kWide, Wide, Narrow>;

// Which rows a step writes: one behind the anchor's row (on) or one before it (back), or two.
enum class Way : uint8_t { kOn, kBack, kBoth, kTwoOn, kTwoBack };
constexpr bool FirstIsBack(Way way) { return way == Way::kBack || way == Way::kTwoBack; }
constexpr bool SecondIsBack(Way way) { return way == Way::kBoth || way == Way::kTwoBack; }
constexpr bool HasSecond(Way way) { return way != Way::kOn && way != Way::kBack; }

// A row on, A · P, or back, A · P̄, whose phasors are at `at`; its part i.
template <bool kBack>
HWY_INLINE void TurnPart(V a, V b, const PhasorArrays& phasors, int64_t at, int i, Narrow& row) {
  const V c = LoadD(phasors.cos_high + at), s = LoadD(phasors.sin_high + at);
  const V ac = hn::Mul(a, c), bc = hn::Mul(b, c);
  row.cos[i] = kBack ? hn::MulAdd(b, s, ac) : hn::NegMulAdd(b, s, ac);
  row.sin[i] = kBack ? hn::NegMulAdd(a, s, bc) : hn::MulAdd(a, s, bc);
}

template <Way kWay>
HWY_INLINE void Turn(const Anchors& anchors, const PhasorArrays& phasors, int64_t k, int64_t first_at,
                     int64_t second_at, Narrow& first, Narrow& second) {
  for (int i = 0; i < kParts; ++i) {
    const int64_t j = i * static_cast<int64_t>(hn::Lanes(D()));
    const V a = LoadD(&anchors.cos_high[k + j]), b = LoadD(&anchors.sin_high[k + j]);
    TurnPart<FirstIsBack(kWay)>(a, b, phasors, first_at + j, i, first);
    if constexpr (HasSecond(kWay)) TurnPart<SecondIsBack(kWay)>(a, b, phasors, second_at + j, i, second);
  }
}

// Two rows are as far from the anchor's, so that they have the same four products.
template <Way kWay>
HWY_INLINE void Turn(const Anchors& anchors, const PhasorArrays& phasors, int64_t k, int64_t at, int64_t,
                     Wide& first, Wide& second) {
  static_assert(kWay == Way::kOn || kWay == Way::kBack || kWay == Way::kBoth);
  const Complex a = LoadComplex(anchors, k), p = LoadComplex(phasors, at);
  const Pair ac = Product(a.cos, p.cos), bs = Product(a.sin, p.sin);
  const Pair bc = Product(a.sin, p.cos), as = Product(a.cos, p.sin);
  Wide& back = kWay == Way::kBack ? first : second;
  if constexpr (kWay != Way::kOn) back.cos[0] = Sum(ac, bs), back.sin[0] = Sum(bc, Negate(as));
  if constexpr (kWay != Way::kBack) first.cos[0] = Sum(ac, Negate(bs)), first.sin[0] = Sum(bc, as);
}

}  // namespace HWY_NAMESPACE
}  // namespace posenc
HWY_AFTER_NAMESPACE();

#endif  // include guard per target
