#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "tests/unit/rpc/rpc_fixture.h"

namespace posenc {
namespace {

using ::testing::SizeIs;

class ListTablesTest : public RpcTest {
 protected:
  void MakeResident(int tables) {
    for (int i = 1; i <= tables; ++i) {
      ASSERT_OK(GetSlice("spec { rope { head_dim: " + std::to_string(2 * i) + " max_len: 8 } }"));
    }
  }
};

TEST_F(ListTablesTest, IsEmptyAtFirst) {
  const auto page = ListTables("");
  ASSERT_OK(page);
  EXPECT_THAT(page->tables(), SizeIs(0));
  EXPECT_EQ(page->next_page_token(), "");
}

TEST_F(ListTablesTest, SaysWhatIsResident) {
  ASSERT_OK(GetSlice("spec { rope { head_dim: 128 max_len: 1000 } } selection { rows { end: 1 } }"));
  const auto page = ListTables("");
  ASSERT_OK(page);
  ASSERT_THAT(page->tables(), SizeIs(1));
  const v1::TableStatus& table = page->tables(0);
  EXPECT_EQ(table.spec().rope().head_dim(), 128);
  EXPECT_EQ(table.size_bytes(), 512000u);
  EXPECT_EQ(table.resident_blocks(), 1);
  EXPECT_EQ(table.total_blocks(), 8);
  EXPECT_GE(table.resident_bytes(), 65536u);
  EXPECT_FALSE(table.pinned());
}

TEST_F(ListTablesTest, PagesCoverEverythingOnceInOrder) {
  MakeResident(7);
  std::vector<std::string> keys;
  std::string token;
  do {
    const auto page = ListTables("page_size: 3 page_token: '" + token + "'");
    ASSERT_OK(page);
    for (const v1::TableStatus& table : page->tables()) keys.push_back(table.table_key());
    token = page->next_page_token();
  } while (!token.empty());
  EXPECT_THAT(keys, SizeIs(7));
  EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
  EXPECT_THAT(std::set<std::string>(keys.begin(), keys.end()), SizeIs(7));
}

TEST_F(ListTablesTest, AFullLastPageHasNoToken) {
  MakeResident(3);
  const auto page = ListTables("page_size: 3");
  ASSERT_OK(page);
  EXPECT_EQ(page->next_page_token(), "");
}

TEST_F(ListTablesTest, BadPagesAreRefused) {
  EXPECT_THAT(ListTables("page_size: -1"), ViolatesField("page_size"));
  EXPECT_THAT(ListTables("page_size: 1001"), ViolatesField("page_size"));
  EXPECT_THAT(ListTables("page_token: 'zz'"), ViolatesField("page_token"));
  EXPECT_EQ(ListTables("page_token: 'zz'").status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace posenc
