#include "server/encodings/phasor_tables.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/core/names.h"
#include "tests/unit/encodings/every_target.h"

namespace posenc {
namespace {

class PhasorTablesTest : public EveryTargetTest {};

std::vector<double> Rising(int64_t count, double first, double step) {
  std::vector<double> list;
  for (int64_t i = 0; i < count; ++i) list.push_back(first + step * static_cast<double>(i));
  return list;
}

TEST_P(PhasorTablesTest, NtkScalingsAreCorrectlyRounded) {
  for (const RopeScaling& scaling :
       {RopeScaling(NtkScaling{.factor = 8}), RopeScaling(NtkScaling{.factor = 8, .rule = NtkRule::kVllm}),
        RopeScaling(NtkScaling{.factor = 3.3, .rule = NtkRule::kMixed, .mixed_b = 0.625}),
        RopeScaling(NtkScaling{.factor = 5, .rule = NtkRule::kBase}), RopeScaling(NtkAlphaScaling{1000}),
        RopeScaling(DynamicScaling{.factor = 2, .original_max_len = 2048})}) {
    RopeSpec spec{.head_dim = 24, .max_len = 1 << 20, .scaling = scaling, .effective_length = 4097};
    ExpectCorrect(spec, 4000, 33);
    spec.layout = RopeLayout::kAngles;
    ExpectCorrect(spec, 4000, 3);
  }
}

TEST_P(PhasorTablesTest, YarnIsCorrectlyRoundedWithItsMagnitude) {
  const YarnScaling plain{.factor = 40, .original_max_len = 4096};
  YarnScaling mscale = plain, whole = plain, mixed = plain, weighted = plain, singular = plain;
  mscale.mscale = 1;
  mscale.mscale_all_dim = 0.707;
  whole.truncate = false;
  mixed.log_mix = true;
  weighted.extrapolation_factor = 0.3;
  singular.truncate = false;
  singular.beta_fast = 1;
  for (const YarnScaling& yarn : {plain, mscale, whole, mixed, weighted, singular}) {
    const RopeSpec spec{.head_dim = 64, .max_len = 1 << 20, .base = 5e4, .scaling = yarn};
    ExpectCorrect(spec, 0, 20);
    ExpectCorrect(spec, 123456, 280);
  }
}

TEST_P(PhasorTablesTest, LongRopeIsCorrectlyRoundedOnBothSidesOfItsSwitch) {
  for (int64_t length : {4096, 4097}) {
    const LongRopeScaling longrope{.factor = 32,
                                   .original_max_len = 4096,
                                   .short_factor = Rising(48, 1.05, 0.03),
                                   .long_factor = Rising(48, 1.1, 1.3)};
    ExpectCorrect(RopeSpec{.head_dim = 96, .scaling = longrope, .effective_length = length}, 3000, 40);
  }
}

TEST_P(PhasorTablesTest, OtherScalingsAreCorrectlyRounded) {
  for (const RopeScaling& scaling :
       {RopeScaling(ProportionalScaling{.factor = 2, .fraction = 0.3}),
        RopeScaling(FrequencyDivisors{Rising(10, 1, 0.7)})}) {
    ExpectCorrect(RopeSpec{.head_dim = 20, .scaling = scaling, .attention_factor = 1.15}, 100, 40);
  }
}

RopeAxes SectionsOf(AxisMap map) {
  if (map == AxisMap::kEvenOdd) return {.map = map, .sections = {12, 11}};
  if (map == AxisMap::kInterleavedGgml) return {.map = map, .sections = {7, 7, 7, 2}};
  if (map == AxisMap::kRoundRobin) return {.map = map, .sections = {7, 7, 7}, .identity_pairs = 2};
  return {.map = map, .sections = {9, 7, 7}};
}

// kBalanced has a test of its own.
constexpr AxisMap kMaps[] = {AxisMap::kContiguous, AxisMap::kInterleaved, AxisMap::kInterleavedGgml,
                             AxisMap::kAlternating, AxisMap::kEvenOdd, AxisMap::kSeparate,
                             AxisMap::kRoundRobin};

TEST_P(PhasorTablesTest, RowsOfSeveralAxesAreCorrectlyRounded) {
  for (AxisMap map : kMaps) {
    for (RopeLayout layout : {RopeLayout::kSplitHalf, RopeLayout::kPairs, RopeLayout::kAnglesRepeated}) {
      SCOPED_TRACE(absl::StrCat(std::string(NameOf(map)), " ", std::string(NameOf(layout))));
      const RopeSpec spec{.head_dim = 46, .layout = layout, .axes = SectionsOf(map)};
      ExpectCorrect(spec, 300, 20);
      if (SectionsOf(map).sections.size() == 3) {
        ExpectCorrectAt(spec, {{0, 0, 0}, {3, 500, 7}, {-4, 0, 4999}, {11, 12, 13}});
      }
      if (SectionsOf(map).sections.size() == 4) ExpectCorrectAt(spec, {{3, 500, 7, 0}, {11, 12, 13, 900}});
    }
  }
}

TEST_P(PhasorTablesTest, ScaledFrequenciesOfSeveralAxesAreCorrectlyRounded) {
  RopeSpec spec{.head_dim = 46,
                .base = 1e6,
                .scaling = YarnScaling{.factor = 4, .original_max_len = 32768},
                .axes = SectionsOf(AxisMap::kInterleaved)};
  ExpectCorrect(spec, 4000, 20);
  ExpectCorrectAt(spec, {{3, 500, 7}, {11, 12, 13}});
  spec.scaling = LinearScaling{.factor = 1.3};
  spec.axes = SectionsOf(AxisMap::kSeparate);
  spec.axes->ntk_factors = {2, 1, 3.5};
  ExpectCorrectAt(spec, {{3, 500, 7}, {11, 12, 13}});
}

TEST_P(PhasorTablesTest, BandsOfAnAxisAreCorrectlyRounded) {
  for (FrequencyBands bands : {FrequencyBands::kPixelLinear, FrequencyBands::kPixelLog, FrequencyBands::kRising}) {
    for (RopeLayout layout : {RopeLayout::kSplitHalf, RopeLayout::kAngles}) {
      SCOPED_TRACE(NameOf(bands));
      RopeSpec spec{.head_dim = 46, .layout = layout, .axes = SectionsOf(AxisMap::kSeparate)};
      spec.axes->bands = bands;
      spec.axes->max_frequency = 20;
      ExpectCorrect(spec, 0, 40);
      ExpectCorrectAt(spec, {{3, 500, 7}, {1, 2, 0}});
      spec.axes->full_turns = true;
      ExpectCorrectAt(spec, {{3, 500, 7}, {11, 12, 13}});
    }
  }
}

TEST_P(PhasorTablesTest, BlocksDuplicatedAxisByAxisAreCorrectlyRounded) {
  RopeSpec spec{.head_dim = 46,
                .layout = RopeLayout::kSplitAxisDuplicated,
                .axes = SectionsOf(AxisMap::kSeparate)};
  ExpectCorrect(spec, 0, 300);
  ExpectCorrectAt(spec, {{3, 500, 7}, {11, 12, 13}});
  spec.head_dim = 1200;
  spec.axes->sections = {30, 300, 270};
  ExpectCorrect(spec, 77, 17);
}

TEST_P(PhasorTablesTest, XPosIsCorrectlyRounded) {
  for (RopeLayout layout : {RopeLayout::kSplitHalf, RopeLayout::kSplitDuplicated, RopeLayout::kSplitRepeated}) {
    ExpectCorrect(RopeSpec{.head_dim = 20,
                           .layout = layout,
                           .attention_factor = 0.7,
                           .xpos = XPos{.scale_base = 512, .centre = 1024.5}},
                  1010, 40);
  }
  ExpectCorrect(RopeSpec{.head_dim = 8, .xpos = XPos{.scale_base = 1.5, .centre = 3}}, 0, 200);
}

TEST_P(PhasorTablesTest, DescendingRowsAreCorrectlyRounded) {
  for (SinusoidalOrder order : {SinusoidalOrder::kInterleaved, SinusoidalOrder::kSinCos}) {
    const SinusoidalSpec spec{
        .d_model = 34, .order = order, .first_position = 20, .zero_row = 3, .descending = true};
    ExpectCorrect(spec, 0, 50);
    ExpectCorrect(spec, 4000, 300);
  }
}

TEST_P(PhasorTablesTest, WholeTurnsAreExact) {
  ExpectCorrect(SinusoidalSpec{.d_model = 16, .base = 256, .first_position = -3, .full_turns = true}, 0, 600);
  ExpectCorrect(SinusoidalSpec{.d_model = 6,
                               .row_scale = 1.7,
                               .full_turns = true,
                               .inverse_frequencies = {0.5, 3.25, 0.1}},
                0, 100);
  ExpectCorrect(SinusoidalSpec{.d_model = 4,
                               .full_turns = true,
                               .descending = true,
                               .inverse_frequencies = {0.5, 1.5}},
                0, 40);
}

TEST_P(PhasorTablesTest, RealPositionsAreCorrectlyRounded) {
  const std::vector<std::vector<double>> positions = {
      {0.5}, {-0.25}, {999.9}, {0x1p-1000}, {1e-9}, {4095.0000000001}, {3}, {0.1}, {-1000.7}, {0.0}};
  ExpectCorrectAt(SinusoidalSpec{.d_model = 34, .position_scale = 1000}, positions);
  ExpectCorrectAt(SinusoidalSpec{.d_model = 8, .full_turns = true}, positions);
  ExpectCorrectAt(RopeSpec{.head_dim = 64, .scaling = YarnScaling{.factor = 4, .original_max_len = 4096}},
                  positions);
}

INSTANTIATE_TEST_SUITE_P(AllTargets, PhasorTablesTest, EveryTarget(), EveryTargetTest::CaseName);

Buffers RowsOf(const FamilySpec& family, int64_t first, int64_t count) {
  const auto table = MakeTableGenerator(*Normalize({.family = family}));
  return GenerateRows(**table, first, count);
}

std::vector<std::byte> RowOf(const Buffers& rows, const RopeSpec& spec, int64_t row) {
  const int64_t bytes = spec.head_dim / 2 * 4;
  return {rows[0].begin() + row * bytes, rows[0].begin() + (row + 1) * bytes};
}

TEST(DualChunkTest, RowsStandAtThePositionsOfTheirRole) {
  const RopeSpec plain{.head_dim = 16, .max_len = 100};
  const Buffers rows = RowsOf(plain, 0, 100);
  constexpr int64_t kChunk = 10, kLocal = 4, kLength = kChunk - kLocal;
  const auto expect = [&](ChunkRole role, int64_t count, auto position) {
    RopeSpec spec = plain;
    spec.max_len = 33;
    spec.dual_chunk = DualChunk{.role = role, .chunk_size = kChunk, .local_size = kLocal};
    const auto table = MakeTableGenerator(*Normalize({.family = spec}));
    ASSERT_EQ((*table)->shape().rows(), count) << NameOf(role);
    const Buffers chunk = GenerateRows(**table, 0, count);
    EXPECT_EQ(GeneratePositions(**table, Positions(0, count)), chunk);
    for (int64_t r = 0; r < count; ++r) {
      EXPECT_EQ(RowOf(chunk, spec, r), RowOf(rows, plain, position(r))) << NameOf(role) << " " << r;
    }
  };
  expect(ChunkRole::kQuery, kLength, [](int64_t r) { return r; });
  expect(ChunkRole::kSuccessor, kLength, [](int64_t r) { return r + kLength < kChunk ? r + kLength : kChunk; });
  expect(ChunkRole::kCritical, kLength, [](int64_t r) { return r + kLength; });
  expect(ChunkRole::kInter, kLength, [](int64_t r) { return r + kChunk; });
  expect(ChunkRole::kKey, 33, [](int64_t r) { return r % kLength; });
}

// openPangu's list: the least placed share, never the axis before, t last; worked out by another program.
TEST(BalancedAxesTest, TheAxisFurthestBehindComesNext) {
  const RopeSpec spec{.head_dim = 64, .axes = RopeAxes{.map = AxisMap::kBalanced, .sections = {8, 12, 12}}};
  const auto table = MakeTableGenerator(*Normalize({.family = spec}));
  EXPECT_EQ((*table)->facts().axis_of_pair, (std::vector<int32_t>{0, 1, 2, 1, 2, 0, 1, 2, 1, 2, 0, 1, 2, 1, 2, 0,
                                  1, 2, 0, 1, 2, 1, 2, 0, 1, 2, 1, 2, 0, 1, 2, 0}));
}

std::vector<int32_t> AxesOf(RopeAxes axes) {
  const auto table = MakeTableGenerator(*Normalize({.family = RopeSpec{.head_dim = 16, .axes = std::move(axes)}}));
  EXPECT_OK(table);
  return (*table)->facts().axis_of_pair;
}

// Worked out by hand from transformers' and ggml's loops.
TEST(InterleavedAxesTest, PairsBeyondTheSectionsGoWhereTheSystemPutsThem) {
  EXPECT_EQ(AxesOf({.map = AxisMap::kInterleaved, .sections = {1, 2, 1}, .leftovers_on_first = true}),
            (std::vector<int32_t>{0, 1, 2, 0, 1, 0, 0, 0}));
  EXPECT_EQ(AxesOf({.map = AxisMap::kInterleaved, .sections = {24, 20, 20}, .leftovers_on_first = true}),
            (std::vector<int32_t>{0, 1, 2, 0, 1, 2, 0, 1}));
  EXPECT_EQ(AxesOf({.map = AxisMap::kInterleavedGgml, .sections = {4, 2, 2, 0}}),
            (std::vector<int32_t>{0, 1, 2, 0, 1, 2, 0, 3}));
  // ggml counts pairs anew behind the sections' sum.
  EXPECT_EQ(AxesOf({.map = AxisMap::kInterleavedGgml, .sections = {2, 1, 1, 0}}),
            (std::vector<int32_t>{0, 1, 2, 0, 0, 1, 2, 0}));
}

// MLX gives pairs that do not rotate an infinite period.
TEST(PeriodsTest, OfPairsThatDoNotRotateAreInfinite) {
  const RopeSpec spec{.head_dim = 8,
                      .scaling = ProportionalScaling{.fraction = 0.5},
                      .layout = RopeLayout::kPeriods};
  const Buffers row = RowsOf(spec, 0, 1);
  EXPECT_EQ(ElementAt(row[0], ElementType::kF32, 0), 0x3F800000u);
  EXPECT_EQ(ElementAt(row[0], ElementType::kF32, 1), 0x41200000u);
  EXPECT_EQ(ElementAt(row[0], ElementType::kF32, 2), 0x7F800000u);
}

TEST(SoftmaxScaleTest, IsTheSquareOfDeepSeeksFactor) {
  YarnScaling yarn{.factor = 40, .original_max_len = 4096, .mscale = 0.707, .mscale_all_dim = 0.707};
  const auto table = MakeTableGenerator(*Normalize({.family = RopeSpec{.head_dim = 64, .scaling = yarn}}));
  // (0.0707 · ln 40 + 1)².
  EXPECT_DOUBLE_EQ((*table)->facts().softmax_scale, 1.5896261651208735);
  EXPECT_EQ((*table)->facts().magnitude, 1.0);
}

// Base 9 has the frequencies 1 and 1/3 of a turn: every third position is a whole turn of both.
TEST(PhasorTablesTest, ThirdsOfATurnComeBackToZero) {
  const auto spec = Normalize({.family = SinusoidalSpec{.d_model = 4, .base = 9, .full_turns = true},
                               .element_type = ElementType::kF64});
  ASSERT_OK(spec);
  const auto table = *MakeTableGenerator(*spec);
  std::vector<double> rows(5 * 4);
  auto* const out = reinterpret_cast<std::byte*>(rows.data());
  table->GenerateAt(std::vector<double>{0, 1, 2, 3, 4998}, std::vector<std::byte*>{out});
  const double sin = 0.86602540378443864676;  // sqrt(3) / 2
  EXPECT_THAT(rows, ::testing::ElementsAre(0, 1, 0, 1, 0, 1, sin, -0.5, 0, 1, -sin, -0.5, 0, 1, 0, 1, 0, 1, 0, 1));
}

}  // namespace
}  // namespace posenc
