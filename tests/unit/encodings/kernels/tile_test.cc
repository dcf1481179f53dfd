#include "server/encodings/kernels/tile.h"

#include <algorithm>
#include <vector>

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

// Half the step between 1 and the next element.
double MidpointAbove1(ElementType type) {
  switch (type) {
    case ElementType::kF64:
      return 0x1p-53;
    case ElementType::kF32:
      return 0x1p-24;
    case ElementType::kF16:
      return 0x1p-11;
    default:
      return 0x1p-8;
  }
}

// Three rows of 40 pairs, whose phasors are 1 and whose values are those of the anchors: 0.7 and 0.6, but for one
// cosine or sine between two elements.
std::vector<uint32_t> UndecidedOf(ElementType type, int64_t pair, bool sine) {
  constexpr int64_t kPairs = 40, kStride = 48;
  Anchors anchors{};
  std::vector<double> ones(2 * kStride + kPairPadding, 1.0), zeros(ones.size());
  std::vector<float> ones_single(ones.begin(), ones.end()), zeros_single(ones.size());
  for (int64_t k = 0; k < kPairs; ++k) anchors.cos_high[k] = 0.7, anchors.sin_high[k] = 0.6;
  (sine ? anchors.sin_high : anchors.cos_high)[pair] = 1;
  (sine ? anchors.sin_low : anchors.cos_low)[pair] = MidpointAbove1(type);
  if (type != ElementType::kF64) (sine ? anchors.sin_high : anchors.cos_high)[pair] += MidpointAbove1(type);
  std::vector<std::byte> out(2 * 3 * kPairs * sizeof(double));
  std::vector<uint32_t> undecided(3 * kPairs);
  TileArgs args{.phasors = {ones.data(), zeros.data(), zeros.data(), zeros.data(), ones_single.data(),
                            zeros_single.data()},
                .phasor_stride = kStride, .sin_bound = ones.data(), .anchors = &anchors, .magnitude = 1.1,
                .rows = 3, .centre = 1, .pairs = kPairs, .cosines = kPairs, .sines = kPairs};
  args.row_bytes = kPairs * static_cast<int64_t>(ElementSizeBytes(type));
  args.cos[0] = out.data();
  args.sin[0] = out.data() + 3 * args.row_bytes;
  args.undecided = undecided.data();
  undecided.resize(WriteTile(type, args));
  std::sort(undecided.begin(), undecided.end());
  return undecided;
}

TEST_P(TileTest, ListsThePairThatIsUndecidedInEveryLane) {
  for (uint32_t pair = 0; pair < 40; ++pair) {
    const std::vector<uint32_t> rows = {pair, 1 << 16 | pair, 2 << 16 | pair};
    EXPECT_EQ(UndecidedOf(type(), pair, false), rows);
    EXPECT_EQ(UndecidedOf(type(), pair, true), rows);
  }
}

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
