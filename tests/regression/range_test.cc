// Reports of rows that were wrong, missing or mixed up. README.md lists them.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posenc/client.h"
#include "posenc/ops.h"
#include "server/core/tensor_catalog.h"
#include "tests/integration/process.h"
#include "tests/regression/regression.h"

namespace posenc {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Pegainfer253Test, EveryRowOfALongTableIsRightAndTheNextOneRefused) {
  const Rope rope = {.head_dim = 128, .max_len = 262144};
  EXPECT_NEAR(RowAt(rope, 4095, "cos").at(0), std::cos(4095.0), kTolerance);
  EXPECT_NEAR(RowAt(rope, 4096, "cos").at(0), 0.803990613, kTolerance);
  EXPECT_NEAR(RowAt(rope, 262143, "cos").at(0), std::cos(262143.0), kTolerance);
  EXPECT_THAT(LocalClient().Gather(rope, {262144}),
              AllOf(StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("262144")),
                    ViolatesField("selection.positions[0]")));
}

TEST(Pegainfer253Test, TheServiceRefusesItTooAndGoesOn) {
  const ServerProcess server;
  Client client(MakeConnection(server.target()));
  const Rope rope = {.head_dim = 128, .max_len = 262144};
  EXPECT_THAT(client.Slice(rope, {.rows = Range{262143, 262145}}),
              AllOf(StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("262144")),
                    ViolatesField("selection.rows.end")));
  EXPECT_OK(client.Slice(rope, {.rows = Range{262143, 262144}}));
}

// A learned table of `rows` rows of two numbers, r and −r in row r.
Client ClientWithLearned(int64_t rows) {
  const auto numbers = std::make_shared<std::vector<float>>();
  for (int64_t row = 0; row < rows; ++row) {
    numbers->push_back(static_cast<float>(row));
    numbers->push_back(static_cast<float>(-row));
  }
  const auto catalog = std::make_shared<TensorCatalog>();
  EXPECT_OK(catalog->Add("pos", {.shape = {rows, 2},
                                 .data = std::as_bytes(std::span(*numbers)),
                                 .owner = numbers,
                                 .content_sha256 = std::string(64, 'a'),
                                 .source = "test"}));
  return Client(MakeLocalConnection(catalog));
}

TEST(Vllm44286Test, LearnedTablesCannotBeExtended) {
  Client client = ClientWithLearned(512);
  std::vector<int64_t> positions;
  for (int64_t position = 0; position <= 512; ++position) positions.push_back(position);
  EXPECT_THAT(client.Gather(Learned{.name = "pos"}, positions),
              AllOf(StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("512")),
                    ViolatesField("selection.positions[512]")));
  positions.pop_back();
  EXPECT_THAT(Values(Ask(client, Learned{.name = "pos"}, {.positions = positions}), "table").back(),
              -511);
}

TEST(Vllm44286Test, FormulasCanBeExtended) {
  EXPECT_THAT(LocalClient().Gather(Sinusoidal{.d_model = 8, .max_len = 512}, {512}),
              StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("512")));
  EXPECT_NEAR(RowAt(Sinusoidal{.d_model = 8, .max_len = 513}, 512, "table").at(0), std::sin(512.0),
              kTolerance);
  EXPECT_NEAR(RowAt(Rope{.head_dim = 8, .max_len = 513}, 512, "cos").at(0), std::cos(512.0),
              kTolerance);
}

TEST(OpenNmtPy1387Test, SinusoidalTablesHaveNoNaturalLimit) {
  const Sinusoidal sinusoidal = {.d_model = 512, .max_len = 10000};
  const std::vector<double> row = RowAt(sinusoidal, 5000, "table");
  EXPECT_NEAR(row.at(0), -0.987966439, kTolerance);
  EXPECT_NEAR(row.at(1), 0.154668406, kTolerance);
  for (int64_t position : {4999, 5001, 9514}) {
    EXPECT_NEAR(RowAt(sinusoidal, position, "table").at(0), std::sin(static_cast<double>(position)),
                kTolerance);
  }
}

TEST(OpenNmtPy1387Test, BeyondTheCapIsRefusedBeforeMemoryIsTaken) {
  EXPECT_THAT(LocalClient().Get(Sinusoidal{.d_model = 512, .max_len = (int64_t{1} << 53) + 1}),
              ViolatesField("spec.sinusoidal.max_len"));
  EXPECT_THAT(LocalClient().Get(Sinusoidal{.d_model = 512, .max_len = int64_t{1} << 40}),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("bytes")));
}

TEST(RotaryTorch11Test, TheFirstRowIsPartOfTheQuestion) {
  const ServerProcess server;
  Client client(MakeConnection(server.target()));
  const Rope rope = {.head_dim = 64};
  const auto first_row = [&](int64_t start) {
    const Table table = Ask(client, rope, {.rows = Range{start, start + 4}});
    return std::vector{Values(table, "cos").at(0), Values(table, "sin").at(0)};
  };
  for (int64_t start : {8, 0, 8}) {  // 8 first: on a cold server
    const std::vector<double> expected =
        start == 0 ? std::vector{1.0, 0.0} : std::vector{-0.145500034, 0.989358247};
    EXPECT_THAT(first_row(start), AreNear(expected)) << start;
  }
}

TEST(RotaryTorch11Test, TablesThatBeginElsewhereAreOtherTables) {
  const Rope at_zero = {.head_dim = 64, .max_len = 4},
             at_eight = {.head_dim = 64, .max_len = 4, .first_position = 8};
  EXPECT_NE(Ask(at_zero).key(), Ask(at_eight).key());
  EXPECT_NEAR(Values(Ask(at_eight), "cos").at(0), -0.145500034, kTolerance);
}

TEST(Aprender1607Test, ThetaIsPartOfTheKey) {
  const ServerProcess server;
  Client client(MakeConnection(server.target()));
  const auto cos = [&](double base) {
    return Values(Ask(client, Rope{.head_dim = 128, .base = base}, {.positions = {100}}), "cos")
        .at(1);
  };
  EXPECT_NEAR(cos(1e4), 0.201250489, kTolerance);
  EXPECT_NEAR(cos(1e6), 0.456098427, kTolerance);
}

// A table and one change after another.
std::vector<TableRequest> OneChangeEach() {
  const Rope base = {.head_dim = 128, .max_len = 100};
  std::vector<TableRequest> tables = {base, {base, ElementType::kBF16}, {base, ElementType::kF16}};
  const auto add = [&](auto change) {
    Rope changed = base;
    change(changed);
    tables.push_back(changed);
  };
  add([](Rope& rope) { rope.base = 1e6; });
  add([](Rope& rope) { rope.rotary_dim = 64; });
  add([](Rope& rope) { rope.max_len = 101; });
  add([](Rope& rope) { rope.first_position = 1; });
  add([](Rope& rope) { rope.layout = RopeLayout::kSplitDuplicated; });
  add([](Rope& rope) { rope.layout = RopeLayout::kCosSin; });
  add([](Rope& rope) { rope.scaling = LinearScaling{2}; });
  add([](Rope& rope) { rope.scaling = LinearScaling{4}; });
  add([](Rope& rope) { rope.scaling = NtkScaling{.factor = 2}; });
  add([](Rope& rope) { rope.scaling = YarnScaling{.factor = 2, .original_max_len = 50}; });
  add([](Rope& rope) { rope.scaling = DynamicScaling{2, 50}, rope.effective_length = 60; });
  add([](Rope& rope) { rope.scaling = DynamicScaling{2, 50}, rope.effective_length = 70; });
  add([](Rope& rope) { rope.attention_factor = 2.0; });
  return tables;
}

TEST(Aprender1607Test, EveryChangeOfTheTableChangesTheKeyAndTheBytes) {
  std::set<std::string> keys, answers;
  for (const TableRequest& request : OneChangeEach()) {
    const Table table = Ask(request);
    keys.insert(table.key());
    answers.insert(absl::StrCat(BytesOf(table), table.tensors().size()));
  }
  EXPECT_EQ(keys.size(), OneChangeEach().size());
  EXPECT_EQ(answers.size(), OneChangeEach().size());
}

TEST(Aprender1607Test, WhatChangesNothingHitsTheSameEntry) {
  const ServerProcess server;
  Client client(MakeConnection(server.target()));
  const Rope rope = {.head_dim = 128, .max_len = 100};
  Rope spelt_out = rope;
  spelt_out.rotary_dim = 128;
  spelt_out.scaling = LinearScaling{1.0};
  spelt_out.effective_length = 77;  // nothing depends on it
  EXPECT_EQ(Ask(client, rope).key(), Ask(client, {spelt_out, ElementType::kF32}).key());
  const auto info = client.ServerInfo();
  ASSERT_OK(info);
  EXPECT_EQ(info->cache.blocks_generated, 1u);
}

// 2^53 + 1 was read as 2^53 once, which is a position of other tables.
TEST(WholePositionsTest, AreReportedAsTheyWereGiven) {
  const Rope rope = {.head_dim = 8, .max_len = int64_t{1} << 53};
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  for (const int64_t position : {(int64_t{1} << 53) + 1, -(int64_t{1} << 53) - 1, kMost}) {
    EXPECT_THAT(LocalClient().Gather(rope, {position}),
                StatusIs(absl::StatusCode::kOutOfRange,
                         absl::StrCat("selection.positions[0] is ", position,
                                      "; allowed: -9007199254740991 to 9007199254740991")));
  }
}

TEST(WholePositionsTest, TheServiceReportsThemSoToo) {
  const ServerProcess server;
  Client client(MakeConnection(server.target()));
  EXPECT_THAT(client.Gather(Rope{.head_dim = 8}, {9223372036854775807}),
              StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("is 9223372036854775807; allowed: -4999 to 4999")));
}

TEST(Fairseq1187Test, RealTokensBeginBehindThePaddingRow) {
  const std::vector<int64_t> right = {1, 1, 1, 0}, left = {0, 0, 1, 1};
  EXPECT_THAT(*PositionsFromMask(right, {.seq_len = 4}), ElementsAre(2, 3, 4, 1));
  EXPECT_THAT(*PositionsFromMask(left, {.seq_len = 4}), ElementsAre(1, 1, 2, 3));
}

TEST(Fairseq1187Test, TheTableIsTwoRowsLongerThanTheText) {
  std::vector<int64_t> mask(513, 1);
  EXPECT_THAT(PositionsFromMask(mask, {.seq_len = 513, .table_rows = 514}),
              StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("514")));
  mask.pop_back();
  const auto rows = PositionsFromMask(mask, {.seq_len = 512, .table_rows = 514});
  ASSERT_OK(rows);
  EXPECT_EQ(rows->front(), 2);
  EXPECT_EQ(rows->back(), 513);
}

TEST(Fairseq1187Test, PositionOffsetOfALearnedTableIsTheSameTwo) {
  Client client = ClientWithLearned(514);
  const Learned learned = {.name = "pos", .position_offset = 2};
  EXPECT_THAT(Values(Ask(client, learned, {.positions = {0, 511}}), "table"),
              ElementsAre(2, -2, 513, -513));
  EXPECT_THAT(client.Gather(learned, {512}),
              StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("512")));
}

TEST(Fairseq1187Test, PaddedSlotsOfASinusoidalTableAreZero) {
  const Sinusoidal sinusoidal = {.d_model = 4, .max_len = 10, .zero_row = 1};
  EXPECT_THAT(Values(Ask(sinusoidal, {.rows = Range{1, 2}}), "table"), ElementsAre(0, 0, 0, 0));
}

// How long the stress runs; POSENC_REGRESSION_SECONDS makes it longer than the suite can wait.
absl::Duration StressTime() {
  const char* seconds = std::getenv("POSENC_REGRESSION_SECONDS");
  return seconds == nullptr ? absl::Milliseconds(500) : absl::Seconds(std::atoi(seconds));
}

// Asks for prefixes of a table until the time is over, and returns how many answers were wrong.
int CountWrongAnswers(Client client, const Rope& rope, const Table& whole, uint64_t seed,
                      absl::Time end) {
  std::mt19937_64 random(seed);
  int wrong = 0;
  do {
    const auto rows = static_cast<int64_t>(1 + random() % 20000);
    const absl::StatusOr<Table> table = client.Slice(rope, {.rows = Range{0, rows}});
    const std::span<const float> got =
        table.ok() ? table->tensor<float>("cos") : std::span<const float>();
    wrong += static_cast<int64_t>(got.size()) != rows * 64 ||
             !std::equal(got.begin(), got.end(), whole.tensor<float>("cos").begin());
  } while (absl::Now() < end);
  return wrong;
}

// Two tables of 10 MB in a cache of 16 MiB: each drives out blocks of the other.
TEST(Reflexio311Test, ConcurrentLengthsDoNotMixUpUnderEviction) {
  const ServerProcess server({"--cache-bytes", "16MiB", "--block-bytes", "64KiB"});
  Client client(MakeConnection(server.target()));
  const Rope ropes[] = {{.head_dim = 128, .max_len = 20000},
                        {.head_dim = 128, .max_len = 20000, .base = 1e6}};
  const Table tables[] = {Ask(ropes[0]), Ask(ropes[1])};
  const absl::Time end = absl::Now() + StressTime();
  std::vector<int> wrong(64, -1);
  std::vector<std::thread> callers;
  for (int i = 0; i < 64; ++i) {
    callers.emplace_back(
        [&, i] { wrong[i] = CountWrongAnswers(client, ropes[i % 2], tables[i % 2], i, end); });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_THAT(wrong, ::testing::Each(0));
  const auto info = client.ServerInfo();
  ASSERT_OK(info);
  EXPECT_GT(info->cache.blocks_evicted, 0u);
}

}  // namespace
}  // namespace posenc
