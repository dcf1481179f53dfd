// The kernel of products.h for one target.
//
// Error: with u = 2^-53, the high half is within u of the constant and the product rounds once more, 2.01 u in
// all, far below what the quick tests of rounding-inl.h allow. For F64 the product is exact as a pair, and the low
// half adds the rest, to 2^-100 of the product. Products outside of 2^±120 are left undecided.

#if defined(POSENC_KERNELS_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POSENC_KERNELS_PRODUCTS_INL_H_
#undef POSENC_KERNELS_PRODUCTS_INL_H_
#else
#define POSENC_KERNELS_PRODUCTS_INL_H_
#endif

#include <algorithm>
#include <bit>
#include <cstring>

#include "hwy/highway.h"
#include "server/encodings/kernels/products.h"
#include "server/encodings/kernels/rounding-inl.h"

HWY_BEFORE_NAMESPACE();
namespace posenc {
namespace HWY_NAMESPACE {

// Factors of the elements from i on, and their constants.
template <bool kOne>
struct ProductLanes {
  explicit ProductLanes(const ProductArgs& args) : args(args) {}
  HWY_INLINE V Factor(int64_t i) const {
    const D d;
    const V at = hn::Add(hn::Set(d, static_cast<double>(i)), hn::Iota(d, 0.0));
    return hn::MulAdd(at, hn::Set(d, args.step), hn::Set(d, args.first));
  }
  HWY_INLINE V Constant(const double* constants, int64_t i) const {
    return kOne ? hn::Set(D(), constants[0]) : hn::LoadU(D(), constants + i);
  }
  HWY_INLINE V High(int64_t i) const { return Constant(args.high, i); }
  HWY_INLINE V Low(int64_t i) const { return Constant(args.low, i); }
  const ProductArgs& args;
};

// A vector of elements, with a bit for each that is in doubt.
template <class Rounding, bool kOne, bool kExact>
HWY_INLINE hn::Vec<typename Rounding::DOut> ProductsAt(const ProductLanes<kOne>& lanes, int64_t i,
                                                       uint64_t& doubtful) {
  const D d;
  uint8_t bits[8] = {};
  if constexpr (Rounding::kWide) {
    const V factor = lanes.Factor(i);
    const Pair product = TwoProduct(factor, lanes.High(i));
    const V low = hn::MulAdd(factor, lanes.Low(i), product.low);
    const V size = hn::Abs(product.high), error = hn::Mul(size, hn::Set(d, 0x1p-100));
    const V down = hn::Add(product.high, hn::Sub(low, error)), up = hn::Add(product.high, hn::Add(low, error));
    const auto inside = hn::And(hn::Gt(size, hn::Set(d, 0x1p-120)), hn::Lt(size, hn::Set(d, 0x1p120)));
    hn::StoreMaskBits(d, hn::Not(hn::And(inside, hn::Eq(down, up))), bits);
    std::memcpy(&doubtful, bits, sizeof(doubtful));
    return up;
  } else {
    V value[kParts];
    for (int part = 0; part < kParts; ++part) {
      const int64_t at = i + part * static_cast<int64_t>(hn::Lanes(d));
      value[part] = hn::Mul(lanes.Factor(at), lanes.High(at));
    }
    const auto single = ToFloat(value);
    if constexpr (!kExact) {
      const DFloat f;
      const auto margin = Rounding::template Margin<true>(value, single);
      const auto near = hn::Lt(margin, hn::Set(DInt(), Rounding::kLeastMargin));
      const auto size = hn::Abs(single);
      const auto least = hn::Set(f, static_cast<float>(std::max(Rounding::kLeastNormal, 0x1p-120)));
      const auto inside = hn::And(hn::Gt(size, least), hn::Lt(size, hn::Set(f, 0x1p120f)));
      const auto doubt = hn::Or(near, hn::RebindMask(DInt(), hn::Not(inside)));
      hn::StoreMaskBits(DInt(), doubt, bits);
    }
    std::memcpy(&doubtful, bits, sizeof(doubtful));
    return Rounding::FromFloat(single);
  }
}

template <class Rounding, bool kOne, bool kExact>
size_t WriteProductsAs(const ProductArgs& args) {
  const typename Rounding::DOut d;
  using T = hn::TFromD<decltype(d)>;
  const auto width = static_cast<int64_t>(hn::Lanes(d));
  const ProductLanes<kOne> lanes(args);
  T* const to = reinterpret_cast<T*>(args.to);
  size_t listed = 0;
  for (int64_t i = 0; i < args.count; i += width) {
    uint64_t doubtful;
    const auto elements = ProductsAt<Rounding, kOne, kExact>(lanes, i, doubtful);
    if (HWY_LIKELY(i + width <= args.count)) {
      hn::StoreU(elements, d, to + i);
    } else {
      T rest[kPairPadding];
      hn::StoreU(elements, d, rest);
      std::memcpy(to + i, rest, (args.count - i) * sizeof(T));
      doubtful &= (uint64_t{1} << (args.count - i)) - 1;
    }
    for (; doubtful != 0; doubtful &= doubtful - 1) {
      args.undecided[listed++] = static_cast<uint32_t>(i + std::countr_zero(doubtful));
    }
  }
  return listed;
}

template <class Rounding>
size_t WriteProductsOf(const ProductArgs& args) {
  if (!args.one_constant) return WriteProductsAs<Rounding, false, false>(args);
  return args.exact ? WriteProductsAs<Rounding, true, true>(args) : WriteProductsAs<Rounding, true, false>(args);
}

static size_t WriteProductsOn(ElementType type, const ProductArgs& args) {
  switch (type) {
    case ElementType::kF64:
      return WriteProductsOf<RoundF64>(args);
    case ElementType::kF16:
      return WriteProductsOf<RoundF16>(args);
    case ElementType::kBF16:
      return WriteProductsOf<RoundBF16>(args);
    default:
      return WriteProductsOf<RoundF32>(args);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace posenc
HWY_AFTER_NAMESPACE();

#endif  // include guard per target
