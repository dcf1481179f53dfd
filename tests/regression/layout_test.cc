// Reports of tables and rotations that did not fit together. README.md lists them.

#include <cstdint>
#include <numeric>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posenc/client.h"
#include "posenc/ops.h"
#include "tests/integration/process.h"
#include "tests/regression/regression.h"

namespace posenc {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::Pointwise;

Rope HeadDim4(RopeLayout layout) { return {.head_dim = 4, .max_len = 2, .layout = layout}; }

TEST(Transformers40462Test, DuplicatedAndRepeatedTablesAreDifferent) {
  EXPECT_THAT(RowAt(HeadDim4(RopeLayout::kSplitDuplicated), 1, "cos"),
              AreNear({0.540302306, 0.999950000, 0.540302306, 0.999950000}));
  EXPECT_THAT(RowAt(HeadDim4(RopeLayout::kSplitRepeated), 1, "cos"),
              AreNear({0.540302306, 0.540302306, 0.999950000, 0.999950000}));
}

TEST(Transformers40462Test, TheAnswerNamesItsLayout) {
  for (RopeLayout layout : {RopeLayout::kSplitDuplicated, RopeLayout::kSplitRepeated}) {
    const auto description = LocalClient().Describe(HeadDim4(layout));
    ASSERT_OK(description);
    EXPECT_EQ(std::get<Rope>(description->spec.family).layout, layout);
  }
}

TEST(Vllm941Test, LayoutsDoNotReplaceEachOtherInTheCache) {
  const ServerProcess server;
  Client client(MakeConnection(server.target()));
  const Table half = Ask(client, HeadDim4(RopeLayout::kSplitDuplicated));
  const Table interleaved = Ask(client, HeadDim4(RopeLayout::kSplitRepeated));
  const Table again = Ask(client, HeadDim4(RopeLayout::kSplitDuplicated));
  EXPECT_EQ(BytesOf(half), BytesOf(again));
  EXPECT_EQ(half.key(), again.key());
  EXPECT_NE(BytesOf(half), BytesOf(interleaved));
  EXPECT_NE(half.key(), interleaved.key());
}

TEST(Vllm941Test, UnsetLayoutIsSplitHalf) {
  EXPECT_EQ(Ask(Rope{.head_dim = 4, .max_len = 2}).key(),
            Ask(HeadDim4(RopeLayout::kSplitHalf)).key());
}

std::vector<float> Rotated(std::vector<float> q, int64_t position, Pairing pairing) {
  const auto head_dim = static_cast<int64_t>(q.size());
  EXPECT_OK(
      Rotate(q, Ask(Rope{.head_dim = head_dim, .max_len = 2}),
             {.seq_len = 1, .head_dim = head_dim, .first_row = position, .pairing = pairing}));
  return q;
}

TEST(Vllm941Test, EachPairingIsItsOwnRotation) {
  EXPECT_THAT(
      Rotated({1, 2, 3, 4}, 1, Pairing::kInterleaved),
      Pointwise(FloatNear(1e-6f), {-1.142639664f, 1.922075597f, 2.959850668f, 4.029799502f}));
  EXPECT_THAT(
      Rotated({1, 2, 3, 4}, 1, Pairing::kHalfSplit),
      Pointwise(FloatNear(1e-6f), {-1.984110649f, 1.959900667f, 2.462377903f, 4.019799668f}));
}

TEST(VllmMetal44Test, PositionZeroChangesNothing) {
  std::vector<float> q(8);
  std::iota(q.begin(), q.end(), 0.0f);
  EXPECT_EQ(Rotated(q, 0, Pairing::kHalfSplit), q);
  EXPECT_EQ(Rotated(q, 0, Pairing::kInterleaved), q);
}

Rope MRope(AxisMap map, const std::vector<int64_t>& sections) {
  return {.head_dim = 128, .max_len = 262144, .base = 1e6, .axes = RopeAxes{.map = map, .sections = sections}};
}
Rope Chunked() { return MRope(AxisMap::kContiguous, {16, 24, 24}); }
Rope Interleaved() { return MRope(AxisMap::kInterleaved, {24, 20, 20}); }

std::vector<double> CosAt(const Rope& rope, const std::vector<int64_t>& axes) {
  return Values(Ask(rope, {.axis_positions = axes}), "cos");
}

TEST(Mnn4133Test, ChunkedSectionsFollowEachOther) {
  const std::vector<double> cos = CosAt(Chunked(), {0, 0, 7});
  ASSERT_EQ(cos.size(), 64u);
  EXPECT_EQ(cos[20], 1.0);
  EXPECT_LT(cos[42], 1.0);
}

TEST(Mnn4133Test, InterleavedSectionsTakeTurns) {
  const std::vector<double> cos = CosAt(Interleaved(), {0, 0, 7});
  ASSERT_EQ(cos.size(), 64u);
  EXPECT_NEAR(cos[20], 0.995646378, kTolerance);
  EXPECT_EQ(cos[42], 1.0);
  for (int pair = 60; pair < 64; ++pair) EXPECT_EQ(cos[pair], 1.0);
}

TEST(Mnn4133Test, EqualPositionsGiveThePlainRow) {
  const std::vector<double> plain = RowAt(Rope{.head_dim = 128, .base = 1e6}, 7, "cos");
  EXPECT_EQ(CosAt(Chunked(), {7, 7, 7}), plain);
  EXPECT_EQ(CosAt(Interleaved(), {7, 7, 7}), plain);
}

// llama.cpp leaves the pairs of its fourth axis at 0 for text, so that they stand still.
TEST(Mnn4133Test, LlamaCppDoesNotTurnWhatIsLeftOver) {
  const Rope ggml = MRope(AxisMap::kInterleavedGgml, {24, 20, 20, 0});
  const std::vector<double> meant = RowAt(Interleaved(), 262143, "cos");
  const std::vector<double> cos = RowAt(ggml, 262143, "cos");
  ASSERT_EQ(cos.size(), 64u);
  EXPECT_EQ(cos, CosAt(ggml, {262143, 262143, 262143, 0}));
  for (int pair = 0; pair < 64; ++pair) {
    const bool left_over = pair == 61 || pair == 62;
    EXPECT_EQ(cos[pair], left_over ? 1.0 : meant[pair]) << pair;
  }
  EXPECT_NE(meant[61], 1.0);
  EXPECT_EQ(CosAt(ggml, {0, 0, 0, 262143})[61], meant[61]);
}

TEST(Nanochat299Test, ShapeSaysHowWideTheTableIs) {
  const std::vector<std::pair<RopeLayout, int64_t>> widths = {{RopeLayout::kSplitHalf, 64},
                                                              {RopeLayout::kSplitDuplicated, 128},
                                                              {RopeLayout::kSplitRepeated, 128}};
  for (const auto& [layout, width] : widths) {
    const Table table = Ask(Rope{.head_dim = 128, .max_len = 10, .layout = layout});
    for (const char* tensor : {"cos", "sin"}) {
      EXPECT_THAT(table.shape(tensor), ElementsAre(10, width));
      EXPECT_EQ(table.bytes(tensor).size(), static_cast<size_t>(10 * width * 4));
    }
  }
}

}  // namespace
}  // namespace posenc
