#include "server/encodings/kernels/tile.h"

#include "gtest/gtest.h"
#include "tests/unit/encodings/every_target.h"

namespace posenc {
namespace {

class TileTest : public EveryTargetTest {
 protected:
  // Rows through the kernels and the same positions through the accurate path, which tests of single cells hold
  // against MPFR.
  void ExpectKernelsRight(const FamilySpec& family, int64_t first, int64_t rows) const {
    const auto table = Table(family);
    ASSERT_NE(table, nullptr);
    const Buffers expected = GeneratePositions(*table, Positions(first, rows));
    EXPECT_TRUE(GenerateRows(*table, first, rows) == expected) << "rows from " << first;
  }
};

constexpr int64_t kMost = int64_t{1} << 53;

// A million cells, so that every stage of the test of rounding has its turn.
TEST_P(TileTest, LongRunsAreTheAccuratePaths) {
  const RopeSpec rope{.head_dim = 128, .max_len = kMost, .base = 500000.0};
  ExpectKernelsRight(rope, 0, 5000);
  ExpectKernelsRight(rope, 123'456'789, 3000);
}

TEST_P(TileTest, EveryLengthOfATileIsTheAccuratePaths) {
  const RopeSpec rope{.head_dim = 44, .max_len = kMost, .layout = RopeLayout::kPairs};
  for (int64_t rows = 1; rows <= 2 * kMaxTileRows + 1; ++rows) ExpectKernelsRight(rope, 1000 * rows, rows);
}

// Sines that are subnormal floats, cells that overflow F16.
TEST_P(TileTest, ExtremeSizesAreTheAccuratePaths) {
  for (double row_scale : {1e-6, 1.0, 1e6}) {
    for (double position_scale : {1e-36, 1e-33, 1.0}) {
      const SinusoidalSpec spec{.d_model = 64, .max_len = kMost, .position_scale = position_scale,
                                .row_scale = row_scale};
      ExpectKernelsRight(spec, 0, 70);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllTargets, TileTest, EveryTarget(), EveryTargetTest::CaseName);

}  // namespace
}  // namespace posenc
