#include "server/encodings/exact/frequency_rule.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"

namespace posenc {
namespace {

std::vector<double> All(const FrequencyRule& rule) {
  std::vector<double> result;
  MakeFrequencies(rule)->ForEach(
      320, [&](int64_t, const Real& w) { result.push_back(mpfr_get_d(w.get(), MPFR_RNDN)); });
  return result;
}

TEST(FrequencyRuleTest, OneByOneAndAllTogetherAgree) {
  const FrequencyRule rule{.count = 5000, .twice_pairs = 10000, .base = 5e5, .position_scale = 3.7};
  const Frequencies frequencies = MakeFrequencies(rule);
  frequencies->ForEach(320, [&](int64_t k, const Real& w) {
    if (k % 499 != 0) return;
    Real distance = frequencies->At(k, 400);
    mpfr_sub(distance.get(), distance.get(), w.get(), MPFR_RNDN);
    if (mpfr_zero_p(distance.get())) return;
    EXPECT_LT(mpfr_get_exp(distance.get()) - mpfr_get_exp(w.get()), -318) << k;
  });
}

TEST(FrequencyRuleTest, PowersOfTheBaseAreExact) {
  EXPECT_EQ(All({.count = 3, .twice_pairs = 4, .base = 256}),
            (std::vector<double>{1, 1.0 / 16, 1.0 / 256}));
}

TEST(FrequencyRuleTest, EndpointSpacingEndsAtOneOverBase) {
  const auto w = All({.count = 32, .twice_pairs = 64, .shift = 1.0});
  EXPECT_EQ(w.back(), 1e-4);
}

TEST(FrequencyRuleTest, ClampedDenominatorIsOne) {
  EXPECT_EQ(
      All({.count = 2, .twice_pairs = 2, .base = 16, .shift = 1.0, .clamp_denominator = true}),
      (std::vector<double>{1, 1.0 / 16}));
}

// encodings of Llama 3.1: base 500000, width 128.
TEST(FrequencyRuleTest, Llama3KeepsBlendsAndDivides) {
  const auto plain = All({.count = 64, .twice_pairs = 128, .base = 5e5});
  const auto scaled =
      All({.count = 64, .twice_pairs = 128, .base = 5e5, .scaling = Llama3Scaling{}});
  EXPECT_EQ(scaled[28], plain[28]);
  EXPECT_NEAR(scaled[29], 0.002166570763503358609, 1e-18);
  EXPECT_EQ(scaled[35], plain[35] / 8);
  EXPECT_NEAR(scaled[63], 3.068925988914511e-07, 1e-21);
}

TEST(FrequencyRuleTest, Llama3WithEqualFactorsNeverBlends) {
  const Llama3Scaling scaling{.low_freq_factor = 1, .high_freq_factor = 1};
  const auto plain = All({.count = 64, .twice_pairs = 128, .base = 5e5});
  const auto scaled = All({.count = 64, .twice_pairs = 128, .base = 5e5, .scaling = scaling});
  for (int k = 0; k < 64; ++k) EXPECT_TRUE(scaled[k] == plain[k] || scaled[k] == plain[k] / 8) << k;
}

TEST(FrequencyRuleTest, GivenFrequenciesAreTakenAsTheyAre) {
  EXPECT_EQ(All({.count = 3, .twice_pairs = 6, .scaling = ExplicitFrequencies{{0.3, 0, 1e-36}}}),
            (std::vector<double>{0.3, 0, 1e-36}));
}

}  // namespace
}  // namespace posenc
