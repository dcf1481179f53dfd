// Floats as elements of a table: widened to F64, or rounded once to F16 and BF16, ties to even.
// Pure functions, safe from any thread.

#ifndef POSENC_SERVER_ENCODINGS_FLOAT32_FLOAT32_ELEMENTS_H_
#define POSENC_SERVER_ENCODINGS_FLOAT32_FLOAT32_ELEMENTS_H_

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "server/core/element_type.h"
#include "server/encodings/exact/quick_product.h"

namespace posenc {

// The bits of the element nearest to a finite float.
inline uint64_t ElementOf(ElementType type, float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  switch (type) {
    case ElementType::kF64:
      return std::bit_cast<uint64_t>(static_cast<double>(value));
    case ElementType::kF32:
      return bits;
    case ElementType::kBF16:
      return (bits + 0x7FFFU + (bits >> 16 & 1)) >> 16;
    default:
      return ExactElement(ElementType::kF16, value);
  }
}

template <typename Element>
void StoreStrided(std::span<const float> values, ElementType type, int64_t step, std::byte* to) {
  for (size_t i = 0; i < values.size(); ++i) {
    const auto element = static_cast<Element>(ElementOf(type, values[i]));
    std::memcpy(to + static_cast<int64_t>(i) * step * static_cast<int64_t>(sizeof(Element)), &element,
                sizeof(Element));
  }
}

// Writes values `step` elements apart; no alignment is needed.
inline void StoreFloats(std::span<const float> values, ElementType type, int64_t step, std::byte* to) {
  switch (type) {
    case ElementType::kF32:
      if (step == 1) {
        std::memcpy(to, values.data(), values.size_bytes());
        return;
      }
      return StoreStrided<uint32_t>(values, ElementType::kF32, step, to);
    case ElementType::kF64:
      return StoreStrided<uint64_t>(values, ElementType::kF64, step, to);
    case ElementType::kBF16:
      return StoreStrided<uint16_t>(values, ElementType::kBF16, step, to);
    default:
      return StoreStrided<uint16_t>(values, ElementType::kF16, step, to);
  }
}

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_FLOAT32_FLOAT32_ELEMENTS_H_
