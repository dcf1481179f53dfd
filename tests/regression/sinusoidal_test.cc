// Reports of sinusoidal tables. README.md lists them.

#include <cmath>
#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posenc/client.h"
#include "tests/regression/regression.h"

namespace posenc {
namespace {

using ::testing::DoubleNear;

Sinusoidal OddWidthTable(int64_t d_model) {
  return {.d_model = d_model, .max_len = 10, .odd_width = OddWidth::kExtraSine};
}

TEST(BertPytorch78Test, OddWidthsHaveOneSineMore) {
  EXPECT_THAT(RowAt(OddWidthTable(5), 1, "table"),
              AreNear({0.841470985, 0.540302306, 0.025116223, 0.999684538, 0.000630957}));
  EXPECT_THAT(RowAt(OddWidthTable(7), 3, "table"),
              AreNear({0.141120008, -0.989992497, 0.214232190, 0.976782764, 0.015537799,
                       0.999879281, 0.001118278}));
  EXPECT_THAT(RowAt(OddWidthTable(1), 4, "table"), AreNear({std::sin(4.0)}));
}

TEST(BertPytorch78Test, UnlessAskedForOddWidthsAreRefused) {
  EXPECT_THAT(LocalClient().Get(Sinusoidal{.d_model = 5}),
              ViolatesField("spec.sinusoidal.d_model"));
}

Sinusoidal Ordered(SinusoidalOrder order) { return {.d_model = 8, .max_len = 50, .order = order}; }

TEST(Tensor2tensor177Test, BothOrdersAreOffered) {
  EXPECT_THAT(RowAt(Ordered(SinusoidalOrder::kInterleaved), 1, "table"),
              AreNear({0.841470985, 0.540302306, 0.099833417, 0.995004165, 0.009999833, 0.99995,
                       0.001, 0.9999995}));
  EXPECT_THAT(RowAt(Ordered(SinusoidalOrder::kSinCos), 1, "table"),
              AreNear({0.841470985, 0.099833417, 0.009999833, 0.001, 0.540302306, 0.995004165,
                       0.99995, 0.9999995}));
}

TEST(Tensor2tensor177Test, OrdersHoldTheSameBitsUnderDifferentKeys) {
  const Table interleaved = Ask(Ordered(SinusoidalOrder::kInterleaved));
  const Table sin_cos = Ask(Ordered(SinusoidalOrder::kSinCos));
  EXPECT_NE(interleaved.key(), sin_cos.key());
  const std::vector<double> a = Values(interleaved, "table"), b = Values(sin_cos, "table");
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    const size_t row = i / 8 * 8, column = i % 8;
    EXPECT_EQ(a[i], b[row + column % 2 * 4 + column / 2]) << i;
  }
}

std::vector<double> PatchTable(const std::vector<int64_t>& axis_order) {
  return Values(
      Ask(GridSinusoidal{.d_model = 8, .grid = {.sizes = {3, 4}}, .axis_order = axis_order}),
      "table");
}

std::vector<double> Token(const std::vector<double>& table, int64_t token) {
  return {table.begin() + token * 8, table.begin() + token * 8 + 8};
}

TEST(Mae18Test, ColumnComesFirstWhereAskedFor) {
  const std::vector<double> table = PatchTable({1, 0});
  ASSERT_EQ(table.size(), 12 * 8u);
  EXPECT_THAT(Token(table, 1),
              AreNear({0.841470985, 0.009999833, 0.540302306, 0.99995, 0, 0, 1, 1}));
  EXPECT_THAT(Token(table, 4),
              AreNear({0, 0, 1, 1, 0.841470985, 0.009999833, 0.540302306, 0.99995}));
}

TEST(Mae18Test, RowComesFirstByDefault) {
  const std::vector<double> table = PatchTable({});
  EXPECT_THAT(Token(table, 1),
              AreNear({0, 0, 1, 1, 0.841470985, 0.009999833, 0.540302306, 0.99995}));
}

Sinusoidal Timestep(int64_t dim, double shift) {
  return {.d_model = dim, .order = SinusoidalOrder::kSinCos, .frequency_shift = shift};
}

TEST(SdScripts1187Test, ShiftIsTheCallersChoice) {
  EXPECT_THAT(RowAtReal(Timestep(8, 0), 10.5),
              AreNear({-0.879695760, 0.867423226, 0.104807169, 0.010499807, -0.475536928,
                       0.497571048, 0.994492563, 0.999944876}));
  EXPECT_THAT(RowAtReal(Timestep(8, 1), 10.5),
              AreNear({-0.879695760, 0.468300925, 0.022619635, 0.00105, -0.475536928, 0.883569037,
                       0.999744143, 0.999999449}));
}

TEST(SdScripts1187Test, ShiftMovesEveryFrequencyButTheFirst) {
  const std::vector<double> paper = Frequencies(Timestep(320, 0)),
                            shifted = Frequencies(Timestep(320, 1));
  ASSERT_EQ(paper.size(), 160u);
  ASSERT_EQ(shifted.size(), 160u);
  EXPECT_THAT(paper[1], IsNine(0.944060876));
  EXPECT_THAT(paper[159], IsNine(1.05925373e-4));
  EXPECT_THAT(shifted[1], IsNine(0.943719149));
  EXPECT_THAT(shifted[159], IsNine(1.0e-4));
}

TEST(SdScripts1187Test, ShiftThatLeavesNothingIsRefused) {
  EXPECT_THAT(LocalClient().Get(Timestep(2, 1)), ViolatesField("spec.sinusoidal.frequency_shift"));
}

TEST(SamLynnEvans25Test, PairsOfColumnsShareAFrequency) {
  const std::vector<double> row = RowAt(Sinusoidal{.d_model = 512}, 1, "table");
  ASSERT_EQ(row.size(), 512u);
  EXPECT_NEAR(row[0], 0.841470985, kTolerance);
  EXPECT_NEAR(row[1], 0.540302306, kTolerance);
  EXPECT_NEAR(row[2], 0.821856190, kTolerance);
  EXPECT_NEAR(row[3], 0.569695009, kTolerance);
  for (size_t i = 0; i < row.size(); i += 2) {
    EXPECT_THAT(row[i] * row[i] + row[i + 1] * row[i + 1], DoubleNear(1.0, kTolerance)) << i;
  }
}

TEST(DiffSynth1025Test, TimestepsAreRealNumbers) {
  EXPECT_EQ(RowAtReal({Timestep(8, 0), ElementType::kBF16}, 998.3897).at(0), -0.59375);
  EXPECT_NEAR(RowAtReal(Timestep(8, 0), 998.3897).at(0), -0.594596610, kTolerance);
  EXPECT_NEAR(RowAtReal(Timestep(8, 0), 0.5).at(0), std::sin(0.5), kTolerance);
  EXPECT_NEAR(RowAtReal(Timestep(8, 0), 1e-3).at(0), std::sin(1e-3), kTolerance);
}

// Rotary tables compute them as well; they do not cut them off.
TEST(DiffSynth1025Test, RotaryTablesTakeRealPositionsToo) {
  EXPECT_NEAR(RowAtReal(Rope{.head_dim = 64}, 0.5, "cos").at(0), std::cos(0.5), kTolerance);
}

}  // namespace
}  // namespace posenc
