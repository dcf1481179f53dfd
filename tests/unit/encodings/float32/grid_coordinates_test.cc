#include "server/encodings/float32/grid_coordinates.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

// Expected values: the systems' float32 steps in numpy.
namespace posenc {
namespace {

using ::testing::ElementsAre;

std::vector<float> Axis(const Grid& grid, const std::vector<int64_t>& indices) {
  std::vector<float> coordinates;
  for (int64_t j : indices) coordinates.push_back(CoordinateF32(grid, 0, j));
  return coordinates;
}

TEST(GridCoordinatesTest, CentredOnesAreDinoV3s) {
  const Grid own{.sizes = {7}, .coordinates = GridCoordinates::kCentred};
  const Grid largest{.sizes = {3, 7}, .coordinates = GridCoordinates::kCentred, .normalize = GridNormalize::kMax};
  for (const Grid& grid : {own, largest}) {
    EXPECT_THAT(Axis(grid, {0, 1, 2}), ElementsAre(-0x1.b6db6ep-1F, -0x1.249248p-1F, -0x1.249248p-2F));
  }
}

TEST(GridCoordinatesTest, LinspacesCountFromTheNearerEnd) {
  const Grid grid{.sizes = {6}, .coordinates = GridCoordinates::kLinspace, .starts = {-1}, .stops = {1}};
  EXPECT_THAT(Axis(grid, {0, 1, 2, 3, 4, 5}), ElementsAre(-1, -0x1.333334p-1F, -0x1.999998p-3F,
                                                          0x1.999998p-3F, 0x1.333334p-1F, 1));
}

TEST(GridCoordinatesTest, CropsLeaveTheEndOut) {
  const Grid grid{.sizes = {6}, .coordinates = GridCoordinates::kCrop, .stops = {7}};
  EXPECT_THAT(Axis(grid, {0, 1, 3, 5}), ElementsAre(0, 0x1.2aaaacp+0F, 3.5F, 0x1.755556p+2F));
}

TEST(GridCoordinatesTest, ScaledOnesAreDividedTwice) {
  const Grid grid{.sizes = {12}, .coordinates = GridCoordinates::kScaled, .references = {16},
                  .interpolation_scale = 1.5};
  EXPECT_THAT(Axis(grid, {1, 5, 11}), ElementsAre(0x1.c71c72p-1F, 0x1.1c71c6p+2F, 0x1.38e38ep+3F));
}

TEST(GridCoordinatesTest, UnitOnesAreDetrs) {
  const Grid grid{.sizes = {3}, .coordinates = GridCoordinates::kUnit};
  EXPECT_THAT(Axis(grid, {0, 1, 2}), ElementsAre(0x1.55554ep-2F, 0x1.55554ep-1F, 0x1.fffff6p-1F));
}

TEST(GridCoordinatesTest, FractionsAreScaledFirst) {
  const Grid grid{.sizes = {3}, .coordinates = GridCoordinates::kFraction, .references = {20}, .scales = {0.04}};
  EXPECT_THAT(Axis(grid, {0, 1, 2}), ElementsAre(-1, -0x1.fdf3b6p-1F, -0x1.fbe76cp-1F));
}

TEST(GridCoordinatesTest, ResampledOnesAreWhole) {
  const Grid grid{.sizes = {6}, .coordinates = GridCoordinates::kResampled, .references = {4}};
  EXPECT_THAT(Axis(grid, {0, 1, 2, 5}), ElementsAre(0, 0, 1, 3));
}

TEST(GridCoordinatesTest, IndicesBeginAtTheStart) {
  EXPECT_THAT(Axis({.sizes = {9}, .starts = {1}}, {0, 8}), ElementsAre(1, 9));
}

}  // namespace
}  // namespace posenc
