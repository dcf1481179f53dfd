#include <string>
#include <vector>

#include "tests/unit/rpc/rpc_fixture.h"

namespace posenc {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class WarmTablesTest : public RpcTest {};

TEST_F(WarmTablesTest, MakesTablesResidentAndPinned) {
  const auto progress = WarmTables("specs { rope { head_dim: 128 max_len: 1000 } }");
  ASSERT_OK(progress);
  EXPECT_EQ(progress->back().blocks_done(), 8);
  EXPECT_EQ(progress->back().blocks_total(), 8);
  EXPECT_EQ(progress->back().tables_done(), 1);
  const auto page = ListTables("");
  ASSERT_OK(page);
  EXPECT_EQ(page->tables(0).resident_blocks(), 8);
  EXPECT_TRUE(page->tables(0).pinned());
  EXPECT_EQ(page->tables(0).table_key(), progress->back().table_key());
}

TEST_F(WarmTablesTest, LeavesThePinOffWhenTold) {
  ASSERT_OK(WarmTables("specs { rope { head_dim: 128 max_len: 1000 } } unpinned: true"));
  EXPECT_FALSE(ListTables("")->tables(0).pinned());
}

TEST_F(WarmTablesTest, EveryTableHasItsLastMessageInOrder) {
  std::string request;
  for (int i = 1; i <= 20; ++i) {
    request += " specs { rope { head_dim: " + std::to_string(2 * i) + " max_len: 3000 } }";
  }
  const auto progress = WarmTables(request);
  ASSERT_OK(progress);
  std::vector<int> done;
  for (const v1::WarmTablesResponse& message : *progress) {
    EXPECT_EQ(message.tables_total(), 20);
    if (message.blocks_done() == message.blocks_total()) done.push_back(message.tables_done());
  }
  for (int i = 1; i <= 20; ++i) EXPECT_EQ(done.at(i - 1), i);
  EXPECT_EQ(done.size(), 20u);
}

TEST_F(WarmTablesTest, NoSpecsAreRefused) {
  EXPECT_THAT(WarmTables(""), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("specs")));
  EXPECT_THAT(WarmTables(""), ViolatesField("specs"));
}

TEST_F(WarmTablesTest, ABadSpecIsNamedBeforeAnythingIsGenerated) {
  const auto refused = WarmTables("specs { rope { head_dim: 8 } } specs { rope { head_dim: 7 } }");
  EXPECT_THAT(refused, ViolatesField("specs[1].rope.head_dim"));
  EXPECT_EQ(store().stats().generated_blocks, 0u);
}

TEST_F(WarmTablesTest, TablesThatDoNotFitAreResourceExhausted) {
  Restart({.budget_bytes = size_t{1} << 20});
  EXPECT_THAT(WarmTables("specs { rope { head_dim: 128 max_len: 100000 } }"),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("pinning")));
  EXPECT_OK(GetSlice("spec { rope { head_dim: 128 max_len: 10 } }"));
}

TEST_F(WarmTablesTest, TablesThatDoNotFitAreRefusedWithoutAPinToo) {
  Restart({.budget_bytes = size_t{1} << 20});
  EXPECT_THAT(WarmTables("specs { rope { head_dim: 128 max_len: 100000 } } unpinned: true"),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       AllOf(HasSubstr("has 51200000 bytes"), HasSubstr("only 1048576"))));
  EXPECT_EQ(store().stats().generated_blocks, 0u);
}

TEST_F(WarmTablesTest, TablesThatDoNotFitTogetherAreRefusedWithoutAPinToo) {
  Restart({.budget_bytes = size_t{1} << 20});
  EXPECT_THAT(WarmTables("specs { rope { head_dim: 128 max_len: 1024 } } "
                         "specs { rope { head_dim: 128 max_len: 1025 } } unpinned: true"),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       AllOf(HasSubstr("has 524800 bytes"), HasSubstr("only 524288"))));
  EXPECT_EQ(store().stats().generated_blocks, 8u);  // of the first
}

TEST_F(WarmTablesTest, AClientThatGoesAwayStopsIt) {
  Restart({.budget_bytes = size_t{3} << 30});
  const auto gone = WarmTables("specs { rope { head_dim: 128 max_len: 4000000 } } unpinned: true",
                               absl::Milliseconds(50));
  EXPECT_EQ(gone.status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(MemoryComesBack());
  EXPECT_LT(store().stats().generated_blocks, 31250u);  // of that many
}

}  // namespace
}  // namespace posenc
