#include <vector>

#include "gtest/gtest.h"
#include "server/core/specs/normalize.h"
#include "server/core/table_key.h"
#include "tests/support/matchers.h"

namespace posenc {
namespace {

using Factors = std::vector<double>;

RopeSpec With(RopeScaling scaling, std::optional<int64_t> effective_length = std::nullopt) {
  return {.head_dim = 4, .scaling = std::move(scaling), .effective_length = effective_length};
}

std::string KeyText(const RopeSpec& spec) {
  const absl::StatusOr<TableSpec> normalized = Normalize({.family = spec});
  EXPECT_OK(normalized);
  return normalized.ok() ? CanonicalText(*normalized) : "";
}

TEST(NormalizeScalingTest, RefusesWhatAScalingCannotBe) {
  const Factors two = {1, 2};
  const std::vector<std::pair<const char*, RopeSpec>> cases = {
      {"rope.ntk.mixed_b", With(NtkScaling{.factor = 2, .rule = NtkRule::kMixed})},
      {"rope.ntk.mixed_b", With(NtkScaling{.factor = 2, .mixed_b = 0.5})},
      {"rope.ntk.factor", With(NtkScaling{.factor = 0})},
      {"rope.ntk_alpha.alpha", With(NtkAlphaScaling{.alpha = -1})},
      {"rope.dynamic.original_max_len", With(DynamicScaling{.factor = 2})},
      {"rope.rotary_dim", {.head_dim = 2, .scaling = NtkScaling{.factor = 2}}},
      {"rope.yarn.beta_fast", With(YarnScaling{.factor = 2, .original_max_len = 9, .beta_fast = 0.5})},
      {"rope.base", {.head_dim = 4, .base = 1, .scaling = YarnScaling{.factor = 2, .original_max_len = 9}}},
      {"rope.longrope.short_factor", With(LongRopeScaling{.original_max_len = 9, .long_factor = two})},
      {"rope.longrope.long_factor", With(LongRopeScaling{.original_max_len = 9, .short_factor = two}, 10)},
      {"rope.longrope.original_max_len",
       With(LongRopeScaling{.factor = 2, .original_max_len = 1, .short_factor = two})},
      {"rope.proportional.fraction", With(ProportionalScaling{.fraction = 1.5})},
      {"rope.divisors.divisors", With(FrequencyDivisors{{1, 2, 3}})},
      {"rope.divisors.divisors[1]", With(FrequencyDivisors{{1, 0}})},
      {"rope.attention_factor", {.head_dim = 4, .attention_factor = 0}},
      {"rope.effective_length", With(DynamicScaling{.factor = 2, .original_max_len = 9}, 0)},
  };
  for (const auto& [field, spec] : cases) {
    EXPECT_THAT(Normalize({.family = spec}), ViolatesField(field));
  }
}

TEST(NormalizeScalingTest, ScalingThatChangesNothingHasThePlainKey) {
  const std::string plain = KeyText({.head_dim = 4});
  const DynamicScaling dynamic{.factor = 2, .original_max_len = 2048};
  for (const RopeSpec& spec :
       {With(NtkScaling{.factor = 1}), With(NtkAlphaScaling{.alpha = 1}), With(dynamic), With(dynamic, 100),
        With(dynamic, 2048), With(YarnScaling{.factor = 1, .original_max_len = 9}),
        With(ProportionalScaling()), With(LinearScaling(), 77)}) {
    EXPECT_EQ(KeyText(spec), plain);
  }
}

TEST(NormalizeScalingTest, EffectiveLengthCountsWhereItChangesNumbers) {
  const DynamicScaling dynamic{.factor = 2, .original_max_len = 2048};
  EXPECT_NE(KeyText(With(dynamic, 2049)), KeyText(With(dynamic, 4096)));
  EXPECT_NE(KeyText(With(dynamic, 2049)), KeyText(With(dynamic, 2048)));
  const LongRopeScaling longrope{.factor = 32, .original_max_len = 4096, .short_factor = {1, 1},
                                 .long_factor = {4, 4}};
  EXPECT_EQ(KeyText(With(longrope)), KeyText(With(longrope, 4096)));
  EXPECT_NE(KeyText(With(longrope)), KeyText(With(longrope, 4097)));
  EXPECT_EQ(KeyText(With(longrope, 4097)), KeyText(With(longrope, 131072)));
}

TEST(NormalizeScalingTest, NormalisedLongRopeCanBeNormalisedAgain) {
  const LongRopeScaling longrope{.factor = 32, .original_max_len = 4096, .short_factor = {1, 1},
                                 .long_factor = {4, 4}};
  for (const int64_t length : {1, 4096, 4097}) {
    const absl::StatusOr<TableSpec> once = Normalize({.family = With(longrope, length)});
    ASSERT_OK(once);
    const absl::StatusOr<TableSpec> twice = Normalize(*once);
    ASSERT_OK(twice);
    EXPECT_EQ(CanonicalText(*once), CanonicalText(*twice));
  }
}

TEST(NormalizeScalingTest, FieldsThatJoinedLaterLeaveOldKeysAlone) {
  EXPECT_EQ(KeyText({.head_dim = 4}).find("attention_factor"), std::string::npos);
  EXPECT_NE(KeyText({.head_dim = 4, .attention_factor = 2}).find("attention_factor=0x1p+1\n"),
            std::string::npos);
}

}  // namespace
}  // namespace posenc
