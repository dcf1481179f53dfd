#include "posenc/verified.h"

#include "gtest/gtest.h"
#include "server/core/crc32c.h"
#include "tests/integration/process.h"
#include "tests/integration/relay.h"
#include "tests/integration/tables.h"
#include "tests/support/matchers.h"

namespace posenc {
namespace {

using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

// A real server with small blocks, a client that receives its tables, and one that computes them and has
// the server vouch for them.
class VerifiedTest : public ::testing::Test {
 protected:
  static std::shared_ptr<VerifiedConnection> Verify(const std::string& target) {
    return MakeVerifiedLocalConnection(MakeConnection(target), {.threads = 3, .min_bytes = 1});
  }

  void ExpectSame(const TableRequest& table, const Selection& selection) {
    const absl::StatusOr<Table> streamed = streaming_.Slice(table, selection);
    const absl::StatusOr<Table> verified = verifying_.Slice(table, selection);
    ASSERT_OK(streamed);
    ASSERT_OK(verified);
    EXPECT_TRUE(ContentOf(*streamed) == ContentOf(*verified)) << streamed->key();
  }

  ServerProcess server_{{"--block-bytes", "16KiB"}};
  const std::shared_ptr<VerifiedConnection> connection_ = Verify(server_.target());
  Client streaming_{MakeConnection(server_.target())};
  Client verifying_{connection_};
  const Rope rope_{.head_dim = 128, .max_len = 3000};
};

TEST_F(VerifiedTest, ChecksumsOverTheWireAreThoseOfTheData) {
  for (const Selection& selection :
       {Selection(), Selection{.rows = Range{100, 2900}, .columns = Range{3, 60}},
        Selection{.positions = {5, -7, 2999, 5}}}) {
    std::vector<uint32_t> computed;
    std::vector<uint32_t> sent;
    ASSERT_OK(streaming_.Stream(rope_, selection, [&](const Chunk& chunk) {
      computed.push_back(0);
      for (const auto& tensor : chunk.tensors) computed.back() = ExtendCrc32c(computed.back(), tensor);
      return absl::OkStatus();
    }));
    ASSERT_OK(streaming_.Stream({.spec = TableRequest(rope_).spec(),
                                 .selection = selection,
                                 .on_chunk = [&](const Chunk& chunk) {
                                   EXPECT_TRUE(chunk.tensors.empty());
                                   sent.push_back(chunk.crc32c);
                                   return absl::OkStatus();
                                 },
                                 .checksums_only = true}));
    EXPECT_THAT(sent, ElementsAreArray(computed));
  }
}

TEST_F(VerifiedTest, VerifiedTablesAreByteForByteTheStreamedOnes) {
  uint64_t answers = 0;
  for (const TableRequest& table : TablesOfEveryKind()) {
    ExpectSame(table, {});
    EXPECT_EQ(connection_->stats().verified_answers, ++answers);
  }
  EXPECT_EQ(connection_->stats().mismatched_chunks, 0u);
}

TEST_F(VerifiedTest, VerifiedSlicesAreTheStreamedOnes) {
  const Alibi alibi{.heads = 12, .max_len = 64};
  for (const auto type : {ElementType::kF64, ElementType::kF32, ElementType::kF16, ElementType::kBF16}) {
    ExpectSame({rope_, type}, {.rows = Range{17, 2999}});
    ExpectSame({rope_, type}, {.rows = Range{17, 2999}, .columns = Range{5, 9}});
    ExpectSame({rope_, type}, {.positions = {2999, 0, -7, 42, 42}});
    ExpectSame({alibi, type}, {.rows = Range{1, 60}, .heads = Range{3, 11}});
    ExpectSame({alibi, type}, {.rows = Range{19, 20}, .keys = Range{0, 20}});
  }
  EXPECT_EQ(connection_->stats().verified_answers, 20u);
  EXPECT_EQ(connection_->stats().mismatched_chunks, 0u);
}

TEST_F(VerifiedTest, TableOfManyMebibytesIsTheStreamedOne) {
  ExpectSame(Sinusoidal{.d_model = 1024, .max_len = 10000}, {});
  EXPECT_EQ(connection_->stats().verified_bytes, 1024u * 10000 * 4);
}

TEST_F(VerifiedTest, ChecksumChangedOnItsWayIsFoundAndMended) {
  Relay relay(server_.target());
  relay.on_chunk = [](const v1::StreamSliceRequest& request, v1::StreamSliceResponse& chunk) {
    if (request.checksums_only() && chunk.first_row() == 64) chunk.set_crc32c(chunk.crc32c() + 1);
  };
  const auto connection = Verify(relay.target());
  const absl::StatusOr<Table> table = Client(connection).Get(rope_);
  ASSERT_OK(table);
  EXPECT_TRUE(ContentOf(*table) == ContentOf(*streaming_.Get(rope_)));
  EXPECT_EQ(connection->stats().mismatched_chunks, 1u);
  EXPECT_THAT(connection->stats().last_mismatch, HasSubstr("rows 64 to 96"));
}

TEST_F(VerifiedTest, ServiceThatDoesNotKnowChecksumsOnlyVouchesToo) {
  Relay relay(server_.target());
  relay.on_request = [](v1::StreamSliceRequest& request) { request.set_checksums_only(false); };
  const auto connection = Verify(relay.target());
  const absl::StatusOr<Table> table = Client(connection).Get(rope_);
  ASSERT_OK(table);
  EXPECT_TRUE(ContentOf(*table) == ContentOf(*streaming_.Get(rope_)));
  EXPECT_EQ(connection->stats().verified_answers, 1u);
}

TEST_F(VerifiedTest, AutomaticSourceGivesTheSameBytes) {
  const auto automatic = MakeVerifiedLocalConnection(MakeConnection(server_.target()),
                                                     {.source = TableSource::kAutomatic});
  const Rope large{.head_dim = 128, .max_len = 40000};
  for (int i = 0; i < 2; ++i) {
    const absl::StatusOr<Table> table = Client(automatic).Get(large);
    ASSERT_OK(table);
    EXPECT_TRUE(ContentOf(*table) == ContentOf(*streaming_.Get(large)));
  }
  EXPECT_GT(automatic->stats().link_bytes_per_second, 0.0);
}

}  // namespace
}  // namespace posenc
