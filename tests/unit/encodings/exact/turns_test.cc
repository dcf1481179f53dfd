#include "server/encodings/exact/turns.h"

#include <cmath>
#include <cstdint>
#include <random>

#include "gtest/gtest.h"

namespace posenc {
namespace {

constexpr int64_t kBits = 1024;

// log2 of the relative distance between an enclosure and the truth; at most −1000 when they are
// equal.
double RelativeError(const Enclosure& value, const Real& truth) {
  Real ours(kBits), low(kBits, static_cast<double>(static_cast<uint64_t>(value.mantissa)));
  mpfr_set_uj(ours.get(), static_cast<uint64_t>(value.mantissa >> 64), MPFR_RNDN);
  mpfr_mul_2ui(ours.get(), ours.get(), 64, MPFR_RNDN);
  mpfr_set_uj(low.get(), static_cast<uint64_t>(value.mantissa), MPFR_RNDN);
  mpfr_add(ours.get(), ours.get(), low.get(), MPFR_RNDN);
  mpfr_mul_2si(ours.get(), ours.get(), value.exponent, MPFR_RNDN);
  if (value.negative) mpfr_neg(ours.get(), ours.get(), MPFR_RNDN);
  mpfr_sub(ours.get(), ours.get(), truth.get(), MPFR_RNDN);
  if (mpfr_zero_p(ours.get())) return -1000;
  return static_cast<double>(mpfr_get_exp(ours.get()) - mpfr_get_exp(truth.get()));
}

Real TurnsFor(double w) {
  Real turns(kTurnPrecisionBits + 128, w);
  mpfr_div(turns.get(), turns.get(), TwoPi(kTurnPrecisionBits + 128).get(), MPFR_RNDN);
  return turns;
}

// Checks both parts of e^{i·p·w} against MPFR; their relative error must be below 2^-115.
void ExpectAccurate(double w, int64_t position) {
  const Phasor phasor = PhasorAt(TurnsOf(TurnsFor(w)), position);
  Real angle(kBits, w), sin(kBits), cos(kBits);
  mpfr_mul_si(angle.get(), angle.get(), position, MPFR_RNDN);
  mpfr_sin_cos(sin.get(), cos.get(), angle.get(), MPFR_RNDN);
  ASSERT_LT(RelativeError(phasor.sin, sin), -115) << "sin of " << position << " * " << w;
  ASSERT_LT(RelativeError(phasor.cos, cos), -115) << "cos of " << position << " * " << w;
}

TEST(TurnsTest, PhasorsAreAccurateAtEveryScale) {
  std::mt19937_64 bits(7);
  std::uniform_real_distribution<double> exponent(-60, 30), length(0, 53);
  for (int i = 0; i < 3000; ++i) {
    const auto position = static_cast<int64_t>(std::exp2(length(bits)));
    ExpectAccurate(std::exp2(exponent(bits)), i % 2 == 0 ? position : -position);
  }
}

TEST(TurnsTest, TinyFrequenciesKeepTheirLeadingBits) {
  for (double w : {1e-36, 1e-100, 1e-300}) {
    for (int64_t position : {int64_t{1}, int64_t{-12345}, int64_t{1} << 53})
      ExpectAccurate(w, position);
  }
}

TEST(TurnsTest, MultiplesOfStepsAreAccurate) {
  for (int64_t j = -700; j <= 700; ++j)
    ExpectAccurate(0.02454369260617026, j);  // nearly 1/256 turn
}

TEST(TurnsTest, AngleZeroIsExact) {
  for (const auto& [w, position] : {std::pair{0.0, int64_t{5}}, std::pair{0.3, int64_t{0}}}) {
    const Phasor phasor = PhasorAt(TurnsOf(TurnsFor(w)), position);
    EXPECT_EQ(phasor.sin.mantissa, 0u);
    EXPECT_EQ(RoundTo(ElementType::kF64, phasor.cos), 0x3FF0000000000000);
    EXPECT_EQ(phasor.cos.error, 0u);
  }
}

TEST(TurnsTest, AnglesThatCannotBeToldFromZeroAreUnknown) {
  Turns turns;
  turns.zero = false;
  turns.limbs[0] = 12345;
  EXPECT_EQ(RoundTo(ElementType::kF32, PhasorAt(turns, 3).sin), std::nullopt);
}

TEST(TurnsTest, ReducedAnglesAddUpToTheAngle) {
  std::mt19937_64 bits(8);
  for (int i = 0; i < 2000; ++i) {
    const double w = std::ldexp(static_cast<double>(bits() >> 11), -53 - i % 20);
    const auto position = static_cast<int64_t>(bits() >> 12);
    const auto angle = ReduceAngle(TurnsOf(TurnsFor(w)), position);
    ASSERT_TRUE(angle.has_value());
    const double rest = angle->rest.high;
    const StepPhasor& step = PhasorOfStep(angle->step);
    const Phasor truth = PhasorAt(TurnsOf(TurnsFor(w)), position);
    EXPECT_LE(std::fabs(rest), 6.2832 / 512);
    EXPECT_NEAR(step.cos.high * std::cos(rest) - step.sin.high * std::sin(rest),
                ToDoubleDouble(truth.cos).high, 1e-15);
  }
}

}  // namespace
}  // namespace posenc
