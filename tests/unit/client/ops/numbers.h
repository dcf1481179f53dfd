// Numbers for the tests of ops.h: made of doubles, compared as doubles, rounded by arithmetic of
// their own.

#ifndef POSENC_TESTS_UNIT_CLIENT_OPS_NUMBERS_H_
#define POSENC_TESTS_UNIT_CLIENT_OPS_NUMBERS_H_

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "gtest/gtest.h"
#include "posenc/ops.h"
#include "server/encodings/table_generator.h"

namespace posenc {

// Significant bits, and the exponent of the smallest step.
template <typename T>
constexpr int kDigits = std::is_same_v<T, float>  ? 24
                        : std::is_same_v<T, Half> ? 11
                                                  : 8;
template <typename T>
constexpr int kLeastStep = std::is_same_v<T, float>  ? -149
                           : std::is_same_v<T, Half> ? -24
                                                     : -133;

// The nearest number of the type, ties to even; overflow does not occur here.
template <typename T>
double RoundTo(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const int step = std::max(std::ilogb(value) - kDigits<T> + 1, kLeastStep<T>);
  return std::ldexp(std::nearbyint(std::ldexp(value, -step)), step);
}

// A number that the type has, as the type.
template <typename T>
T Make(double value) {
  if constexpr (std::is_same_v<T, float>) return static_cast<float>(value);
  if constexpr (std::is_same_v<T, BFloat16>) {
    const auto bits = std::bit_cast<uint32_t>(static_cast<float>(RoundTo<T>(value)));
    return {static_cast<uint16_t>(bits >> 16)};
  }
  if constexpr (std::is_same_v<T, Half>) {
    const double size = std::fabs(RoundTo<T>(value));
    const int exponent = size < 0x1p-14 ? -15 : std::ilogb(size);
    const double fraction =
        size < 0x1p-14 ? size * 0x1p24 : (std::ldexp(size, -exponent) - 1) * 1024;
    const int bits = (exponent + 15) * 1024 + static_cast<int>(fraction);
    return {static_cast<uint16_t>(bits | (std::signbit(value) ? 0x8000 : 0))};
  }
}

template <typename T>
std::vector<T> MakeAll(const std::vector<double>& values) {
  std::vector<T> result;
  for (double value : values) result.push_back(Make<T>(value));
  return result;
}

template <typename T>
std::vector<double> Doubles(const std::vector<T>& values) {
  std::vector<double> result;
  for (T value : values) result.push_back(static_cast<float>(value));
  return result;
}

// Reproducible numbers in [-3, 3).
template <typename T>
std::vector<T> Random(size_t size, uint64_t seed) {
  std::mt19937_64 bits(seed);
  std::vector<T> result;
  for (size_t i = 0; i < size; ++i) {
    result.push_back(Make<T>(static_cast<double>(bits() >> 11) * 0x1p-53 * 6 - 3));
  }
  return result;
}

// The element types of ops.h, for typed tests.
using NumberTypes = ::testing::Types<float, Half, BFloat16>;
struct NumberTypeNames {
  template <typename T>
  static std::string GetName(int) {
    return std::is_same_v<T, float> ? "F32" : std::is_same_v<T, Half> ? "F16" : "BF16";
  }
};

}  // namespace posenc

#endif  // POSENC_TESTS_UNIT_CLIENT_OPS_NUMBERS_H_
