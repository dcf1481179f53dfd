// Floats as elements of a table: widened to F64, or rounded once to F16 and BF16, ties to even; and rows of
// them in memory. Pure functions, safe from any thread.

#ifndef POSENC_SERVER_ENCODINGS_FLOAT32_FLOAT32_ELEMENTS_H_
#define POSENC_SERVER_ENCODINGS_FLOAT32_FLOAT32_ELEMENTS_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "server/core/element_type.h"

namespace posenc {

// The nearest elements to a number that is not NaN.
inline uint16_t BF16Of(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  return static_cast<uint16_t>((bits + 0x7FFFU + (bits >> 16 & 1)) >> 16);
}

inline uint16_t F16Of(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000U;
  const uint32_t size = std::min(bits & 0x7FFFFFFFU, 0x47800000U);  // 65536 and more become infinite
  const uint32_t normal = (size - 0x38000000U + 0xFFFU + (size >> 13 & 1)) >> 13;
  // 0.5 has a last place of 2^-24, the step of subnormals.
  const uint32_t subnormal = std::bit_cast<uint32_t>(std::bit_cast<float>(size) + 0.5F) - 0x3F000000U;
  return static_cast<uint16_t>(sign | (size < 0x38800000U ? subnormal : normal));
}

// The bits of the nearest element.
inline uint64_t ElementOf(ElementType type, float value) {
  switch (type) {
    case ElementType::kF64:
      return std::bit_cast<uint64_t>(static_cast<double>(value));
    case ElementType::kF32:
      return std::bit_cast<uint32_t>(value);
    case ElementType::kBF16:
      return BF16Of(value);
    default:
      return F16Of(value);
  }
}

template <typename Element, typename Convert>
void ConvertInto(std::span<const float> values, std::byte* to, Convert&& convert) {
  for (size_t i = 0; i < values.size(); ++i) {
    const Element element = convert(values[i]);
    std::memcpy(to + i * sizeof(Element), &element, sizeof(Element));
  }
}

// Writes the elements next to each other.
inline void ConvertFloats(std::span<const float> values, ElementType type, std::byte* to) {
  switch (type) {
    case ElementType::kF64:
      return ConvertInto<double>(values, to, [](float value) { return static_cast<double>(value); });
    case ElementType::kF32:
      std::memcpy(to, values.data(), values.size_bytes());
      return;
    case ElementType::kBF16:
      return ConvertInto<uint16_t>(values, to, [](float value) { return BF16Of(value); });
    default:
      return ConvertInto<uint16_t>(values, to, [](float value) { return F16Of(value); });
  }
}

template <typename Word>
void CopyApart(const std::byte* from, int64_t count, int64_t step, std::byte* to) {
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(to + i * step * static_cast<int64_t>(sizeof(Word)),
                from + i * static_cast<int64_t>(sizeof(Word)), sizeof(Word));
  }
}

// Copies `count` elements to places `step` elements apart.
inline void CopyElements(const std::byte* from, int64_t count, size_t element_bytes, int64_t step,
                         std::byte* to) {
  if (step == 1) {
    std::memcpy(to, from, static_cast<size_t>(count) * element_bytes);
  } else if (element_bytes == 2) {
    CopyApart<uint16_t>(from, count, step, to);
  } else if (element_bytes == 4) {
    CopyApart<uint32_t>(from, count, step, to);
  } else {
    CopyApart<uint64_t>(from, count, step, to);
  }
}

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_FLOAT32_FLOAT32_ELEMENTS_H_
