#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "posenc/client.h"
#include "tests/integration/process.h"
#include "tests/integration/tables.h"
#include "tests/support/matchers.h"

namespace posenc {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

TEST(BudgetTest, FirstRowOfATableOf30TebibytesComesAtOnce) {
  const ServerProcess server({"--cache-bytes", "64MiB"});
  Client client(MakeConnection(server.target()));
  ASSERT_OK(client.Health());
  const int64_t before = server.resident_bytes();
  const Sinusoidal table{.d_model = 8192, .max_len = 1'000'000'000};
  const absl::Time start = absl::Now();
  const absl::StatusOr<Table> row = client.Slice(table, {.rows = Range{0, 1}});
  RecordProperty("microseconds", static_cast<int>(absl::ToInt64Microseconds(absl::Now() - start)));
  ASSERT_OK(row);
  EXPECT_EQ(row->tensor<float>("table").size(), 8192u);
  EXPECT_LT(server.peak_resident_bytes() - before, 64 * kMiB);
}

TEST(BudgetTest, RowsFromAllOverAHugeTableStayWithinTheBudget) {
  constexpr int64_t kBudget = 32 * kMiB;
  const ServerProcess server({"--cache-bytes", "32MiB"});
  Client client(MakeConnection(server.target()));
  ASSERT_OK(client.Health());
  const int64_t before = server.resident_bytes();
  const Sinusoidal table{.d_model = 8192, .max_len = 1'000'000'000};
  for (int64_t i = 0; i < 200; ++i) {
    const int64_t row = i * 4'999'999;
    ASSERT_OK(client.Slice(table, {.rows = Range{row, row + 1}}));
  }
  const auto info = client.ServerInfo();
  ASSERT_OK(info);
  EXPECT_LE(info->cache.resident_bytes, static_cast<uint64_t>(kBudget));
  EXPECT_GT(info->cache.blocks_evicted, 0u);
  EXPECT_LT(server.peak_resident_bytes() - before, kBudget + 32 * kMiB);
}

}  // namespace
}  // namespace posenc
