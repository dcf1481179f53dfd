// Reports of tables whose numbers were wrong. README.md lists them; each suite is named after its
// report.

#include <cmath>
#include <cstdint>
#include <limits>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posenc/client.h"
#include "tests/integration/process.h"
#include "tests/regression/regression.h"

namespace posenc {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;
using ::testing::Not;

Rope Plain(int64_t head_dim, double base = 10000.0, int64_t max_len = 131072) {
  return {.head_dim = head_dim, .max_len = max_len, .base = base};
}

TEST(Candle3520Test, PositionsAreNotRoundedToBF16) {
  const Table table = Ask({Plain(128), ElementType::kBF16}, {.positions = {256, 257, 15962}});
  const std::vector<double> cos = Values(table, "cos");
  ASSERT_EQ(cos.size(), 3 * 64u);
  EXPECT_EQ(cos[0], -0.039794921875);
  EXPECT_EQ(cos[64], 0.8203125);
  EXPECT_EQ(cos[128], -0.90625);
}

TEST(SglangJax1472Test, FrequenciesAreNotRoundedToBF16) {
  EXPECT_DOUBLE_EQ(Frequencies(Plain(128)).at(1), 0.8659643233600653);
  EXPECT_NEAR(RowAt(Plain(128), 4095, "cos").at(1), -0.742365818, kTolerance);
}

TEST(SglangJax1472Test, WholeRowInBF16IsRoundedOnce) {
  const std::vector<double> cos = RowAt({Plain(128), ElementType::kBF16}, 4095, "cos");
  std::vector<double> right;
  int changed_by_the_fault = 0;
  for (int i = 0; i < 64; ++i) {
    const double frequency = std::pow(10000.0, -i / 64.0);
    right.push_back(RoundToBF16(std::cos(4095 * frequency)));
    changed_by_the_fault += right.back() != RoundToBF16(std::cos(4095 * RoundToBF16(frequency)));
  }
  EXPECT_THAT(cos, ElementsAreArray(right));
  EXPECT_EQ(changed_by_the_fault, 52);
}

TEST(Imp1325Test, FarPositionsAreReducedInFull) {
  const Table table =
      Ask(Plain(64, 10000.0, 1 << 20), {.positions = {2000, 16000, 131071, 1048575}});
  const std::vector<double> cos = Values(table, "cos"), sin = Values(table, "sin");
  ASSERT_EQ(cos.size(), 4 * 32u);
  EXPECT_NEAR(cos[0], -0.367459499, kTolerance);
  EXPECT_NEAR(cos[32], -0.991381434, kTolerance);
  EXPECT_NEAR(cos[64], -0.817983499, kTolerance);
  EXPECT_NEAR(sin[64], -0.575241684, kTolerance);
  EXPECT_NEAR(cos[96], 0.788042240, kTolerance);
  EXPECT_NEAR(sin[96], -0.615621173, kTolerance);
}

// One frequency, 0.1032, so that row 1 is cos(0.1032) = 0.994679604.
TEST(Transformers25681Test, EveryTypeIsRoundedFromTheExactValue) {
  const Rope rope = {.head_dim = 2, .scaling = ExplicitFrequencies{{0.1032}}};
  EXPECT_EQ(RowAt({rope, ElementType::kBF16}, 1, "cos").at(0), 0.99609375);
  EXPECT_EQ(RowAt({rope, ElementType::kF16}, 1, "cos").at(0), 0.99462890625);
  EXPECT_NEAR(RowAt(rope, 1, "cos").at(0), 0.994679604, kTolerance);
}

TEST(Transformers25681Test, AskingForNarrowTablesFirstChangesNothing) {
  const Rope rope = Plain(64, 10000.0, 2000);
  const ServerProcess used, fresh;
  Client client(MakeConnection(used.target()));
  Ask(client, {rope, ElementType::kBF16});
  Ask(client, {rope, ElementType::kF16});
  const Table table = Ask(client, rope);
  EXPECT_EQ(BytesOf(table), BytesOf(Ask(Client(MakeConnection(fresh.target())), rope)));
  int widened = 0;
  for (double value : Values(table, "cos")) widened += value == RoundToBF16(value);
  EXPECT_LT(widened, 64);  // row 0 has 32 of them; one value in 65536 is one by chance
}

TEST(MegatronLm535Test, PositionsDoNotPassThroughF16) {
  const Rope rope = {.head_dim = 128, .max_len = 65600};
  const Table table = Ask({rope, ElementType::kF16}, {.rows = Range{65500, 65600}});
  for (const char* tensor : {"cos", "sin"}) {
    for (double value : Values(table, tensor)) ASSERT_TRUE(std::isfinite(value));
  }
  EXPECT_EQ(Values(table, "cos").at(20 * 64), RoundToF16(std::cos(65520.0)));
  EXPECT_NE(RowAt({rope, ElementType::kF16}, 2048, "cos"),
            RowAt({rope, ElementType::kF16}, 2049, "cos"));
}

Rope GptOss(bool truncate) {
  return {.head_dim = 64,
          .base = 150000.0,
          .scaling = YarnScaling{.factor = 32, .original_max_len = 4096, .truncate = truncate}};
}

TEST(Vllm27722Test, YarnRampMayEndBetweenPairs) {
  const std::vector<double> exact = Frequencies(GptOss(false)), whole = Frequencies(GptOss(true));
  ASSERT_EQ(exact.size(), 32u);
  ASSERT_EQ(whole.size(), 32u);
  EXPECT_THAT(exact[9], IsNine(0.0317056962));
  EXPECT_THAT(exact[12], IsNine(0.00679495949));
  EXPECT_THAT(exact[17], IsNine(1.29318701e-4));
  EXPECT_THAT(whole[9], IsNine(0.0316207523));
  EXPECT_THAT(whole[12], IsNine(0.00701571391));
  EXPECT_THAT(whole[17], IsNine(2.27947796e-4));
}

TEST(Vllm27722Test, TruncateChangesTheRampOnlyAndIsTheDefault) {
  for (bool truncate : {false, true}) {
    EXPECT_THAT(Frequencies(GptOss(truncate)).at(8), IsNine(0.0508132748));
    EXPECT_THAT(Frequencies(GptOss(truncate)).at(31), IsNine(3.02351143e-7));
    EXPECT_NEAR(RowAt(GptOss(truncate), 0, "cos").at(0), 1.346573590, kTolerance);
  }
  EXPECT_TRUE(YarnScaling().truncate);
}

Rope Yarn(double factor) {
  return {.head_dim = 64, .scaling = YarnScaling{.factor = factor, .original_max_len = 4096}};
}

TEST(MlxLm1507Test, AttentionFactorReplacesTheFormula) {
  Rope rope = Yarn(64);
  EXPECT_NEAR(RowAt(rope, 0, "cos").at(0), 1.415888308, kTolerance);
  rope.attention_factor = 1.0;
  EXPECT_EQ(RowAt(rope, 0, "cos").at(0), 1.0);
  EXPECT_EQ(RowAt(rope, 0, "sin").at(0), 0.0);
}

TEST(MlxLm1507Test, FormulaIsATenthOfTheLogarithmPlusOne) {
  const std::vector<std::pair<double, double>> magnitudes = {{4, 1.138629436},  {8, 1.207944154},
                                                             {16, 1.277258872}, {40, 1.368887945},
                                                             {64, 1.415888308}, {128, 1.485203026}};
  for (const auto& [factor, magnitude] : magnitudes) {
    EXPECT_NEAR(RowAt(Yarn(factor), 0, "cos").at(0), magnitude, kTolerance) << factor;
  }
}

TEST(MlxLm1507Test, NullCountsAsAbsent) {
  const auto magnitude = [](const std::string& attention_factor) {
    const auto tables = LocalClient().ResolveModel(
        {.config_json = R"({"model_type":"llama","hidden_size":64,"num_attention_heads":1,
           "max_position_embeddings":262144,"rope_scaling":{"rope_type":"yarn","factor":64.0,
           "original_max_position_embeddings":4096,"attention_factor":)" +
                        attention_factor + "}}"});
    EXPECT_OK(tables);
    return tables.ok() ? tables->tables.at(0).magnitude : 0;
  };
  EXPECT_NEAR(magnitude("null"), 1.415888308, kTolerance);
  EXPECT_EQ(magnitude("1.0"), 1.0);
}

Rope Dynamic(int64_t length) {
  return {.head_dim = 128,
          .scaling = DynamicScaling{.factor = 2, .original_max_len = 2048},
          .effective_length = length};
}

TEST(Vllm41236Test, TheBaseFollowsTheLength) {
  EXPECT_THAT(Frequencies(Dynamic(2049)).at(1), IsNine(std::pow(10009.9207, -1 / 64.0)));
  EXPECT_THAT(Frequencies(Dynamic(4096)).at(1), IsNine(0.850994291));
  EXPECT_THAT(Frequencies(Dynamic(4096)).at(63), IsNine(3.84927328e-5));
  EXPECT_THAT(Frequencies(Dynamic(8192)).at(1), IsNine(std::pow(72195.8601, -1 / 64.0)));
}

TEST(Vllm41236Test, UpToTheTrainedLengthTheTableIsPlain) {
  const std::string plain = BytesOf(Ask(Plain(128, 10000.0, 5000), {.rows = Range{0, 200}}));
  for (int64_t length : {100, 2048}) {
    EXPECT_EQ(BytesOf(Ask(Dynamic(length), {.rows = Range{0, 200}})), plain) << length;
  }
  EXPECT_NE(BytesOf(Ask(Dynamic(4096), {.rows = Range{0, 200}})), plain);
}

TEST(Transformers25306Test, ALongRequestChangesNoShortOne) {
  const ServerProcess server, fresh;
  Client one(MakeConnection(server.target())), other(MakeConnection(server.target()));
  const std::string expected = BytesOf(Ask(Client(MakeConnection(fresh.target())), Dynamic(100)));
  EXPECT_EQ(BytesOf(Ask(one, Dynamic(100))), expected);
  EXPECT_NE(BytesOf(Ask(other, Dynamic(8192))), expected);
  EXPECT_EQ(BytesOf(Ask(one, Dynamic(100))), expected);
  EXPECT_NE(BytesOf(Ask(one, Dynamic(8192))), expected);
  EXPECT_EQ(BytesOf(Ask(other, Dynamic(100))), expected);
}

TEST(TinyVllm1Test, Llama3ScalingIsApplied) {
  const Rope rope = {
      .head_dim = 64, .max_len = 20001, .base = 500000.0, .scaling = Llama3Scaling{.factor = 32}};
  const std::vector<double> inv = Frequencies(rope);
  ASSERT_EQ(inv.size(), 32u);
  for (int i = 0; i < 32; ++i) {
    const double plain = std::pow(500000.0, -i / 32.0);
    if (i >= 15 && i <= 17) continue;  // blended, see below
    EXPECT_THAT(inv[i], IsNine(i <= 14 ? plain : plain / 32)) << i;
  }
  EXPECT_THAT(inv[15], IsNine(0.001290547928));
  EXPECT_THAT(inv[16], IsNine(4.295567966e-4));
  EXPECT_THAT(inv[17], IsNine(9.708287803e-5));
  EXPECT_THAT(inv[31], IsNine(9.418306725e-8));
  EXPECT_NEAR(RowAt(rope, 20000, "cos").at(31), 0.999998226, 2e-9 + 0x1p-25);
}

Rope LongRope(int64_t length, double factor = 32) {
  return {.head_dim = 64,
          .scaling = LongRopeScaling{.factor = factor,
                                     .original_max_len = 4096,
                                     .short_factor = std::vector<double>(32, 1.0),
                                     .long_factor = std::vector<double>(32, 4.0)},
          .effective_length = length};
}

TEST(Mlxcel1358Test, TheListDependsOnTheLength) {
  EXPECT_NEAR(RowAt(LongRope(100), 1, "cos").at(0), 0.643088375, kTolerance);
  EXPECT_NEAR(RowAt(LongRope(8000), 1, "cos").at(0), 1.153236452, kTolerance);
  EXPECT_NE(Ask(LongRope(100), {.positions = {1}}).key(),
            Ask(LongRope(8000), {.positions = {1}}).key());
}

TEST(Mlxcel1358Test, MagnitudeIsTheSameForBothLists) {
  for (int64_t length : {100, 8000}) {
    EXPECT_NEAR(RowAt(LongRope(length), 0, "cos").at(0), 1.190238071, kTolerance);
    EXPECT_EQ(RowAt(LongRope(length, 1.0), 0, "cos").at(0), 1.0);
  }
}

// What holds for every rotary table of magnitude 1.
void ExpectInvariants(const Table& table, int64_t pairs) {
  const std::vector<double> cos = Values(table, "cos"), sin = Values(table, "sin");
  ASSERT_EQ(cos.size(), sin.size());
  for (size_t i = 0; i < cos.size(); ++i) {
    ASSERT_THAT(cos[i] * cos[i] + sin[i] * sin[i], DoubleNear(1.0, kTolerance))
        << i;  // so both are finite
  }
  for (int64_t i = 0; i < pairs; ++i) EXPECT_TRUE(cos.at(i) == 1 && sin.at(i) == 0) << i;
}

TEST(Transformers45902Test, FirstAnswersOfAServerAreWhole) {
  const ServerProcess server;
  Client client(MakeConnection(server.target()));
  ExpectInvariants(Ask(client, Plain(128, 10000.0, 5000)), 64);
  ASSERT_OK(client.EvictAll());
  ExpectInvariants(Ask(client, Plain(128, 10000.0, 5000)), 64);
}

TEST(Transformers45902Test, AnswersThatRaceForOneTableAreWhole) {
  const ServerProcess server;
  std::vector<Table> tables(8);
  std::vector<std::thread> callers;
  for (Table& table : tables) {
    callers.emplace_back(
        [&] { table = Ask(Client(MakeConnection(server.target())), Plain(128, 1e6, 20000)); });
  }
  for (std::thread& caller : callers) caller.join();
  for (const Table& table : tables) ExpectInvariants(table, 64);
}

TEST(Transformers45902Test, FrequenciesBeginAtOneAndFall) {
  const std::vector<double> inv = Frequencies(Plain(128));
  EXPECT_EQ(inv.at(0), 1.0);
  for (size_t i = 1; i < inv.size(); ++i) EXPECT_LT(inv[i], inv[i - 1]);
}

Rope Torchtitan(int64_t rows) {
  return {.head_dim = 64,
          .max_len = rows,
          .scaling = YarnScaling{.factor = 40, .original_max_len = 4096}};
}

TEST(Torchtitan4117Test, ScalingDoesNotDependOnTheRowsAskedFor) {
  const std::string rows = BytesOf(Ask(Torchtitan(16)));
  EXPECT_THAT(rows, Not(IsEmpty()));
  for (int64_t count : {4096, 5000}) {
    EXPECT_EQ(BytesOf(Ask(Torchtitan(count), {.rows = Range{0, 16}})), rows) << count;
  }
  const std::vector<double> inv = Frequencies(Torchtitan(4096));
  ASSERT_EQ(inv.size(), 32u);
  EXPECT_THAT(inv[9], IsNine(0.0749894209));
  EXPECT_THAT(inv[16], IsNine(0.0055));
  EXPECT_THAT(inv[31], IsNine(3.33380358e-6));
}

// Scales of 3.5^(6·10^8), 10^(3·10^8): beyond 2^(2^30).
TEST(XPosExponentsTest, KeysFarFromTheCentreAreInfinite) {
  const Rope rope = {.head_dim = 64, .max_len = 600001, .xpos = XPos{.scale_base = 0.001, .centre = 0}};
  for (const ElementType type : {ElementType::kF64, ElementType::kF32, ElementType::kF16, ElementType::kBF16}) {
    const std::vector<double> keys = RowAt({rope, type}, 600000, "k_cos");
    const std::vector<double> queries = RowAt({rope, type}, 600000, "q_cos");
    for (int i = 0; i < 32; ++i) {
      const double sign = std::cos(600000 * std::pow(10000.0, -i / 32.0));
      EXPECT_EQ(keys.at(i), std::copysign(std::numeric_limits<double>::infinity(), sign)) << i;
      EXPECT_EQ(queries.at(i), 0) << i;
      EXPECT_EQ(std::signbit(queries.at(i)), std::signbit(sign)) << i;
    }
  }
}

TEST(XPosExponentsTest, TheLastExponentOfTwoTo30IsNoBoundary) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Rope rope = {.head_dim = 8, .max_len = int64_t{1} << 53, .xpos = XPos{.centre = 0}};
  for (const ElementType type : {ElementType::kF64, ElementType::kF32, ElementType::kF16, ElementType::kBF16}) {
    const Table table = Ask({rope, type}, {.positions = {304177008437, 304177008438}, .columns = Range{0, 1}});
    EXPECT_EQ(Values(table, "k_cos"), (std::vector{-infinity, infinity}));
    EXPECT_EQ(Values(table, "k_sin"), (std::vector{-infinity, -infinity}));
  }
}

TEST(XPosExponentsTest, F16IsInfiniteWhereF32IsPastItsEnd) {
  const Rope rope = {.head_dim = 8, .max_len = 400000, .xpos = XPos{.centre = 0}};
  for (const int64_t first : {4500, 36200, 299000}) {
    for (const char* tensor : {"q_cos", "q_sin", "k_cos", "k_sin"}) {
      const Selection rows = {.rows = Range{first, first + 100}};
      const std::vector<double> single = Values(Ask(rope, rows), tensor);
      const std::vector<double> half = Values(Ask({rope, ElementType::kF16}, rows), tensor);
      ASSERT_EQ(single.size(), half.size());
      for (size_t i = 0; i < single.size(); ++i) {
        ASSERT_EQ(std::isinf(half[i]), std::fabs(single[i]) >= 65520) << tensor << " " << first << " " << i;
        ASSERT_EQ(std::signbit(half[i]), std::signbit(single[i])) << tensor << " " << first << " " << i;
      }
    }
  }
}

}  // namespace
}  // namespace posenc
