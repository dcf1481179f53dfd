#include <string>

#include "tests/unit/rpc/rpc_fixture.h"

namespace posenc {
namespace {

using ::testing::HasSubstr;

class EvictTablesTest : public RpcTest {
 protected:
  // Makes a table resident and returns its key.
  std::string Resident(const std::string& spec) {
    const auto slice = GetSlice("spec {" + spec + "}");
    EXPECT_OK(slice);
    return slice.ok() ? slice->table_key() : "";
  }
};

TEST_F(EvictTablesTest, DropsTheBlocksOfATable) {
  const std::string key = Resident("rope { head_dim: 128 max_len: 200 }");
  Resident("rope { head_dim: 64 max_len: 200 }");
  const auto evicted = EvictTables("table_keys: '" + key + "'");
  ASSERT_OK(evicted);
  EXPECT_EQ(evicted->tables(), 1);
  EXPECT_EQ(evicted->blocks(), 2);
  EXPECT_GE(evicted->bytes(), 102400u);
  EXPECT_EQ(ListTables("")->tables_size(), 1);
}

TEST_F(EvictTablesTest, DropsAllPinnedOnesToo) {
  Resident("rope { head_dim: 128 max_len: 200 }");
  ASSERT_OK(WarmTables("specs { rope { head_dim: 64 max_len: 10 } }"));
  const auto evicted = EvictTables("all: true");
  ASSERT_OK(evicted);
  EXPECT_EQ(evicted->tables(), 2);
  EXPECT_EQ(ListTables("")->tables_size(), 0);
}

TEST_F(EvictTablesTest, UnknownKeyIsNotFoundAndNamed) {
  const std::string key(64, 'a');
  EXPECT_THAT(EvictTables("table_keys: '" + key + "'"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr(key)));
}

TEST_F(EvictTablesTest, MalformedKeysAreNamed) {
  const auto refused = EvictTables("table_keys: '" + std::string(64, 'a') + "' table_keys: 'zz'");
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("table_keys[1]")));
  EXPECT_THAT(refused, ViolatesField("table_keys[1]"));
}

TEST_F(EvictTablesTest, NeitherKeysNorAllAndBothAreRefused) {
  EXPECT_THAT(EvictTables(""), ViolatesField("table_keys"));
  EXPECT_THAT(EvictTables("all: true table_keys: '" + std::string(64, 'a') + "'"),
              ViolatesField("table_keys"));
}

}  // namespace
}  // namespace posenc
