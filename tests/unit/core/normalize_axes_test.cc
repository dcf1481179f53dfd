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
