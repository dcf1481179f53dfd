#include "server/encodings/float32/rounded_math.h"

#include <limits>

#include "gtest/gtest.h"

// Expected values: mpmath at 300 bits, rounded once.
namespace posenc {
namespace {

TEST(RoundedMathTest, PowersAreTheNearestFloats) {
  EXPECT_EQ(PowF32(10000, 0.25), 10.0F);
  EXPECT_EQ(PowF32(500000, 0x1p-6), 0x1.3a420ep+0F);
  EXPECT_EQ(PowF32(1e6, 0x1.f8p-1), 0x1.897a46p+19F);
  EXPECT_EQ(PowF32(3, 0.5), 0x1.bb67aep+0F);
}

TEST(RoundedMathTest, ExponentialsAreTheNearestFloats) {
  EXPECT_EQ(ExpF32(0), 1.0F);
  EXPECT_EQ(ExpF32(1), 0x1.5bf0a8p+1F);
  EXPECT_EQ(ExpF32(-9.21), 0x1.a392bcp-14F);
}

TEST(RoundedMathTest, LogarithmsAreTheNearestNumbers) {
  EXPECT_EQ(LogF32(10000), 0x1.26bb1cp+3F);
  EXPECT_EQ(LogF64(10000), 0x1.26bb1bbb55516p+3);
  EXPECT_EQ(LogF64(500000), 0x1.a3ea669a05c01p+3);
  EXPECT_EQ(LogF64(1), 0);
}

TEST(RoundedMathTest, PowersThatAreDoublesAreExact) {
  EXPECT_EQ(PowF64(10000, 0.5), 100);
  EXPECT_EQ(PowF64(3, 3), 27);
}

TEST(RoundedMathTest, WhatIsBeyondTheTypeIsInfiniteOrZero) {
  EXPECT_EQ(PowF32(1e30, 10), std::numeric_limits<float>::infinity());
  EXPECT_EQ(PowF32(1e30, -10), 0.0F);
  EXPECT_EQ(PowF32(2, -149), 0x1p-149F);
  EXPECT_EQ(ExpF32(1e9), std::numeric_limits<float>::infinity());
  EXPECT_EQ(ExpF32(-1e9), 0.0F);
  // 10^(3·10^302) is beyond MPFR's exponents too.
  EXPECT_EQ(PowF64(1e300, 1e300), std::numeric_limits<double>::infinity());
  EXPECT_EQ(PowF64(1e300, -1e300), 0.0);
  EXPECT_EQ(PowF64(1e300, 2), std::numeric_limits<double>::infinity());
  EXPECT_EQ(PowF64(2, -1074), 0x1p-1074);
}

// A product of one more bit than a float has lies between two floats and goes to the even one.
TEST(RoundedMathTest, TiesGoToEven) { EXPECT_EQ(PowF32(4097, 2), 16785408.0F); }

TEST(RoundedMathTest, CosinesAndSinesAreTheNearestFloats) {
  const struct {
    float angle, cos, sin;
  } cases[] = {{1, 0x1.14a28p-1F, 0x1.aed548p-1F},
               {131071, -0x1.a2cebcp-1F, -0x1.268614p-1F},
               {0x1.921fb6p+1F, -1, -0x1.777a5cp-24F},
               {0x1p+100F, 0x1.f4eb4p-2F, -0x1.be8edap-1F},
               {0x1.fffffep+127F, 0x1.b4bf2cp-1F, -0x1.0b3366p-1F}};
  for (const auto& expected : cases) {
    const CosSinF32 value = CosSinOf(expected.angle);
    EXPECT_EQ(value.cos, expected.cos) << expected.angle;
    EXPECT_EQ(value.sin, expected.sin) << expected.angle;
  }
}

}  // namespace
}  // namespace posenc
