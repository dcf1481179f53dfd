// What becomes of numbers beyond MPFR's usual exponents, 2^±2^30, and beyond its utmost ones.

#include <cmath>
#include <thread>

#include "gtest/gtest.h"
#include "server/core/specs/normalize.h"
#include "server/encodings/exact/axis_frequencies.h"
#include "server/encodings/exact/enclosure.h"
#include "server/encodings/exact/frequency_rule.h"
#include "server/encodings/exact/real.h"
#include "server/encodings/exact/ziv.h"
#include "tests/support/matchers.h"
#include "tests/unit/encodings/reference.h"

namespace posenc {
namespace {

struct Infinity {
  ElementType type;
  uint64_t positive, negative;
};
constexpr Infinity kInfinities[] = {{ElementType::kF64, 0x7FF0000000000000, 0xFFF0000000000000},
                                    {ElementType::kF32, 0x7F800000, 0xFF800000},
                                    {ElementType::kF16, 0x7C00, 0xFC00},
                                    {ElementType::kBF16, 0x7F80, 0xFF80}};

// 2^exponent.
Real PowerOfTwo(int64_t exponent) {
  Real value(64, 1.0);
  mpfr_mul_2si(value.get(), value.get(), exponent, MPFR_RNDN);
  return value;
}

TEST(RealTest, HasTheWholeRangeOfExponentsInEveryThread) {
  const Real large = PowerOfTwo(int64_t{1} << 40), small = PowerOfTwo(-(int64_t{1} << 40));
  std::thread([&] {
    Real above(large), below(small);  // the thread's first Reals
    mpfr_sqr(above.get(), above.get(), MPFR_RNDN);
    mpfr_sqr(below.get(), below.get(), MPFR_RNDN);
    EXPECT_EQ(mpfr_get_exp(above.get()), (int64_t{1} << 41) + 1);
    EXPECT_EQ(mpfr_get_exp(below.get()), 1 - (int64_t{1} << 41));
  }).join();
}

TEST(RoundedToOddTest, NumbersBeyondEveryExponentRoundAsTheyWould) {
  for (const Infinity& infinity : kInfinities) {
    for (const int64_t exponent : {int64_t{2000}, int64_t{1} << 31, int64_t{1} << 61}) {
      const Real large = PowerOfTwo(exponent);
      EXPECT_EQ(RoundTo(infinity.type, RoundedToOdd(large)), infinity.positive) << exponent;
      EXPECT_EQ(RoundTo(infinity.type, RoundedToOdd(PowerOfTwo(-exponent))), 0u) << exponent;
    }
    Real beyond = PowerOfTwo(int64_t{1} << 61);
    mpfr_sqr(beyond.get(), beyond.get(), MPFR_RNDN);
    mpfr_sqr(beyond.get(), beyond.get(), MPFR_RNDN);
    ASSERT_TRUE(mpfr_inf_p(beyond.get()));
    EXPECT_EQ(RoundTo(infinity.type, RoundedToOdd(beyond)), infinity.positive);
    mpfr_neg(beyond.get(), beyond.get(), MPFR_RNDN);
    EXPECT_EQ(RoundTo(infinity.type, RoundedToOdd(beyond)), infinity.negative);
    EXPECT_EQ(RoundTo(infinity.type, Product(RoundedToOdd(beyond), RoundedToOdd(beyond))), infinity.positive);
  }
}

// e^(±2^62), beyond MPFR's last exponent.
TEST(RoundByZivTest, OverflowAndUnderflowAreFinal) {
  const auto power = [](double sign) {
    return [sign](int64_t bits, Real& value) -> int64_t {
      Real log(64, sign * 0x1p62);
      mpfr_exp(value.get(), log.get(), MPFR_RNDN);
      return mpfr_zero_p(value.get()) ? kExactly : mpfr_get_exp(value.get()) - bits;
    };
  };
  for (const Infinity& infinity : kInfinities) {
    EXPECT_EQ(RoundByZiv(infinity.type, power(1)), infinity.positive);
    EXPECT_EQ(RoundByZiv(infinity.type, power(-1)), 0u);
  }
}

// A denominator of 2^-52: the second frequency is 1e30^-(2^52), about 2^-(4.5·10^17).
SinusoidalSpec Slowest() {
  return {.d_model = 4, .base = 1e30, .frequency_shift = std::nextafter(2.0, 0.0), .first_position = -1};
}

TEST(FrequencyRangeTest, TheSmallestFrequencyThatASpecCanNameIsInRange) {
  const Real w = MakeFrequencies({.count = 2, .twice_pairs = 4, .base = 1e30, .shift = std::nextafter(2.0, 0.0)})
                     ->At(1, 128);
  // log2(1e30) · 2^52 by mpmath: 448819023908589202.579.
  EXPECT_EQ(mpfr_get_exp(w.get()), -448819023908589202);
}

TEST(FrequencyRangeTest, ItsSinesAreZerosWithTheirSigns) {
  for (const Infinity& infinity : kInfinities) {
    const auto table = MakeTableGenerator(*Normalize({.family = Slowest(), .element_type = infinity.type}));
    ASSERT_OK(table);
    const Buffers rows = GenerateRows(**table, 0, 3);  // positions −1, 0, 1
    const uint64_t sign_bit = infinity.positive ^ infinity.negative;
    EXPECT_EQ(ElementAt(rows[0], infinity.type, 2), sign_bit);
    EXPECT_EQ(ElementAt(rows[0], infinity.type, 6), 0u);
    EXPECT_EQ(ElementAt(rows[0], infinity.type, 10), 0u);
    EXPECT_EQ(ElementAt(rows[0], infinity.type, 3), ElementAt(rows[0], infinity.type, 7));  // cosines, all 1
  }
}

// The periods are 2^(1.4·10^10), 2^(6·10^16) and 2^1050, whose inverse is a subnormal double.
TEST(PeriodRangeTest, PeriodsBeyondTheTypeAreInfinite) {
  for (const double shift : {2 - 0x1p-30, 2 - 0x1p-52, 1.987345}) {
    for (const Infinity& infinity : kInfinities) {
      const RopeSpec spec{.head_dim = 4,
                          .layout = RopeLayout::kPeriods,
                          .axes = RopeAxes{.map = AxisMap::kSeparate, .sections = {2}, .frequency_shift = shift}};
      const auto table = MakeTableGenerator(*Normalize({.family = spec, .element_type = infinity.type}));
      ASSERT_OK(table);
      const Buffers row = GenerateRows(**table, 0, 1);
      EXPECT_EQ(ElementAt(row[0], infinity.type, 1), infinity.positive) << shift;
      EXPECT_NE(ElementAt(row[0], infinity.type, 0), infinity.positive) << shift;
    }
  }
}

}  // namespace
}  // namespace posenc
