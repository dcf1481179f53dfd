// The C++ types of a tensor's elements, by element type:
//
//   F64 double    F32 float    F16 posenc::Half    BF16 posenc::BFloat16
//   C64 std::complex<float>    C128 std::complex<double>
//
// Half and BFloat16 are two bytes each and nothing but their bits, so a span of them can be handed to any
// library that has a type of that form (__half, _Float16, at::BFloat16). Tensors are little-endian in
// memory and on the wire, hence the assertion.

#ifndef POSENC_ELEMENTS_H_
#define POSENC_ELEMENTS_H_

#include <bit>
#include <complex>
#include <cstdint>

#include "server/core/element_type.h"

namespace posenc {
inline namespace client_v1 {

static_assert(std::endian::native == std::endian::little, "tensors are little-endian in memory");

// An IEEE binary16 number.
struct Half {
  uint16_t bits = 0;

  // The value, exactly. Cost: a few instructions, without tables.
  explicit operator float() const {
    const uint32_t sign = uint32_t{bits & 0x8000u} << 16;
    const uint32_t magnitude = bits & 0x7fffu;
    if (magnitude >= 0x7c00u) {  // infinity and NaN
      return std::bit_cast<float>(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
    }
    // The exponent is re-biased by a multiplication, which gets subnormal numbers right as well.
    const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(scaled) | sign);
  }
  friend bool operator==(Half, Half) = default;  // compares bits
};

// The upper half of an IEEE binary32 number.
struct BFloat16 {
  uint16_t bits = 0;

  explicit operator float() const { return std::bit_cast<float>(uint32_t{bits} << 16); }
  friend bool operator==(BFloat16, BFloat16) = default;  // compares bits
};

// ElementTypeOf<T>: the element type whose elements are T.
template <typename T>
inline constexpr ElementType ElementTypeOf = T::no_tensor_has_elements_of_this_type;
template <>
inline constexpr ElementType ElementTypeOf<double> = ElementType::kF64;
template <>
inline constexpr ElementType ElementTypeOf<float> = ElementType::kF32;
template <>
inline constexpr ElementType ElementTypeOf<Half> = ElementType::kF16;
template <>
inline constexpr ElementType ElementTypeOf<BFloat16> = ElementType::kBF16;
template <>
inline constexpr ElementType ElementTypeOf<int32_t> = ElementType::kI32;
template <>
inline constexpr ElementType ElementTypeOf<std::complex<float>> = ElementType::kComplex64;
template <>
inline constexpr ElementType ElementTypeOf<std::complex<double>> = ElementType::kComplex128;

}  // namespace client_v1
}  // namespace posenc

#endif  // POSENC_ELEMENTS_H_
