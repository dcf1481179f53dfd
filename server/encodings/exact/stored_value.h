// Elements of stored tensors as doubles, which hold every one of them exactly, and back.
// Inlined pure functions, safe from any thread.

#ifndef POSENC_SERVER_ENCODINGS_EXACT_STORED_VALUE_H_
#define POSENC_SERVER_ENCODINGS_EXACT_STORED_VALUE_H_

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "server/core/element_type.h"
#include "server/encodings/exact/quick_product.h"

namespace posenc {

inline double HalfToDouble(uint16_t bits) {
  const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
  double size = std::ldexp(exponent == 0 ? fraction : fraction + 1024, exponent == 0 ? -24 : exponent - 25);
  if (exponent == 31) size = fraction == 0 ? INFINITY : NAN;
  return (bits & 0x8000) != 0 ? -size : size;
}

// Requires: `type` is F64, F32, F16 or BF16. No alignment is needed.
inline double LoadStored(ElementType type, const std::byte* from) {
  uint64_t bits = 0;
  std::memcpy(&bits, from, ElementSizeBytes(type));
  switch (type) {
    case ElementType::kF64:
      return std::bit_cast<double>(bits);
    case ElementType::kF32:
      return std::bit_cast<float>(static_cast<uint32_t>(bits));
    case ElementType::kF16:
      return HalfToDouble(static_cast<uint16_t>(bits));
    default:
      return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  }
}

inline uint64_t QuietNan(ElementType type, bool negative) {
  const uint64_t sign = negative ? uint64_t{1} << (8 * ElementSizeBytes(type) - 1) : 0;
  switch (type) {
    case ElementType::kF64:
      return sign | 0x7FF8000000000000;
    case ElementType::kF32:
      return sign | 0x7FC00000;
    case ElementType::kF16:
      return sign | 0x7E00;
    default:
      return sign | 0x7FC0;
  }
}

// The element of value · scale, rounded once, ties to even. Infinities and the sign of zero stay, a NaN
// becomes the quiet NaN of its sign.
inline uint64_t ScaledElement(ElementType type, double value, double scale) {
  const double product = value * scale;
  if (std::isnan(value)) return QuietNan(type, std::signbit(value));
  if (!std::isfinite(value) || value == 0) return NearestElement(type, product);
  const bool is_float = static_cast<float>(product) == product;
  if (is_float && (scale == 1.0 || std::fma(value, scale, -product) == 0) && std::fabs(product) > 0x1p-120) {
    return ExactElement(type, product);
  }
  if (scale == 1.0 && type == ElementType::kF64) return std::bit_cast<uint64_t>(value);
  return *RoundTo(type, Product(Enclosure::Exactly(value), Enclosure::Exactly(scale)));
}

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_EXACT_STORED_VALUE_H_
