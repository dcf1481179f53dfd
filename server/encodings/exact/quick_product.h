// The fast path of products: factor · constant in double, rounded at both ends of its error
// interval.
//
// Error: with u = 2^-53, high is within u of the constant, the product rounds once more, and so
// does each end of the interval: 3.01·u·|product| in all (the test on small values excludes
// subnormals). For F64 the product's own rounding error is recovered by fma and low adds the rest:
// what is left is below 2^-100 of the product. An inlined pure function, safe from any thread.

#ifndef POSENC_SERVER_ENCODINGS_EXACT_QUICK_PRODUCT_H_
#define POSENC_SERVER_ENCODINGS_EXACT_QUICK_PRODUCT_H_

#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>

#include "server/core/element_type.h"
#include "server/encodings/exact/multiplier.h"

namespace posenc {

// The nearest BF16 and F16 of a float; where that is a tie either neighbour may result.
inline uint64_t NearestBF16(float value) {
  return (std::bit_cast<uint32_t>(value) + 0x8000u) >> 16;
}

inline uint64_t NearestF16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7FFFFFFFu;
  if (magnitude >= 0x47800000u) return sign | 0x7C00u;  // 65536 and more
  if (magnitude < 0x38800000u) {                        // subnormal: 0.5 has a last place of 2^-24
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return sign | (std::bit_cast<uint32_t>(shifted) - 0x3F000000u);
  }
  return sign | ((magnitude - 0x38000000u + 0x1000u) >> 13);
}

// The nearest element to a double, as above; F16 and BF16 go by way of float, and are then good
// only for an interval that the float's own rounding has been added to.
inline uint64_t NearestElement(ElementType type, double value) {
  switch (type) {
    case ElementType::kF64:
      return std::bit_cast<uint64_t>(value);
    case ElementType::kF32:
      return std::bit_cast<uint32_t>(static_cast<float>(value));
    case ElementType::kF16:
      return NearestF16(static_cast<float>(value));
    default:
      return NearestBF16(static_cast<float>(value));
  }
}

// The nearest element to a double that is a float, ties to even.
inline uint64_t ExactElement(ElementType type, double value) {
  const uint64_t bits = NearestElement(type, value);
  if (type == ElementType::kF64 || type == ElementType::kF32) return bits;
  // A subnormal F16 comes from an addition, whose ties go to even already.
  if (type == ElementType::kF16 && std::fabs(value) < 0x1p-14) return bits;
  // One unit before the float that ties round down from, the result differs by one; then take the
  // even one.
  const float single = static_cast<float>(value);
  const float before = std::bit_cast<float>(std::bit_cast<uint32_t>(single) - 1);
  const uint64_t below = NearestElement(type, before);
  return below != bits && (bits & 1) != 0 ? below : bits;
}

// Returns the element nearest to factor · constant, or nothing if double arithmetic cannot tell.
inline std::optional<uint64_t> QuickProduct(ElementType type, const Multiplier& constant,
                                            int64_t factor) {
  const auto p = static_cast<double>(factor);
  const double product = p * constant.high();
  const double size = std::fabs(product);
  if (!(size > 0x1p-120) || !(size < 0x1p120)) return std::nullopt;
  const bool is_float = static_cast<float>(product) == product;
  if (is_float && constant.exact() && std::fma(p, constant.high(), -product) == 0) {
    return ExactElement(type, product);
  }
  double low = product, high = product;
  if (type == ElementType::kF64) {
    const double rest = std::fma(p, constant.high(), -product) + p * constant.low();
    low += rest - size * 0x1p-100;
    high += rest + size * 0x1p-100;
  } else {
    const double error = size * (type == ElementType::kF32 ? 0x1.9p-52 : 0x1.02p-24);
    low -= error;
    high += error;
  }
  const uint64_t bits = NearestElement(type, low);
  if (bits != NearestElement(type, high)) return std::nullopt;
  return bits;
}

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_EXACT_QUICK_PRODUCT_H_
