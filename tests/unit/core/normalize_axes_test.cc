#include "gtest/gtest.h"
#include "server/core/specs/normalize.h"
#include "tests/support/matchers.h"

namespace posenc {
namespace {

RopeSpec Axes(RopeAxes axes, int64_t head_dim = 32) { return {.head_dim = head_dim, .axes = std::move(axes)}; }

void ExpectRefused(const char* field, const FamilySpec& family) {
  EXPECT_THAT(Normalize({.family = family}), ViolatesField(field));
}

TEST(NormalizeAxesTest, TakesTheMapsOfSystems) {
  EXPECT_OK(Normalize({.family = Axes({.map = AxisMap::kContiguous, .sections = {4, 6, 6}})}));
  EXPECT_OK(Normalize({.family = Axes({.map = AxisMap::kBalanced, .sections = {4, 6, 6}})}));
  EXPECT_OK(Normalize({.family = Axes({.map = AxisMap::kEvenOdd, .sections = {8, 8}})}));
  EXPECT_OK(Normalize({.family = Axes({.map = AxisMap::kSeparate, .sections = {1, 15}, .ntk_factors = {1, 2}})}));
}

TEST(NormalizeAxesTest, RefusesSectionsThatLeaveAnExponentUndefined) {
  ExpectRefused("rope.axes.sections[0]",
                Axes({.map = AxisMap::kSeparate, .sections = {1, 15}, .frequency_shift = 1}));
  ExpectRefused("rope.axes.sections[0]",
                Axes({.map = AxisMap::kSeparate, .sections = {1, 15}, .ntk_factors = {2, 1}}));
}

TEST(NormalizeAxesTest, RefusesSectionsThatTheMapCannotHave) {
  ExpectRefused("rope.axes.sections[0]", Axes({.map = AxisMap::kEvenOdd, .sections = {9, 7}}));
  ExpectRefused("rope.axes.sections[0]", Axes({.map = AxisMap::kBalanced, .sections = {0, 8, 8}}));
  ExpectRefused("rope.axes.sections", Axes({.map = AxisMap::kContiguous, .sections = {4, 6, 7}}));
  ExpectRefused("rope.axes.sections", Axes({.map = AxisMap::kRoundRobin, .sections = {4, 6, 6}}));
  ExpectRefused("rope.axes.sections", Axes({.map = AxisMap::kInterleaved, .sections = {4, 6, 5}}));
  ExpectRefused("rope.axes.sections", Axes({.map = AxisMap::kInterleaved, .sections = {4, 6, 7}}));
  ExpectRefused("rope.axes.sections", Axes({.map = AxisMap::kInterleavedGgml, .sections = {0, 0, 0, 0}}));
}

TEST(NormalizeAxesTest, LeftoversFollowTheFirstAxisWhereTheSpecSaysSo) {
  const auto sections = [](std::vector<int64_t> given, bool leftovers) {
    const auto spec = Normalize({.family = Axes({.map = AxisMap::kInterleaved, .sections = std::move(given),
                                                 .leftovers_on_first = leftovers})});
    EXPECT_OK(spec);
    return *std::get<RopeSpec>(spec->family).axes;
  };
  // One table, one spelling: the first section is what the others leave.
  for (const RopeAxes& axes : {sections({2, 4, 4}, true), sections({8, 4, 4}, true), sections({8, 4, 4}, false)}) {
    EXPECT_EQ(axes.sections, (std::vector<int64_t>{8, 4, 4}));
    EXPECT_FALSE(axes.leftovers_on_first);
  }
  const RopeAxes wide = sections({24, 20, 20}, true);  // of a model that is wider than this head
  EXPECT_EQ(wide.sections, (std::vector<int64_t>{24, 20, 20}));
  EXPECT_TRUE(wide.leftovers_on_first);
  ExpectRefused("rope.axes.leftovers_on_first",
                Axes({.map = AxisMap::kContiguous, .sections = {4, 6, 6}, .leftovers_on_first = true}));
}

// 10^-6 and a shift near the axis' two pairs: the second frequency would be 10^(12 / 0.001).
TEST(NormalizeAxesTest, RefusesFactorsThatRaiseAFrequencyWithoutBound) {
  RopeSpec spec = Axes({.map = AxisMap::kSeparate, .sections = {2, 14}, .frequency_shift = 1.999,
                        .ntk_factors = {1e-6, 1}});
  spec.base = 1;
  ExpectRefused("rope.axes.ntk_factors[0]", spec);
  spec.axes->frequency_shift = 0;
  EXPECT_OK(Normalize({.family = spec}));
}

TEST(NormalizeAxesTest, RefusesShiftsAndBasesThatBandsDoNotHave) {
  const RopeAxes rising{.map = AxisMap::kSeparate, .sections = {16}, .bands = FrequencyBands::kRising};
  RopeAxes shifted = rising;
  shifted.frequency_shift = 0.5;
  ExpectRefused("rope.axes.frequency_shift", Axes(shifted));
  RopeSpec spec = Axes(rising);
  spec.base = 1e10;
  ExpectRefused("rope.base", spec);
  ExpectRefused("grid_sinusoidal.base", GridSinusoidalSpec{.d_model = 8,
                                                           .grid = {.sizes = {4}},
                                                           .base = 1e10,
                                                           .bands = FrequencyBands::kRising});
}

}  // namespace
}  // namespace posenc
