#include "server/encodings/sinusoidal/grid_rows.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/core/specs/normalize.h"
#include "server/encodings/table_generator.h"
#include "tests/support/matchers.h"
#include "tests/unit/encodings/reference.h"

namespace posenc {
namespace {

std::vector<double> Coordinates(const Grid& grid, size_t axis) {
  std::vector<double> result;
  for (int64_t j = 0; j < grid.sizes[axis]; ++j) {
    result.push_back(mpfr_get_d(CoordinateOf(grid, axis, j).Times(Real(300, 1.0)).get(), MPFR_RNDN));
  }
  return result;
}

TEST(CoordinateOfTest, FollowsTheRuleOfTheGrid) {
  using enum GridCoordinates;
  const auto are = [](const Grid& grid, std::vector<double> values) {
    EXPECT_EQ(Coordinates(grid, 0), values) << static_cast<int>(grid.coordinates);
  };
  are({.sizes = {3}, .starts = {1}}, {1, 2, 3});
  are({.sizes = {4}, .coordinates = kCentred}, {-0.75, -0.25, 0.25, 0.75});
  are({.sizes = {4, 8}, .coordinates = kCentred, .normalize = GridNormalize::kMax},
      {-7.0 / 8, -5.0 / 8, -3.0 / 8, -1.0 / 8});
  are({.sizes = {5}, .coordinates = kLinspace, .starts = {-1}, .stops = {1}}, {-1, -0.5, 0, 0.5, 1});
  are({.sizes = {4}, .coordinates = kCrop, .starts = {3}, .stops = {9}}, {3, 4.5, 6, 7.5});
  are({.sizes = {4}, .coordinates = kResampled, .references = {6}}, {0, 1, 3, 4});
  are({.sizes = {4}, .coordinates = kScaled, .references = {16}, .interpolation_scale = 2}, {0, 2, 4, 6});
  are({.sizes = {1}, .coordinates = kUnit}, {1000000.0 / 1000001.0});
  are({.sizes = {2}, .coordinates = kFraction, .starts = {1}, .references = {8}, .scales = {0.5}},
      {-0.875, -0.75});
  are({.sizes = {3}, .scales = {2.5}}, {0, 2.5, 5});
}

std::vector<std::vector<int64_t>> Cells(const Grid& grid) {
  std::vector<std::vector<int64_t>> cells;
  for (int64_t row = 0; row < grid.rows(); ++row) {
    const auto cell = CellOfRow(grid, row);
    cells.push_back(cell ? std::vector<int64_t>(cell->begin(), cell->begin() + grid.sizes.size())
                         : std::vector<int64_t>());
  }
  return cells;
}

TEST(CellOfRowTest, TheLastAxisIsTheFastest) {
  EXPECT_THAT(Cells({.sizes = {2, 3}, .leading_rows = 1, .trailing_rows = 1}),
              ::testing::ElementsAre(std::vector<int64_t>(), std::vector<int64_t>{0, 0},
                                     std::vector<int64_t>{0, 1}, std::vector<int64_t>{0, 2},
                                     std::vector<int64_t>{1, 0}, std::vector<int64_t>{1, 1},
                                     std::vector<int64_t>{1, 2}, std::vector<int64_t>()));
}

// Qwen2-VL: h and w ids reshaped to (h/m, m, w/m, m) and transposed to (h/m, w/m, m, m).
TEST(CellOfRowTest, MergedBlocksFollowEachOther) {
  std::vector<std::vector<int64_t>> expected;
  for (int64_t t : {0, 1}) {
    for (int64_t block_row : {0, 1}) {
      for (int64_t block : {0, 1, 2}) {
        for (int64_t h : {0, 1}) {
          for (int64_t w : {0, 1}) expected.push_back({t, 2 * block_row + h, 2 * block + w});
        }
      }
    }
  }
  EXPECT_EQ(Cells({.sizes = {2, 4, 6}, .merge = 2}), expected);
}

class GridTableTest : public ::testing::TestWithParam<ElementType> {
 protected:
  TableSpec Spec(const FamilySpec& family) {
    const auto spec = Normalize({.family = family, .element_type = GetParam()});
    EXPECT_OK(spec);
    return *spec;
  }
  // Compares all rows with the reference at their coordinates, which must be doubles.
  void ExpectCorrect(const RopeSpec& spec) {
    const auto table = *MakeTableGenerator(Spec(spec));
    std::vector<std::vector<double>> positions;
    for (int64_t row = 0; row < spec.grid->rows(); ++row) {
      positions.emplace_back(spec.grid->sizes.size(), 0.0);
      const auto cell = CellOfRow(*spec.grid, row);
      if (!cell) continue;
      for (size_t axis = 0; axis < spec.grid->sizes.size(); ++axis) {
        positions.back()[axis] = Coordinates(*spec.grid, axis)[(*cell)[axis]];
      }
    }
    const Buffers rows = GenerateRows(*table, 0, spec.grid->rows());
    EXPECT_EQ(FirstDifferenceAt(Spec(spec), *table, positions, rows), "");
    const Buffers tail = GenerateRows(*table, 3, spec.grid->rows() - 3);
    EXPECT_TRUE(std::equal(tail[0].rbegin(), tail[0].rend(), rows[0].rbegin()));
  }
};

TEST_P(GridTableTest, VisionTablesAreCorrectlyRounded) {
  RopeSpec spec{.head_dim = 32, .axes = RopeAxes{.map = AxisMap::kSeparate, .sections = {8, 8}}};
  spec.grid = Grid{.sizes = {4, 6}, .merge = 2, .leading_rows = 1, .trailing_rows = 2};
  for (RopeLayout layout : {RopeLayout::kSplitDuplicated, RopeLayout::kSplitAxisDuplicated,
                            RopeLayout::kPairs, RopeLayout::kSinCosRepeated, RopeLayout::kAnglesRepeated}) {
    spec.layout = layout;
    ExpectCorrect(spec);
  }
  spec.axes->map = AxisMap::kEvenOdd;
  spec.layout = RopeLayout::kAnglesDuplicated;
  ExpectCorrect(spec);
}

// DINOv3: angles are 2π times centred coordinates, so that some are whole quarters.
TEST_P(GridTableTest, CentredCoordinatesInTurnsAreCorrectlyRounded) {
  RopeSpec spec{.head_dim = 32, .base = 100, .layout = RopeLayout::kSplitDuplicated};
  spec.axes = RopeAxes{.map = AxisMap::kSeparate, .sections = {8, 8}, .full_turns = true};
  spec.grid = Grid{.sizes = {8, 2}, .coordinates = GridCoordinates::kCentred};
  ExpectCorrect(spec);
  spec.axes->full_turns = false;
  spec.axes->bands = FrequencyBands::kPixelLinear;
  spec.grid->coordinates = GridCoordinates::kLinspace;
  spec.grid->sizes = {5, 3};
  spec.grid->starts = {-1, -1};
  spec.grid->stops = {1, 1};
  ExpectCorrect(spec);
}

// 14 cells: no coordinate is a double but ±1/2, where the first pair stands at half a turn.
TEST_P(GridTableTest, HalfTurnsAreExactWhereCoordinatesAreFractions) {
  RopeSpec spec{.head_dim = 8, .base = 100};
  spec.axes = RopeAxes{.map = AxisMap::kSeparate, .sections = {4}, .full_turns = true};
  spec.grid = Grid{.sizes = {14}, .coordinates = GridCoordinates::kCentred};
  const auto table = *MakeTableGenerator(Spec(spec));
  const Buffers rows = GenerateRows(*table, 0, 14);
  for (int64_t row : {3, 10}) {
    const uint64_t minus_one = GetParam() == ElementType::kF64 ? 0xBFF0000000000000 : 0xBF800000;
    EXPECT_EQ(ElementAt(rows[0], GetParam(), row * 4), minus_one);
    EXPECT_EQ(ElementAt(rows[1], GetParam(), row * 4), 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Wide, GridTableTest, ::testing::Values(ElementType::kF64, ElementType::kF32));

TEST(GridSinusoidalTest, ClassRowsAreZeroAndAnglesOfRotaryOnesToo) {
  const GridSinusoidalSpec spec{.d_model = 8, .grid = {.sizes = {2, 2}, .leading_rows = 1}};
  const auto table = *MakeTableGenerator(*Normalize({.family = spec}));
  const Buffers row = GenerateRows(*table, 0, 1);
  EXPECT_EQ(row[0], std::vector<std::byte>(32));
}

}  // namespace
}  // namespace posenc
