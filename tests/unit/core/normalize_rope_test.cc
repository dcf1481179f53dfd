#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "server/core/limits.h"
#include "server/core/specs/normalize.h"
#include "server/core/table_key.h"
#include "tests/support/matchers.h"

namespace posenc {
namespace {

constexpr int64_t kMaxPosition = limits::kMaxPosition;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

RopeSpec Normalized(RopeSpec spec) {
  const absl::StatusOr<TableSpec> normalized = Normalize({.family = std::move(spec)});
  EXPECT_OK(normalized);
  return normalized.ok() ? std::get<RopeSpec>(normalized->family) : RopeSpec();
}

struct Refusal {
  const char* field;
  RopeSpec spec;
};

void ExpectRefused(const std::vector<Refusal>& cases) {
  for (const Refusal& refusal : cases) {
    const absl::StatusOr<TableSpec> result = Normalize({.family = refusal.spec});
    EXPECT_THAT(result, ViolatesField(refusal.field));
    EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST(NormalizeRopeTest, RefusesEveryFieldOutOfItsRange) {
  ExpectRefused({
      {"rope.head_dim", {.head_dim = 0}},
      {"rope.head_dim", {.head_dim = -8}},
      {"rope.head_dim", {.head_dim = 7}},
      {"rope.head_dim", {.head_dim = limits::kMaxWidth + 2}},
      {"rope.head_dim", {.head_dim = std::numeric_limits<int64_t>::min()}},
      {"rope.rotary_dim", {.head_dim = 8, .rotary_dim = 10}},
      {"rope.rotary_dim", {.head_dim = 7, .rotary_dim = 8}},
      {"rope.head_dim", {.head_dim = 7, .rotary_dim = 7}},
      {"rope.rotary_dim", {.head_dim = 8, .rotary_dim = 3}},
      {"rope.rotary_dim", {.head_dim = 8, .rotary_dim = -2}},
      {"rope.max_len", {.head_dim = 8, .max_len = 0}},
      {"rope.max_len", {.head_dim = 8, .max_len = kMaxPosition + 1}},
      {"rope.max_len", {.head_dim = 8, .max_len = 2, .first_position = kMaxPosition - 1}},
      {"rope.first_position", {.head_dim = 8, .first_position = kMaxPosition + 1}},
      {"rope.first_position", {.head_dim = 8, .first_position = -kMaxPosition - 1}},
      {"rope.base", {.head_dim = 8, .base = 0.99}},
      {"rope.base", {.head_dim = 8, .base = 1.1e30}},
      {"rope.base", {.head_dim = 8, .base = kNaN}},
  });
}

TEST(NormalizeRopeTest, RefusesScalingsOutOfTheirRange) {
  const auto with = [](RopeScaling scaling) {
    return RopeSpec{.head_dim = 4, .scaling = std::move(scaling)};
  };
  ExpectRefused({
      {"rope.linear.factor", with(LinearScaling{0})},
      {"rope.linear.factor", with(LinearScaling{-1})},
      {"rope.linear.factor", with(LinearScaling{1e10})},
      {"rope.linear.factor", with(LinearScaling{kNaN})},
      {"rope.llama3.factor", with(Llama3Scaling{.factor = 0})},
      {"rope.llama3.low_freq_factor", with(Llama3Scaling{.low_freq_factor = 0})},
      {"rope.llama3.high_freq_factor", with(Llama3Scaling{.high_freq_factor = kNaN})},
      {"rope.llama3.high_freq_factor",
       with(Llama3Scaling{.low_freq_factor = 4, .high_freq_factor = 1})},
      {"rope.llama3.original_max_len", with(Llama3Scaling{.original_max_len = 0})},
      {"rope.frequencies.inverse_frequencies", with(ExplicitFrequencies{})},
      {"rope.frequencies.inverse_frequencies", with(ExplicitFrequencies{{1, 2, 3}})},
      {"rope.frequencies.inverse_frequencies[1]", with(ExplicitFrequencies{{1, -0.5}})},
      {"rope.frequencies.inverse_frequencies[0]", with(ExplicitFrequencies{{kNaN, 0.5}})},
      {"rope.frequencies.inverse_frequencies[0]", with(ExplicitFrequencies{{1e10, 0.5}})},
      {"rope.frequencies.inverse_frequencies[1]", with(ExplicitFrequencies{{1, 1e-40}})},
  });
}

TEST(NormalizeRopeTest, BadHeadDimIsNotBlamedOnRotaryDim) {
  const absl::StatusOr<TableSpec> result = Normalize({.family = RopeSpec{.head_dim = 7}});
  EXPECT_THAT(result, ::testing::Not(ViolatesField("rope.rotary_dim")));
}

TEST(NormalizeRopeTest, TakesTheEndsOfEveryRange) {
  const std::vector<RopeSpec> cases = {
      {.head_dim = 2},
      {.head_dim = limits::kMaxWidth},
      {.head_dim = 8, .rotary_dim = 2},
      {.head_dim = 8, .max_len = kMaxPosition},
      {.head_dim = 8, .first_position = -kMaxPosition},
      {.head_dim = 8, .base = 1},
      {.head_dim = 2, .scaling = LinearScaling{limits::kMinFactor}},
      {.head_dim = 2, .scaling = LinearScaling{limits::kMaxFactor}},
      {.head_dim = 2, .scaling = Llama3Scaling{.low_freq_factor = 1, .high_freq_factor = 1}},
      {.head_dim = 4, .scaling = ExplicitFrequencies{{0, limits::kMaxFrequency}}},
  };
  for (const RopeSpec& spec : cases) EXPECT_OK(Normalize({.family = spec}));
}

TEST(NormalizeRopeTest, OddHeadDimHasAnEvenPartThatRotates) {
  const auto spec = Normalize({.family = RopeSpec{.head_dim = 81, .rotary_dim = 32}});
  ASSERT_OK(spec);
  EXPECT_EQ(std::get<RopeSpec>(spec->family).head_dim, 81);
  EXPECT_EQ(std::get<RopeSpec>(spec->family).rotary_dim, 32);
}

TEST(NormalizeRopeTest, MessagesHaveTheNumberThatWasGiven) {
  EXPECT_THAT(Normalize({.family = RopeSpec{.head_dim = 8, .base = 0.9999999999999999}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "rope.base is 0.9999999999999999; allowed: 1 to 1e+30"));
  const RopeSpec llama3{.head_dim = 8,
                        .scaling = Llama3Scaling{.low_freq_factor = 4.000000001, .high_freq_factor = 4}};
  EXPECT_THAT(Normalize({.family = llama3}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "rope.llama3.high_freq_factor is 4; allowed: at least low_freq_factor, 4.000000001"));
}

TEST(NormalizeRopeTest, FillsInRotaryDim) {
  EXPECT_EQ(Normalized({.head_dim = 96}).rotary_dim, 96);
  EXPECT_EQ(Normalized({.head_dim = 96, .rotary_dim = 24}).rotary_dim, 24);
}

TEST(NormalizeRopeTest, RemovesWhatChangesNothing) {
  EXPECT_EQ(Normalized({.head_dim = 4, .scaling = LinearScaling{1}}).scaling.index(), 0u);
  EXPECT_EQ(Normalized({.head_dim = 4, .scaling = Llama3Scaling{.factor = 1}}).scaling.index(), 0u);
  EXPECT_EQ(
      Normalized({.head_dim = 2, .base = 7, .scaling = ExplicitFrequencies{{0.5}}}).base, 10000);
}

TEST(NormalizeRopeTest, NegativeZeroFrequencyBecomesZero) {
  const RopeSpec spec = Normalized({.head_dim = 2, .scaling = ExplicitFrequencies{{-0.0}}});
  EXPECT_FALSE(std::signbit(std::get<ExplicitFrequencies>(spec.scaling).inverse_frequencies[0]));
}

TEST(NormalizeRopeTest, TablesOfOneRowDoNotDependOnRows) {
  for (RopeLayout layout : {RopeLayout::kFrequencies, RopeLayout::kPeriods}) {
    const RopeSpec spec =
        Normalized({.head_dim = 4, .max_len = 77, .layout = layout, .first_position = 3});
    EXPECT_EQ(spec.max_len, RopeSpec().max_len);
    EXPECT_EQ(spec.first_position, 0);
  }
}

TEST(NormalizeRopeTest, PeriodsOfAZeroFrequencyAreRefused) {
  const ExplicitFrequencies zero{{1, 0}};
  EXPECT_THAT(Normalize({.family = RopeSpec{
                             .head_dim = 4, .scaling = zero, .layout = RopeLayout::kPeriods}}),
              ViolatesField("rope.layout"));
  EXPECT_OK(Normalize({.family = RopeSpec{.head_dim = 4, .scaling = zero}}));
}

TEST(NormalizeRopeTest, ComplexLayoutHasNoHalfWidthElements) {
  const RopeSpec spec{.head_dim = 4, .layout = RopeLayout::kComplex};
  EXPECT_OK(Normalize({.family = spec, .element_type = ElementType::kF64}));
  EXPECT_OK(Normalize({.family = spec}));
  for (ElementType type : {ElementType::kF16, ElementType::kBF16, ElementType::kComplex64}) {
    EXPECT_THAT(Normalize({.family = spec, .element_type = type}), ViolatesField("element_type"));
  }
}

TEST(NormalizeRopeTest, TwiceIsOnce) {
  const absl::StatusOr<TableSpec> once =
      Normalize({.family = RopeSpec{.head_dim = 8, .rotary_dim = 4, .scaling = LinearScaling{2}}});
  ASSERT_OK(once);
  ASSERT_OK(Normalize(*once));
  EXPECT_EQ(CanonicalText(*Normalize(*once)), CanonicalText(*once));
}

}  // namespace
}  // namespace posenc
