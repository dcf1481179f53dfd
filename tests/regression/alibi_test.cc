// Reports of ALiBi slopes and biases. README.md lists them.

#include <cmath>
#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posenc/client.h"
#include "posenc/ops.h"
#include "tests/integration/process.h"
#include "tests/regression/regression.h"

namespace posenc {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::Le;
using ::testing::Lt;
using ::testing::SizeIs;

std::vector<double> Slopes(int64_t heads) {
  return Values(Ask(Alibi{.heads = heads, .form = AlibiForm::kSlopes}), "slopes");
}

TEST(Mlx343Test, HeadCountsBetweenPowersOfTwoHaveTwoSeries) {
  EXPECT_THAT(Slopes(1), ElementsAre(0.00390625));
  EXPECT_THAT(Slopes(6), ElementsAre(0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125));
  EXPECT_THAT(Slopes(10), AreNear({0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125,
                                   0.00390625, 0.707106781, 0.353553391}));
  EXPECT_THAT(Slopes(12),
              AreNear({0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625,
                       0.707106781, 0.353553391, 0.176776695, 0.088388348}));
}

TEST(Mlx343Test, ShapesDoNotLeakIntoEachOther) {
  const ServerProcess server;
  Client client(MakeConnection(server.target()));
  for (int64_t length : {4, 8, 4, 8}) {
    const Table table = Ask(client, Alibi{.heads = 2, .max_len = length});
    EXPECT_THAT(table.shape("bias"), ElementsAre(2, length, length));
    EXPECT_EQ(Values(table, "bias").at((length - 1) * length),
              -0.0625 * static_cast<double>(length - 1));
  }
}

TEST(Transformers28380Test, EveryHeadCountHasItsSlopes) {
  for (int64_t heads = 1; heads <= 128; ++heads) {
    const std::vector<double> slopes = Slopes(heads);
    EXPECT_THAT(slopes, AllOf(SizeIs(heads), Each(AllOf(Gt(0), Lt(1)))));
    if ((heads & (heads - 1)) != 0) continue;
    for (int64_t h = 0; h < heads; ++h) {
      EXPECT_NEAR(slopes[h], std::exp2(-8.0 * (h + 1) / heads), kTolerance);
    }
  }
}

TEST(Transformers28380Test, HeadCountsBelowOneAreRefused) {
  for (int64_t heads : {0, -1}) {
    EXPECT_THAT(LocalClient().Get(Alibi{.heads = heads}), ViolatesField("spec.alibi.heads"));
  }
}

TEST(Aprender2143Test, FirstSlopeOfEightIsOneHalf) {
  EXPECT_THAT(Slopes(8),
              ElementsAre(0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625));
}

TEST(MegatronDeepSpeed227Test, RanksCutTheWholeModelsHeads) {
  const Alibi alibi = {.heads = 8, .max_len = 2};
  const auto rank = [&](int64_t begin) {  // of the second query and the first key: minus the slope
    return Values(
        Ask(alibi, {.rows = Range{1, 2}, .heads = Range{begin, begin + 4}, .keys = Range{0, 1}}),
        "bias");
  };
  EXPECT_THAT(rank(4), ElementsAre(-0.03125, -0.015625, -0.0078125, -0.00390625));
  std::vector<double> joined = rank(0);
  for (double bias : rank(4)) joined.push_back(bias);
  EXPECT_EQ(joined, Values(Ask(alibi, {.rows = Range{1, 2}, .keys = Range{0, 1}}), "bias"));
}

TEST(KerasHub2861Test, OneNewTokenSeesItsDistances) {
  const Alibi alibi = {.heads = 2, .max_len = 20};
  const std::vector<double> bias = Values(Ask(alibi, {.rows = Range{19, 20}}), "bias");
  ASSERT_EQ(bias.size(), 40u);
  for (int key = 0; key < 20; ++key) {
    EXPECT_EQ(bias[key], 0.0625 * (key - 19));
    EXPECT_EQ(bias[20 + key], 0.00390625 * (key - 19));
  }
}

TEST(KerasHub2861Test, EveryStepIsARowOfTheWhole) {
  const Alibi alibi = {.heads = 2, .max_len = 20};
  const std::vector<double> whole = Values(Ask(alibi), "bias");
  ASSERT_EQ(whole.size(), 800u);
  for (int64_t step = 0; step < 20; ++step) {
    const Selection selection = {.rows = Range{step, step + 1}, .keys = Range{0, step + 1}};
    const std::vector<double> bias = Values(Ask(alibi, selection), "bias");
    ASSERT_EQ(bias.size(), static_cast<size_t>(2 * (step + 1)));
    for (int64_t i = 0; i < 2 * (step + 1); ++i) {
      EXPECT_EQ(bias[i], whole[(i / (step + 1) * 20 + step) * 20 + i % (step + 1)]);
    }
  }
}

TEST(KerasHub2861Test, AddingToScoresWithACacheCountsFromTheNewToken) {
  std::vector<float> scores(40, 0.0f);
  const std::vector<float> slopes = {0.0625f, 0.00390625f};
  ASSERT_OK(AddAlibi(scores, slopes, {.heads = 2, .q_len = 1, .kv_len = 20}));
  EXPECT_EQ(scores[0], -1.1875f);
  EXPECT_EQ(scores[1], -1.125f);
  EXPECT_EQ(scores[19], 0.0f);
}

TEST(AttentionGym86Test, FartherKeysHaveLowerBias) {
  const std::vector<double> bias = Values(Ask(Alibi{.heads = 1, .max_len = 5}), "bias");
  ASSERT_EQ(bias.size(), 25u);
  EXPECT_THAT(bias, Each(Le(0)));
  EXPECT_EQ(bias[0], 0);
  for (int key = 0; key < 5; ++key) EXPECT_EQ(bias[20 + key], 0.00390625 * (key - 4));
}

TEST(AttentionGym86Test, RowFormIsOneRowForAllQueriesAndSaysSo) {
  const Table row = Ask(Alibi{.heads = 1, .max_len = 5, .form = AlibiForm::kRow});
  EXPECT_THAT(row.shape("bias"), ElementsAre(1, 5));
  EXPECT_THAT(Values(row, "bias"),
              ElementsAre(-4 * 0.00390625, -3 * 0.00390625, -2 * 0.00390625, -0.00390625, 0));
  EXPECT_NE(row.key(), Ask(Alibi{.heads = 1, .max_len = 5}).key());
}

}  // namespace
}  // namespace posenc
