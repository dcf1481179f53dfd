#include "gtest/gtest.h"
#include "server/core/specs/normalize.h"
#include "tests/support/matchers.h"

namespace posenc {
namespace {

TEST(NormalizeBiasTest, RefusesEveryFieldOutOfItsRange) {
  const std::vector<double> two = {1, 2};
  const std::vector<double> wide(65, 1.0);
  const std::vector<std::pair<const char*, FamilySpec>> cases = {
      {"relative_bucket.t5.buckets", RelativeBucketSpec{.rule = T5Buckets{.buckets = 2}}},
      {"relative_bucket.t5.buckets", RelativeBucketSpec{.rule = T5Buckets{.buckets = 7}}},
      {"relative_bucket.t5.max_distance", RelativeBucketSpec{.rule = T5Buckets{.max_distance = 8}}},
      {"relative_bucket.deberta.max_distance", RelativeBucketSpec{.rule = DebertaBuckets{.max_distance = 129}}},
      {"relative_bucket.max_len", RelativeBucketSpec{.max_len = 0}},
      {"relative_bucket.weight_sha256", RelativeBucketSpec{.weight = "w", .weight_sha256 = "12"}},
      {"relative_bias.heads", RelativeBiasSpec{.heads = 0}},
      {"relative_bias.masked", RelativeBiasSpec{.form = BiasForm::kSymmetric, .masked = true}},
      {"relative_bias.sandwich.head_dim", RelativeBiasSpec{.rule = SandwichBias{.head_dim = 7}}},
      {"relative_bias.kerple.r2", RelativeBiasSpec{.rule = KerpleBias{.r1 = two}, .heads = 2}},
      {"relative_bias.kerple.r2[1]",
       RelativeBiasSpec{.rule = KerpleBias{.kind = KerpleKind::kPower, .r1 = two, .r2 = {1, 2.5}}, .heads = 2}},
      {"relative_bias.fire.input_bias", RelativeBiasSpec{.rule = FireBias{.input_weight = two}}},
      {"relative_bias.fire.input_weight", RelativeBiasSpec{.rule = FireBias{.input_weight = wide}}},
      {"relative_bias.max_len",
       RelativeBiasSpec{.rule = FireBias{.input_weight = {1, 2, 3, 4}}, .max_len = (int64_t{1} << 21)}},
      {"query_temperature.floor_len", QueryTemperatureSpec{.floor_len = 0}},
      {"learned.name", LearnedSpec()},
      {"learned.content_sha256", LearnedSpec{.name = "a", .content_sha256 = "ff"}},
      {"learned.resize.width", LearnedSpec{.name = "a", .resize = GridResize{1, 1, 1, 0, 0}}},
      {"alibi.score_divisor", AlibiSpec{.heads = 1, .score_divisor = 0}},
  };
  for (const auto& [field, family] : cases) {
    EXPECT_THAT(Normalize({.family = family}), ViolatesField(field));
  }
}

TEST(NormalizeBiasTest, MapsHoldIntegersAndNothingElseDoes) {
  EXPECT_THAT(Normalize({.family = RelativeBucketSpec(), .element_type = ElementType::kF32}),
              ViolatesField("element_type"));
  EXPECT_THAT(Normalize({.family = RelativeBiasSpec(), .element_type = ElementType::kI32}),
              ViolatesField("element_type"));
}

TEST(NormalizeBiasTest, OnlyFrameworkFamiliesHaveFloat32Arithmetic) {
  for (const FamilySpec& family : {FamilySpec(AlibiSpec{.heads = 8}), FamilySpec(RelativeBiasSpec()),
                                   FamilySpec(QueryTemperatureSpec())}) {
    EXPECT_THAT(Normalize({.family = family, .arithmetic = Arithmetic::kFloat32}), ViolatesField("arithmetic"));
  }
  const FamilySpec sinusoidal = SinusoidalSpec{.d_model = 8};
  EXPECT_OK(Normalize({.family = sinusoidal, .arithmetic = Arithmetic::kFloat32}));
  EXPECT_THAT(Normalize({.family = sinusoidal, .arithmetic = Arithmetic::kFloat32Ggml}),
              ViolatesField("arithmetic"));
}

}  // namespace
}  // namespace posenc
