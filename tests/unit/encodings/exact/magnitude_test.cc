#include "server/encodings/exact/magnitude.h"

#include "gtest/gtest.h"

namespace posenc {
namespace {

double Yarn(double factor, double mscale = 0, double mscale_all_dim = 0) {
  return RopeMagnitude({.scaling = YarnScaling{.factor = factor,
                                               .mscale = mscale,
                                               .mscale_all_dim = mscale_all_dim}})
      .high();
}

TEST(MagnitudeTest, YarnIsATenthOfTheLogarithmPlusOne) {
  EXPECT_NEAR(Yarn(4), 1.138629436, 1e-9);
  EXPECT_NEAR(Yarn(16), 1.277258872, 1e-9);
  EXPECT_NEAR(Yarn(32), 1.346573590, 1e-9);
  EXPECT_NEAR(Yarn(128), 1.485203026, 1e-9);
  EXPECT_EQ(Yarn(0.5), 1);
}

TEST(MagnitudeTest, YarnDividesByTheFactorOfTheScores) {
  EXPECT_NEAR(Yarn(40, 1.0, 0.707), 1.0857263992561355, 1e-15);
  EXPECT_EQ(Yarn(40, 0.707, 0.707), 1);
  EXPECT_NEAR(Yarn(40, 0.707, 0), 1.3688879454113936, 1e-15);
}

TEST(MagnitudeTest, LongRopeIsARootOfLogarithms) {
  const RopeSpec spec{.scaling = LongRopeScaling{.factor = 32, .original_max_len = 4096}};
  EXPECT_NEAR(RopeMagnitude(spec).high(), 1.190238071, 1e-9);  // sqrt(17/12)
  const RopeSpec short_context{.scaling = LongRopeScaling{.factor = 1, .original_max_len = 4096}};
  EXPECT_EQ(RopeMagnitude(short_context).high(), 1);
}

TEST(MagnitudeTest, AGivenFactorWins) {
  const RopeSpec spec{.scaling = YarnScaling{.factor = 64}, .attention_factor = 1.0};
  EXPECT_EQ(RopeMagnitude(spec).high(), 1);
  EXPECT_TRUE(RopeMagnitude(spec).exact());
}

TEST(MagnitudeTest, IsExactWhereItIsADouble) {
  // sqrt(1 + ln(8) / ln(2)) = 2.
  const RopeSpec spec{.scaling = LongRopeScaling{.factor = 8, .original_max_len = 2}};
  EXPECT_TRUE(RopeMagnitude(spec).exact());
  EXPECT_EQ(RopeMagnitude(spec).high(), 2);
  EXPECT_FALSE(RopeMagnitude({.scaling = YarnScaling{.factor = 4}}).exact());
}

TEST(MagnitudeTest, PartsAddUpToTheRealNumber) {
  const Magnitude magnitude = RopeMagnitude({.scaling = YarnScaling{.factor = 4}});
  Real rest = magnitude.At(400);
  mpfr_sub_d(rest.get(), rest.get(), magnitude.high(), MPFR_RNDN);
  mpfr_sub_d(rest.get(), rest.get(), magnitude.low(), MPFR_RNDN);
  EXPECT_LT(mpfr_get_exp(rest.get()), -102);
}

}  // namespace
}  // namespace posenc
