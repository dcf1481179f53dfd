// Frequencies against numbers that users and systems reported; the comments name the systems.

#include "server/encodings/exact/frequency_scaling.h"

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

// Nine digits, as they were reported.
void ExpectNineDigits(double value, double reported) { EXPECT_NEAR(value, reported, reported * 1e-8); }

FrequencyRule GptOss(bool truncate) {
  return {.count = 32,
          .twice_pairs = 64,
          .base = 150000,
          .scaling = YarnScaling{.factor = 32, .original_max_len = 4096, .truncate = truncate}};
}

double Low(const YarnRamp& ramp) { return mpfr_get_d(ramp.low.get(), MPFR_RNDN); }
double High(const YarnRamp& ramp) { return mpfr_get_d(ramp.high.get(), MPFR_RNDN); }

TEST(YarnRampTest, EndsAreThoseOfGptOss) {
  YarnScaling scaling{.factor = 32, .original_max_len = 4096, .truncate = false};
  const YarnRamp real = YarnRampOf(scaling, 64, 150000, 320);
  EXPECT_NEAR(Low(real), 8.092779116, 1e-8);
  EXPECT_NEAR(High(real), 17.398024502, 1e-8);
  scaling.truncate = true;
  const YarnRamp whole = YarnRampOf(scaling, 64, 150000, 320);
  EXPECT_EQ(Low(whole), 8);
  EXPECT_EQ(High(whole), 18);
}

TEST(YarnRampTest, EndsAreThoseOfQwenAndDeepSeek) {
  const YarnRamp qwen = YarnRampOf({.factor = 4, .original_max_len = 32768}, 128, 1e6, 320);
  EXPECT_EQ(Low(qwen), 23);
  EXPECT_EQ(High(qwen), 40);
  const YarnRamp deepseek = YarnRampOf({.factor = 40, .original_max_len = 4096}, 64, 1e4, 320);
  EXPECT_EQ(Low(deepseek), 10);
  EXPECT_EQ(High(deepseek), 23);
}

TEST(YarnRampTest, StaysWithinTheWidthAndIsNeverEmpty) {
  const YarnRamp ramp = YarnRampOf({.original_max_len = 1, .beta_fast = 1, .beta_slow = 1}, 4, 10, 320);
  EXPECT_EQ(Low(ramp), 0);
  EXPECT_EQ(High(YarnRampOf({.original_max_len = 1 << 30}, 4, 1.5, 320)), 3);
  const YarnScaling equal{.original_max_len = 4096, .beta_fast = 2, .beta_slow = 2, .truncate = false};
  const YarnRamp singular = YarnRampOf(equal, 64, 1e4, 320);
  EXPECT_NEAR(High(singular) - Low(singular), 0.001, 1e-12);
}

TEST(FrequencyScalingTest, YarnTruncatesOnlyWhenAsked) {
  const auto real = All(GptOss(false)), whole = All(GptOss(true));
  ExpectNineDigits(real[9], 0.0317056962);
  ExpectNineDigits(real[12], 0.00679495949);
  ExpectNineDigits(real[16], 0.000456483919);
  ExpectNineDigits(real[17], 1.29318701e-4);
  ExpectNineDigits(whole[9], 0.0316207523);
  ExpectNineDigits(whole[12], 0.00701571391);
  ExpectNineDigits(whole[17], 2.27947796e-4);
  for (const auto& both : {real, whole}) {
    ExpectNineDigits(both[8], 0.0508132748);
    ExpectNineDigits(both[31], 3.02351143e-7);
  }
}

TEST(FrequencyScalingTest, YarnIsThatOfDeepSeek) {
  const auto w = All({.count = 32,
                      .twice_pairs = 64,
                      .scaling = YarnScaling{.factor = 40, .original_max_len = 4096}});
  ExpectNineDigits(w[9], 0.0749894209);
  ExpectNineDigits(w[16], 0.0055);
  ExpectNineDigits(w[31], 3.33380358e-6);
}

std::vector<double> Dynamic(int64_t length) {
  return All({.count = 64,
              .twice_pairs = 128,
              .scaling = DynamicScaling{.factor = 2, .original_max_len = 2048},
              .effective_length = length});
}

TEST(FrequencyScalingTest, DynamicScalingBeginsBeyondTheTrainedLength) {
  const auto plain = All({.count = 64, .twice_pairs = 128});
  EXPECT_EQ(Dynamic(100), plain);
  EXPECT_EQ(Dynamic(2048), plain);
  EXPECT_NE(Dynamic(2049), plain);
  ExpectNineDigits(Dynamic(4096)[1], 0.850994291);
  ExpectNineDigits(Dynamic(4096)[63], 3.84927328e-5);
}

TEST(FrequencyScalingTest, Llama3IsThatOfLlama32) {
  const auto w = All({.count = 32,
                      .twice_pairs = 64,
                      .base = 5e5,
                      .scaling = Llama3Scaling{.factor = 32}});
  const auto plain = All({.count = 32, .twice_pairs = 64, .base = 5e5});
  for (int k = 0; k < 15; ++k) EXPECT_EQ(w[k], plain[k]) << k;
  ExpectNineDigits(w[15], 0.001290547928);
  ExpectNineDigits(w[16], 4.295567966e-4);
  ExpectNineDigits(w[17], 9.708287803e-5);
  for (int k = 18; k < 32; ++k) EXPECT_EQ(w[k], plain[k] / 32) << k;
}

TEST(FrequencyScalingTest, AlphaRaisesTheBaseOfHunyuan) {
  const auto w = All({.count = 64, .twice_pairs = 128, .scaling = NtkAlphaScaling{1000}});
  const auto raised = All({.count = 64, .twice_pairs = 128, .base = 11158839.925});
  for (int k : {1, 32, 63}) EXPECT_NEAR(w[k], raised[k], raised[k] * 1e-9) << k;
}

TEST(FrequencyScalingTest, ProportionalScalingStopsSomePairs) {
  const auto w = All({.count = 8, .twice_pairs = 16, .scaling = ProportionalScaling{2, 0.25}});
  const auto plain = All({.count = 8, .twice_pairs = 16});
  EXPECT_EQ(w, (std::vector<double>{plain[0] / 2, plain[1] / 2, 0, 0, 0, 0, 0, 0}));
}

TEST(FrequencyScalingTest, LongRopeTakesTheListOfItsLength) {
  const LongRopeScaling scaling{.factor = 32,
                                .original_max_len = 4096,
                                .short_factor = {1, 1},
                                .long_factor = {4, 8}};
  FrequencyRule rule{.count = 2, .twice_pairs = 4, .base = 256, .scaling = scaling, .effective_length = 4096};
  EXPECT_EQ(All(rule), (std::vector<double>{1, 1.0 / 16}));
  rule.effective_length = 4097;
  EXPECT_EQ(All(rule), (std::vector<double>{1.0 / 4, 1.0 / 128}));
}

}  // namespace
}  // namespace posenc
