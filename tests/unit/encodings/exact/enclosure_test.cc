#include "server/encodings/exact/enclosure.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>

#include "gtest/gtest.h"
#include "tests/unit/encodings/reference.h"

namespace posenc {
namespace {

double ValueOfF16(uint64_t bits) {
  const int exponent = static_cast<int>(bits >> 10 & 31);
  const double fraction = static_cast<double>(bits & 1023);
  return exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
}

double ValueOfBF16(uint64_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits << 16));
}

// Checks that what lies between two neighbours rounds to the nearer one, and the midpoint to the
// even one.
void ExpectHalvesAround(ElementType type, uint64_t bits, double value, double next) {
  const double middle = value + (next - value) / 2;
  const uint64_t even = bits % 2 == 0 ? bits : bits + 1;
  ASSERT_EQ(RoundTo(type, Enclosure::Exactly(value)), bits);
  ASSERT_EQ(RoundTo(type, Enclosure::Exactly(std::nextafter(middle, value))), bits);
  ASSERT_EQ(RoundTo(type, Enclosure::Exactly(middle)), even);
  ASSERT_EQ(RoundTo(type, Enclosure::Exactly(std::nextafter(middle, next))), bits + 1);
}

TEST(EnclosureTest, EveryF16AndEveryMidpointRoundsRight) {
  for (uint64_t bits = 0; bits < 0x7BFF; ++bits) {
    ExpectHalvesAround(ElementType::kF16, bits, ValueOfF16(bits), ValueOfF16(bits + 1));
  }
}

TEST(EnclosureTest, EveryBF16AndEveryMidpointRoundsRight) {
  for (uint64_t bits = 0; bits < 0x7F7F; ++bits) {
    ExpectHalvesAround(ElementType::kBF16, bits, ValueOfBF16(bits), ValueOfBF16(bits + 1));
  }
}

TEST(EnclosureTest, FloatsRoundAsTheCpuRounds) {
  for (uint64_t i = 1; i < 200'000; ++i) {
    const double value = std::bit_cast<double>(i * 0x9E3779B97F4A7C15 >> 1);
    if (!std::isfinite(value)) continue;
    const auto single = static_cast<float>(value);
    ASSERT_EQ(RoundTo(ElementType::kF32, Enclosure::Exactly(value)),
              std::bit_cast<uint32_t>(single));
    ASSERT_EQ(RoundTo(ElementType::kF64, Enclosure::Exactly(value)),
              std::bit_cast<uint64_t>(value));
  }
}

TEST(EnclosureTest, OverflowIsInfinityAndKeepsItsSign) {
  EXPECT_EQ(RoundTo(ElementType::kF16, Enclosure::Exactly(65519.0)), 0x7BFF);
  EXPECT_EQ(RoundTo(ElementType::kF16, Enclosure::Exactly(-65520.0)), 0xFC00);
  EXPECT_EQ(RoundTo(ElementType::kF32, Enclosure::Exactly(1e39)), 0x7F800000);
}

TEST(EnclosureTest, TinyNegativeValuesRoundToNegativeZero) {
  EXPECT_EQ(RoundTo(ElementType::kF32, Enclosure::Exactly(-1e-60)), 0x80000000);
  EXPECT_EQ(RoundTo(ElementType::kF32, Enclosure{}), 0u);
}

TEST(EnclosureTest, AnErrorAcrossAMidpointIsUndecided) {
  Enclosure value = Enclosure::Exactly(1 + 0x1p-24).Normalized();
  value.error = 1;
  EXPECT_EQ(RoundTo(ElementType::kF32, value), std::nullopt);
  EXPECT_EQ(RoundTo(ElementType::kF64, value), std::bit_cast<uint64_t>(1 + 0x1p-24));
  EXPECT_EQ(RoundTo(ElementType::kBF16, Enclosure::Unknown()), std::nullopt);
}

TEST(EnclosureTest, ProductsOfDoublesAreExact) {
  const Enclosure product = Product(Enclosure::Exactly(0.1), Enclosure::Exactly(-3.0));
  EXPECT_EQ(product.error, 0u);
  EXPECT_EQ(RoundTo(ElementType::kF64, product), std::bit_cast<uint64_t>(0.1 * -3.0));
}

TEST(EnclosureTest, RoundingToOddNeverHidesATie) {
  Real value(200, 1 + 0x1p-24), least(200, 0x1p-190);
  EXPECT_EQ(RoundTo(ElementType::kF32, RoundedToOdd(value)), 0x3F800000);
  mpfr_add(value.get(), value.get(), least.get(), MPFR_RNDN);
  EXPECT_EQ(RoundTo(ElementType::kF32, RoundedToOdd(value)), 0x3F800001);
}

TEST(EnclosureTest, DoubleDoublesKeepTwiceThePrecision) {
  Real value(400, 2.0), rest(400);
  mpfr_sqrt(value.get(), value.get(), MPFR_RNDN);
  const DoubleDouble parts = ToDoubleDouble(RoundedToOdd(value));
  EXPECT_EQ(parts.high, std::sqrt(2.0));
  mpfr_sub_d(rest.get(), value.get(), parts.high, MPFR_RNDN);
  mpfr_sub_d(rest.get(), rest.get(), parts.low, MPFR_RNDN);
  EXPECT_LT(std::fabs(mpfr_get_d(rest.get(), MPFR_RNDN)), 0x1p-103);
}

}  // namespace
}  // namespace posenc
