#include "posenc/client.h"

#include "gtest/gtest.h"
#include "tests/integration/process.h"
#include "tests/integration/tables.h"
#include "tests/support/matchers.h"

namespace posenc {
namespace {

// A client of a server with small blocks, so that even small tables have several, beside a client that
// computes for itself.
class ClientTest : public ::testing::Test {
 protected:
  void ExpectSame(const absl::StatusOr<Table>& remote, const absl::StatusOr<Table>& local) {
    ASSERT_OK(remote);
    ASSERT_OK(local);
    EXPECT_TRUE(ContentOf(*remote) == ContentOf(*local)) << remote->key();
  }

  ServerProcess server_{{"--block-bytes", "16KiB"}};
  Client remote_{MakeConnection(server_.target())};
  Client local_{MakeLocalConnection()};
};

TEST_F(ClientTest, RemoteTablesAreByteForByteTheLocalOnes) {
  for (const TableRequest& table : TablesOfEveryKind()) {
    ExpectSame(remote_.Get(table), local_.Get(table));
  }
}

TEST_F(ClientTest, RemoteSlicesAreTheLocalOnes) {
  const Rope rope{.head_dim = 64, .max_len = 4000};
  const Alibi alibi{.heads = 12, .max_len = 64};
  const std::vector<std::pair<TableRequest, Selection>> cases = {
      {rope, {.rows = Range{0, 1}}},
      {rope, {.rows = Range{17, 3999}, .columns = Range{5, 9}}},
      {rope, {.rows = Range{5, 5}}},
      {alibi, {.rows = Range{19, 20}, .keys = Range{0, 20}}},
      {alibi, {.rows = Range{1, 60}, .heads = Range{3, 11}}},
  };
  for (const auto& [table, selection] : cases) {
    ExpectSame(remote_.Slice(table, selection), local_.Slice(table, selection));
  }
}

TEST_F(ClientTest, RemoteRowsOfPositionsAreTheLocalOnes) {
  const Rope rope{.head_dim = 128, .max_len = 131072, .base = 500000};
  const std::vector<int64_t> positions = {131071, 0, -7, 42, 42, 65536};
  ExpectSame(remote_.Gather(rope, positions), local_.Gather(rope, positions));
}

TEST_F(ClientTest, TableOfManyMebibytesIsTheLocalOne) {
  const Sinusoidal table{.d_model = 1024, .max_len = 5000};
  ExpectSame(remote_.Get(table), local_.Get(table));
}

TEST_F(ClientTest, DescriptionsAgree) {
  for (const TableRequest& table : TablesOfEveryKind()) {
    const auto remote = remote_.Describe(table);
    const auto local = local_.Describe(table);
    ASSERT_OK(remote);
    ASSERT_OK(local);
    EXPECT_EQ(remote->key, local->key);
    EXPECT_EQ(remote->canonical_text, local->canonical_text);
    EXPECT_EQ(remote->inverse_frequencies, local->inverse_frequencies);
    EXPECT_EQ(remote->slopes, local->slopes);
    EXPECT_EQ(remote->size_bytes, local->size_bytes);
  }
}

TEST_F(ClientTest, HealthAndInformationAreAnswered) {
  EXPECT_EQ(*remote_.Health(), HealthStatus::kServing);
  const absl::StatusOr<ServerStatus> info = remote_.ServerInfo();
  ASSERT_OK(info);
  EXPECT_TRUE(info->ready);
  EXPECT_EQ(info->block_bytes, 16u << 10);
}

}  // namespace
}  // namespace posenc
