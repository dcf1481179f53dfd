#include "server/encodings/float32/frequencies.h"

#include "gtest/gtest.h"
#include "server/core/specs/normalize.h"
#include "server/encodings/float32/float32_angles.h"
#include "server/encodings/float32/running_angles.h"
#include "tests/support/matchers.h"

// Expected values: numpy's float32 arithmetic step by step, elementary functions by mpmath.
namespace posenc {
namespace {

RopeSpec Normalized(RopeSpec spec) {
  const auto normalized = Normalize({.family = spec});
  EXPECT_OK(normalized);
  return normalized.ok() ? std::get<RopeSpec>(normalized->family) : spec;
}

std::vector<float> Frequencies(const RopeSpec& spec, Arithmetic arithmetic) {
  return RopeSteps(Normalized(spec), arithmetic).frequencies;
}

std::vector<float> GgmlAnglesAt(float position, const RopeSpec& spec) {
  const RopeSpec normalized = Normalized(spec);
  const Float32Angles angles(RopeSteps(normalized, Arithmetic::kFloat32), GgmlAngles(normalized), {});
  return angles.At(position);
}

TEST(FrequenciesTest, TransformersRoundsTheExponentBeforeThePower) {
  const auto w = Frequencies({.head_dim = 96}, Arithmetic::kFloat32);
  EXPECT_EQ(w[8], 0x1.b93a6ap-3F);
  EXPECT_EQ(w[14], 0x1.170ea8p-4F);
}

TEST(FrequenciesTest, TensorRtTakesThePowerInDouble) {
  const auto w = Frequencies({.head_dim = 96}, Arithmetic::kFloat32TensorRt);
  EXPECT_EQ(w[8], 0x1.b93a6ep-3F);
  EXPECT_EQ(w[14], 0x1.170ea6p-4F);
}

TEST(FrequenciesTest, TensorRtMultipliesByTheInverseOfALinearFactor) {
  const auto w = Frequencies({.head_dim = 128, .base = 5e5, .scaling = LinearScaling{3}},
                             Arithmetic::kFloat32TensorRt);
  EXPECT_EQ(w[1], 0x1.160e58p-2F);
  EXPECT_EQ(w[33], 0x1.92ab0ap-12F);
}

TEST(FrequenciesTest, MlxTakesExponentials) {
  const auto w = Frequencies({.head_dim = 128}, Arithmetic::kFloat32Mlx);
  EXPECT_EQ(w[1], 0x1.bb5facp-1F);
  EXPECT_EQ(w[40], 0x1.9e7c66p-9F);
  EXPECT_EQ(w[63], 0x1.e459bap-14F);
}

TEST(FrequenciesTest, MlxScalesPeriods) {
  const auto w = Frequencies({.head_dim = 128, .base = 5e5, .scaling = Llama3Scaling{}},
                             Arithmetic::kFloat32Mlx);
  EXPECT_EQ(w[28], 0x1.a4ee4p-9F);
  EXPECT_EQ(w[30], 0x1.67a236p-10F);
  EXPECT_EQ(w[33], 0x1.47e214p-12F);
  EXPECT_EQ(w[40], 0x1.1f91fp-15F);
}

TEST(FrequenciesTest, LinearScalingDividesFrequenciesButPositionsInVllm) {
  const RopeSpec spec = Normalized({.head_dim = 128, .scaling = LinearScaling{3}});
  const auto angles = [&](Arithmetic arithmetic) {
    return Float32Angles(RopeSteps(spec, arithmetic), std::nullopt, {}).At(4095);
  };
  EXPECT_EQ(angles(Arithmetic::kFloat32)[1], 0x1.2782a4p+10F);
  EXPECT_EQ(angles(Arithmetic::kFloat32Vllm)[1], 0x1.2782a6p+10F);
  EXPECT_EQ(angles(Arithmetic::kFloat32)[17], 0x1.d8d108p+6F);
  EXPECT_EQ(angles(Arithmetic::kFloat32Vllm)[17], 0x1.d8d106p+6F);
}

TEST(FrequenciesTest, GgmlMultipliesTheAngleAgainAndAgain) {
  const auto angles = GgmlAnglesAt(4095, {.head_dim = 128});
  EXPECT_EQ(angles[0], 4095.0F);
  EXPECT_EQ(angles[1], 0x1.bb43f8p+11F);
  EXPECT_EQ(angles[32], 0x1.4799b8p+5F);
  EXPECT_EQ(angles[63], 0x1.e43bdp-2F);
}

TEST(FrequenciesTest, GgmlInterpolatesTheRunningAngle) {
  const auto angles = GgmlAnglesAt(4095, {.head_dim = 128, .scaling = LinearScaling{2.5}});
  EXPECT_EQ(angles[1], 0x1.629cc6p+10F);
  EXPECT_EQ(angles[63], 0x1.83630ep-3F);
}

TEST(FrequenciesTest, GgmlMixesAnglesForYarn) {
  const auto angles =
      GgmlAnglesAt(4095, {.head_dim = 128, .scaling = YarnScaling{.factor = 16, .original_max_len = 4096}});
  EXPECT_EQ(angles[10], 0x1.e589fap+9F);
  EXPECT_EQ(angles[30], 0x1.1756fap+5F);
  EXPECT_EQ(angles[40], 0x1.ce3306p+1F);
  EXPECT_EQ(angles[63], 0x1.e43bdp-6F);
}

// Sections of their own spectra begin the product anew; shared ones go on.
TEST(FrequenciesTest, GgmlStartsSeparateAxesAnew) {
  RopeSpec spec{.head_dim = 8, .axes = RopeAxes{.map = AxisMap::kSeparate, .sections = {2, 2}}};
  const auto separate = GgmlAngles(Normalized(spec));
  spec.axes->map = AxisMap::kContiguous;
  const auto shared = GgmlAngles(Normalized(spec));
  ASSERT_TRUE(separate && shared);
  const std::vector<int32_t> axis_of_pair = {0, 0, 1, 1};
  std::vector<float> angles(4);
  separate->Write(100, 1, axis_of_pair, angles);
  EXPECT_EQ(angles[2], 100.0F);
  EXPECT_EQ(angles[3], 1.0F);
  shared->Write(100, 1, axis_of_pair, angles);
  EXPECT_EQ(angles[2], 1.0F);
}

TEST(FrequenciesTest, GgmlHasNoRunningAnglesOfExplicitFrequencies) {
  EXPECT_FALSE(GgmlAngles(Normalized({.head_dim = 2, .scaling = ExplicitFrequencies{{0.5}}})));
}

TEST(FrequenciesTest, ProportionalScalingStopsTheLastPairs) {
  const RopeSpec spec{.head_dim = 8, .scaling = ProportionalScaling{2, 0.5}};
  for (Arithmetic arithmetic :
       {Arithmetic::kFloat32, Arithmetic::kFloat32Mlx, Arithmetic::kFloat32TensorRt}) {
    EXPECT_EQ(Frequencies(spec, arithmetic), (std::vector<float>{0.5F, 0.05F, 0, 0}));
  }
  EXPECT_EQ(GgmlAnglesAt(1, spec)[3], 0);
}

}  // namespace
}  // namespace posenc
