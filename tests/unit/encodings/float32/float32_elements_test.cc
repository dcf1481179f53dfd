#include "server/encodings/float32/float32_elements.h"

#include <cmath>

#include "gtest/gtest.h"

namespace posenc {
namespace {

// The number that a positive half has, by the definition of its fields; 31 is the exponent of infinity.
double ValueOf(int half) {
  const int exponent = half >> 10, mantissa = half & 0x3FF;
  return exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
}

TEST(Float32ElementsTest, HalvesBetweenTwoGoToTheNearestAndTiesToTheEvenOne) {
  for (int half = 0; half < 0x7C00; ++half) {
    const auto low = static_cast<float>(ValueOf(half)), high = static_cast<float>(ValueOf(half + 1));
    const float middle = (low + high) / 2;
    ASSERT_EQ(F16Of(low), half);
    ASSERT_EQ(F16Of(-low), half | 0x8000);
    ASSERT_EQ(F16Of(std::nextafter(middle, low)), half);
    ASSERT_EQ(F16Of(std::nextafter(middle, high)), half + 1);
    ASSERT_EQ(F16Of(middle), half + (half & 1));
  }
}

TEST(Float32ElementsTest, NumbersBeyondHalvesAreInfinite) {
  EXPECT_EQ(F16Of(65536), 0x7C00);
  EXPECT_EQ(F16Of(-INFINITY), 0xFC00);
}

TEST(Float32ElementsTest, BrainFloatsAreTheNearestAndTiesGoToTheEvenOne) {
  EXPECT_EQ(BF16Of(1.0F), 0x3F80);
  EXPECT_EQ(BF16Of(0x1.01p+0F), 0x3F80);
  EXPECT_EQ(BF16Of(0x1.010002p+0F), 0x3F81);
  EXPECT_EQ(BF16Of(0x1.03p+0F), 0x3F82);
  EXPECT_EQ(BF16Of(-INFINITY), 0xFF80);
}

TEST(Float32ElementsTest, ElementsAreCopiedApart) {
  const float values[] = {1, 2};
  std::byte elements[8], row[16] = {};
  ConvertFloats(values, ElementType::kF32, elements);
  CopyElements(elements, 2, 4, 2, row);
  float read[4];
  std::memcpy(read, row, sizeof(read));
  EXPECT_EQ(read[0], 1);
  EXPECT_EQ(read[1], 0);
  EXPECT_EQ(read[2], 2);
}

}  // namespace
}  // namespace posenc
