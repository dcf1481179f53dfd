// The loops of ops_kernels.h for one instruction set.
//
// Elements become floats, are calculated with, and are rounded once. Nothing here is fused:
// HWY_SCALAR's MulAdd would round twice where other targets' rounds once. What is left of a row
// after whole vectors is done by shorter vectors, down to one lane, so that no lane is outside of
// the memory.

#if defined(POSENC_CLIENT_OPS_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POSENC_CLIENT_OPS_KERNELS_INL_H_
#undef POSENC_CLIENT_OPS_KERNELS_INL_H_
#else
#define POSENC_CLIENT_OPS_KERNELS_INL_H_
#endif

#include <limits>

#include "client/ops/kernels.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace posenc {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class D>
using Bits = hn::RebindToUnsigned<D>;

// The float of the 16 bits in each word, and the 16 bits nearest to a float, ties to even.
template <class D>
HWY_INLINE hn::Vec<D> FromWords(D d, BFloat16, hn::Vec<Bits<D>> words) {
  return hn::BitCast(d, hn::ShiftLeft<16>(words));
}

template <class D>
HWY_INLINE hn::Vec<D> FromWords(D d, Half, hn::Vec<Bits<D>> words) {
  const Bits<D> bits;
  const auto sign = hn::ShiftLeft<16>(hn::And(words, hn::Set(bits, 0x8000u)));
  const auto magnitude = hn::And(words, hn::Set(bits, 0x7fffu));
  const auto shifted = hn::ShiftLeft<13>(magnitude);
  const auto normal = hn::Add(shifted, hn::Set(bits, 112u << 23));
  // Subnormal numbers are made by a subtraction, which is exact even where the process flushes such
  // floats.
  const auto base = hn::Set(bits, 113u << 23);
  const auto subnormal =
      hn::BitCast(bits, hn::Sub(hn::BitCast(d, hn::Add(shifted, base)), hn::BitCast(d, base)));
  const auto special = hn::Add(normal, hn::Set(bits, 112u << 23));
  const auto finite = hn::IfThenElse(hn::Lt(magnitude, hn::Set(bits, 0x400u)), subnormal, normal);
  const auto result = hn::IfThenElse(hn::Lt(magnitude, hn::Set(bits, 0x7c00u)), finite, special);
  return hn::BitCast(d, hn::Or(result, sign));
}

template <class D>
HWY_INLINE hn::Vec<Bits<D>> ToWords(D, BFloat16, hn::Vec<D> value) {
  const Bits<D> bits;
  const auto v = hn::BitCast(bits, value);
  const auto odd = hn::And(hn::ShiftRight<16>(v), hn::Set(bits, 1u));
  const auto rounded = hn::ShiftRight<16>(hn::Add(v, hn::Add(odd, hn::Set(bits, 0x7fffu))));
  const auto nan = hn::Or(hn::ShiftRight<16>(v), hn::Set(bits, 0x40u));
  return hn::IfThenElse(hn::RebindMask(bits, hn::Eq(value, value)), rounded, nan);
}

template <class D>
HWY_INLINE hn::Vec<Bits<D>> ToWords(D d, Half, hn::Vec<D> value) {
  const Bits<D> bits;
  const auto v = hn::BitCast(bits, value);
  const auto sign = hn::And(hn::ShiftRight<16>(v), hn::Set(bits, 0x8000u));
  const auto size = hn::And(v, hn::Set(bits, 0x7fffffffu));
  const auto odd = hn::And(hn::ShiftRight<13>(size), hn::Set(bits, 1u));
  const auto carried = hn::ShiftRight<13>(hn::Add(size, hn::Add(odd, hn::Set(bits, 0xfffu))));
  const auto normal = hn::Min(hn::Sub(carried, hn::Set(bits, 112u << 10)), hn::Set(bits, 0x7c00u));
  // 0.5 has a last place of 2^-24, the step of subnormals; the addition rounds.
  const auto moved = hn::Add(hn::BitCast(d, size), hn::Set(d, 0.5f));
  const auto subnormal = hn::Sub(hn::BitCast(bits, moved), hn::Set(bits, 0x3f000000u));
  const auto nan =
      hn::Or(hn::Set(bits, 0x7e00u), hn::And(hn::ShiftRight<13>(size), hn::Set(bits, 0x3ffu)));
  const auto small = hn::Lt(size, hn::Set(bits, 0x38800000u));
  const auto number = hn::IfThenElse(small, subnormal, normal);
  return hn::Or(sign, hn::IfThenElse(hn::RebindMask(bits, hn::Eq(value, value)), number, nan));
}

// Loads and stores of elements next to each other.
template <class D>
HWY_INLINE hn::Vec<D> LoadElements(D d, const float* from) {
  return hn::LoadU(d, from);
}

template <class D>
HWY_INLINE void StoreElements(D d, hn::Vec<D> value, float* to) {
  hn::StoreU(value, d, to);
}

template <class D, class T>
HWY_INLINE hn::Vec<D> LoadElements(D d, const T* from) {
  const auto halves = hn::LoadU(hn::Rebind<uint16_t, D>(), reinterpret_cast<const uint16_t*>(from));
  return FromWords(d, T(), hn::PromoteTo(Bits<D>(), halves));
}

template <class D, class T>
HWY_INLINE void StoreElements(D d, hn::Vec<D> value, T* to) {
  const auto words = hn::BitCast(hn::RebindToSigned<D>(), ToWords(d, T(), value));
  const hn::Rebind<uint16_t, D> narrow;
  hn::StoreU(hn::DemoteTo(narrow, words), narrow, reinterpret_cast<uint16_t*>(to));
}

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
// These have instructions for it, with the same result.
template <class D>
HWY_INLINE hn::Vec<D> LoadElements(D d, const Half* from) {
  const hn::Rebind<hwy::float16_t, D> half;
  const auto halves = hn::LoadU(hn::Rebind<uint16_t, D>(), reinterpret_cast<const uint16_t*>(from));
  return hn::PromoteTo(d, hn::BitCast(half, halves));
}

template <class D>
HWY_INLINE void StoreElements(D, hn::Vec<D> value, Half* to) {
  const hn::Rebind<uint16_t, D> narrow;
  const auto halves = hn::DemoteTo(hn::Rebind<hwy::float16_t, D>(), value);
  hn::StoreU(hn::BitCast(narrow, halves), narrow, reinterpret_cast<uint16_t*>(to));
}
#endif

// Loads and stores of pairs next to each other.
template <class D>
HWY_INLINE void LoadTwo(D d, const float* from, hn::Vec<D>& a, hn::Vec<D>& b) {
  hn::LoadInterleaved2(d, from, a, b);
}

template <class D>
HWY_INLINE void StoreTwo(D d, hn::Vec<D> a, hn::Vec<D> b, float* to) {
  hn::StoreInterleaved2(a, b, d, to);
}

#if HWY_TARGET == HWY_SCALAR
template <class D, class T>
HWY_INLINE void LoadTwo(D d, const T* from, hn::Vec<D>& a, hn::Vec<D>& b) {
  a = LoadElements(d, from);
  b = LoadElements(d, from + 1);
}

template <class D, class T>
HWY_INLINE void StoreTwo(D d, hn::Vec<D> a, hn::Vec<D> b, T* to) {
  StoreElements(d, a, to);
  StoreElements(d, b, to + 1);
}
#else
template <class D, class T>
HWY_INLINE void LoadTwo(D d, const T* from, hn::Vec<D>& a, hn::Vec<D>& b) {
  const Bits<D> bits;
  const hn::Repartition<uint16_t, D> narrow;
  const auto words = hn::BitCast(bits, hn::LoadU(narrow, reinterpret_cast<const uint16_t*>(from)));
  a = FromWords(d, T(), hn::And(words, hn::Set(bits, 0xffffu)));
  b = FromWords(d, T(), hn::ShiftRight<16>(words));
}

template <class D, class T>
HWY_INLINE void StoreTwo(D d, hn::Vec<D> a, hn::Vec<D> b, T* to) {
  const hn::Repartition<uint16_t, D> narrow;
  const auto words = hn::Or(ToWords(d, T(), a), hn::ShiftLeft<16>(ToWords(d, T(), b)));
  hn::StoreU(hn::BitCast(narrow, words), narrow, reinterpret_cast<uint16_t*>(to));
}
#endif

// Runs `loop` from element 0 on: with whole vectors, then with shorter ones. loop.Step(d, i) does
// the elements from i on, as many as d has lanes.
template <class D, class Loop>
HWY_INLINE void Steps(D d, int64_t size, int64_t& i, const Loop& loop) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (; i + lanes <= size; i += lanes) loop.Step(d, i);
}

template <class Loop>
HWY_INLINE void ForElements(int64_t size, const Loop& loop) {
  int64_t i = 0;
  Steps(hn::ScalableTag<float>(), size, i, loop);
#if HWY_TARGET != HWY_SCALAR
  Steps(hn::CappedTag<float, 8>(), size, i, loop);
  Steps(hn::CappedTag<float, 4>(), size, i, loop);
  Steps(hn::CappedTag<float, 1>(), size, i, loop);
#endif
}

template <class T>
struct WidenLoop {
  const T* from;
  float* to;
  template <class D>
  HWY_INLINE void Step(D d, int64_t i) const {
    StoreElements(d, LoadElements(d, from + i), to + i);
  }
};

template <class T, bool kDrops>
struct AddLoop {
  AddArgs args;  // a copy, which no store can change
  template <class D>
  HWY_INLINE void Step(D d, int64_t i) const {
    const auto x =
        hn::Mul(LoadElements(d, static_cast<const T*>(args.x) + i), hn::Set(d, args.x_scale));
    auto sum = hn::Add(x, hn::LoadU(d, args.addend + i));
    if constexpr (kDrops) {
      const auto factor = hn::LoadU(d, args.factor + i);
      sum = hn::IfThenElseZero(hn::Ne(factor, hn::Zero(d)), hn::Mul(sum, factor));
    }
    StoreElements(d, sum, static_cast<T*>(args.to) + i);
  }
};

template <class T>
using PlainAddLoop = AddLoop<T, false>;
template <class T>
using DroppingAddLoop = AddLoop<T, true>;

template <class T, bool kInterleaved>
struct RotateLoop {
  T* x;
  RotateArgs args;
  template <class D>
  HWY_INLINE void Step(D d, int64_t i) const {
    const auto cos = hn::LoadU(d, args.cos + i);
    const auto sin = hn::LoadU(d, args.sin + i);
    hn::Vec<D> a, b;
    if constexpr (kInterleaved) {
      LoadTwo(d, x + 2 * i, a, b);
    } else {
      a = LoadElements(d, x + i);
      b = LoadElements(d, x + args.pairs + i);
    }
    const auto first = hn::Sub(hn::Mul(a, cos), hn::Mul(b, sin));
    const auto second = hn::Add(hn::Mul(b, cos), hn::Mul(a, sin));
    if constexpr (kInterleaved) {
      StoreTwo(d, first, second, x + 2 * i);
    } else {
      StoreElements(d, first, x + i);
      StoreElements(d, second, x + args.pairs + i);
    }
  }
};

template <class T>
struct AlibiLoop {
  AlibiArgs args;
  template <class D>
  HWY_INLINE void Step(D d, int64_t i) const {
    T* const scores = static_cast<T*>(args.scores) + i;
    const auto zero = hn::Zero(d);
    const auto away = hn::Sub(hn::Iota(d, static_cast<float>(i)), hn::Set(d, args.origin));
    auto distance = away;
    if (args.distance == Distance::kNegativeMagnitude) {
      distance = hn::Neg(hn::Abs(away));
    } else if (args.distance != Distance::kSigned) {
      distance = hn::Min(away, zero);
    }
    const auto scaled = hn::Mul(LoadElements(d, scores), hn::Set(d, args.scale));
    auto sum = hn::Add(scaled, hn::Mul(hn::Set(d, args.slope), distance));
    if (args.distance == Distance::kMasked) {
      sum = hn::IfThenElse(hn::Gt(away, zero), hn::Set(d, -std::numeric_limits<float>::infinity()),
                           sum);
    }
    StoreElements(d, sum, scores);
  }
};

template <class T>
HWY_INLINE void RotateHeads(Pairing pairing, const RotateArgs& args) {
  for (int64_t head = 0; head < args.heads; ++head) {
    T* const x = static_cast<T*>(args.x) + head * args.stride;
    if (pairing == Pairing::kInterleaved) {
      ForElements(args.pairs, RotateLoop<T, true>{x, args});
    } else {
      ForElements(args.pairs, RotateLoop<T, false>{x, args});
    }
  }
}

// Runs `call` with T as the C++ type of the elements.
#define POSENC_FOR_TYPE(type, call) \
  switch (type) {                   \
    case ElementType::kF16: {       \
      using T = Half;               \
      call;                         \
      break;                        \
    }                               \
    case ElementType::kBF16: {      \
      using T = BFloat16;           \
      call;                         \
      break;                        \
    }                               \
    default: {                      \
      using T = float;              \
      call;                         \
      break;                        \
    }                               \
  }

static void Widen(ElementType type, const void* from, int64_t size, float* to) {
  POSENC_FOR_TYPE(type, ForElements(size, WidenLoop<T>{static_cast<const T*>(from), to}))
}

static void Add(ElementType type, const AddArgs& args) {
  if (args.factor == nullptr) {
    POSENC_FOR_TYPE(type, ForElements(args.size, PlainAddLoop<T>{.args = args}))
  } else {
    POSENC_FOR_TYPE(type, ForElements(args.size, DroppingAddLoop<T>{.args = args}))
  }
}

static void Rotate(ElementType type, Pairing pairing, const RotateArgs& args) {
  POSENC_FOR_TYPE(type, RotateHeads<T>(pairing, args))
}

static void AddAlibi(ElementType type, const AlibiArgs& args) {
  POSENC_FOR_TYPE(type, ForElements(args.keys, AlibiLoop<T>{args}))
}

#undef POSENC_FOR_TYPE

static OpsKernels GetOpsKernels() {
  return {.widen = Widen, .add = Add, .rotate = Rotate, .add_alibi = AddAlibi};
}

}  // namespace HWY_NAMESPACE
}  // namespace posenc
HWY_AFTER_NAMESPACE();

#endif  // include guard per target
