#include <openssl/sha.h>

#include <string>

#include "tests/unit/rpc/rpc_fixture.h"

namespace posenc {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class DescribeTableTest : public RpcTest {};

TEST_F(DescribeTableTest, SaysWhatTheTableIs) {
  const auto table = DescribeTable("spec { rope { head_dim: 128 max_len: 1000 } }");
  ASSERT_OK(table);
  EXPECT_THAT(table->table_key(), SizeIs(64));
  EXPECT_EQ(table->spec().rope().rotary_dim(), 128);
  EXPECT_THAT(table->canonical_text(), HasSubstr("posenc.table/1"));
  ASSERT_EQ(table->tensors_size(), 2);
  EXPECT_THAT(table->tensors(0).shape(), ElementsAre(1000, 64));
  EXPECT_EQ(table->size_bytes(), 512000u);
  EXPECT_EQ(table->rows(), 1000);
  EXPECT_EQ(table->rows_per_block(), 128);
  EXPECT_THAT(table->inverse_frequencies(), SizeIs(64));
  EXPECT_EQ(table->magnitude(), 1.0);
  EXPECT_EQ(table->positions_begin(), -999);
  EXPECT_EQ(table->positions_end(), 1000);
}

TEST_F(DescribeTableTest, GeneratesNothingUnlessAskedForDigests) {
  ASSERT_OK(DescribeTable("spec { rope { head_dim: 128 } }"));
  EXPECT_EQ(store().stats().generated_blocks, 0u);
}

TEST_F(DescribeTableTest, DigestsAreSha256OverTheTensors) {
  const std::string spec = "rope { head_dim: 128 max_len: 1000 }";
  const auto table = DescribeTable("spec {" + spec + "} with_content_digest: true");
  ASSERT_OK(table);
  for (const int t : {0, 1}) {
    const std::string bytes = ExpectedRows(spec, 0, 1000, t);
    std::string digest(SHA256_DIGEST_LENGTH, '\0');
    SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
           reinterpret_cast<unsigned char*>(digest.data()));
    EXPECT_EQ(table->tensors(t).content_sha256(), digest);
  }
}

TEST_F(DescribeTableTest, AlibiHasSlopes) {
  const auto table = DescribeTable("spec { alibi { heads: 12 } }");
  ASSERT_OK(table);
  EXPECT_THAT(table->slopes(), SizeIs(12));
  EXPECT_THAT(table->tensors(0).shape(), ElementsAre(12, 5000, 5000));
}

TEST_F(DescribeTableTest, SizesBeyond64BitsSaturate) {
  const auto table = DescribeTable("spec { rope { head_dim: 65536 max_len: 9007199254740992 } }");
  ASSERT_OK(table);
  EXPECT_EQ(table->size_bytes(), ~uint64_t{0});
}

TEST_F(DescribeTableTest, KeyIsTheSameForTwoSpellings) {
  const auto one = DescribeTable("spec { rope { head_dim: 64 } }");
  const auto other = DescribeTable("spec { rope { head_dim: 64 rotary_dim: 64 base: 10000 } }");
  ASSERT_OK(one);
  ASSERT_OK(other);
  EXPECT_EQ(one->table_key(), other->table_key());
}

TEST_F(DescribeTableTest, DigestsOfHugeTablesAreRefusedWithSizeAndCap) {
  const std::string huge = "spec { rope { head_dim: 128 max_len: 134217729 } }";  // 64 GiB and a row
  EXPECT_THAT(DescribeTable(huge + " with_content_digest: true"),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("has 68719477248 bytes"), HasSubstr("at most 68719476736"))));
  EXPECT_EQ(store().stats().generated_blocks, 0u);
  EXPECT_OK(DescribeTable(huge));
}

TEST_F(DescribeTableTest, AClientThatGoesAwayStopsTheDigest) {
  Restart({.budget_bytes = size_t{2} << 20});
  const auto gone = DescribeTable(
      "spec { rope { head_dim: 128 max_len: 4000000 } } with_content_digest: true", absl::Milliseconds(50));
  EXPECT_EQ(gone.status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(MemoryComesBack());
  EXPECT_LT(store().stats().generated_blocks, 31250u);  // of that many
}

}  // namespace
}  // namespace posenc
