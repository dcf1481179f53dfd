#include "client/verified/verified_connection.h"

#include "client/verified/link_meter.h"
#include "tests/support/matchers.h"
#include "tests/unit/client/scripted_connection.h"

namespace posenc {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

constexpr int64_t kRows = 4096;

// A service that sends chunks of a thousand rows, and a clock that stands still until a test moves it.
class VerifiedConnectionTest : public ::testing::Test {
 protected:
  VerifiedConnectionTest() {
    service_->rows_per_chunk = 1000;
    Connect({});
  }

  void Connect(const VerifiedOptions& options) {
    connection_ = std::make_shared<VouchedConnection>(service_, options, [this] { return now_; });
    client_.emplace(connection_);
  }

  // Gets a table that differs from `table_` in the first bytes of the rows given, and in nothing else.
  void ExpectTable(const std::vector<int64_t>& other_rows = {}) {
    const absl::StatusOr<Table> table = client_->Get(table_);
    ASSERT_OK(table);
    EXPECT_EQ(table->key(), expected_.key());
    ExpectBytes(table->bytes("cos"), other_rows);
    EXPECT_TRUE(std::ranges::equal(table->bytes("sin"), expected_.bytes("sin")));
  }

  void ExpectBytes(std::span<const std::byte> cos, const std::vector<int64_t>& other_rows) {
    std::vector<std::byte> bytes(cos.begin(), cos.end());
    for (int64_t row : other_rows) bytes[row * bytes.size() / kRows] ^= std::byte{1};
    EXPECT_TRUE(std::ranges::equal(bytes, expected_.bytes("cos")));
  }

  VerifiedStats stats() const { return connection_->stats(); }

  const Rope table_{.head_dim = 64, .max_len = kRows};  // 1 MiB
  const Table expected_ = *Client(MakeLocalConnection()).Get(table_);
  absl::Time now_ = absl::UnixEpoch();
  const std::shared_ptr<ScriptedConnection> service_ = std::make_shared<ScriptedConnection>();
  std::shared_ptr<VouchedConnection> connection_;
  std::optional<Client> client_;
};

TEST_F(VerifiedConnectionTest, ServiceSendsNothingButChecksums) {
  ExpectTable();
  EXPECT_THAT(service_->calls(), ElementsAre("Checksums 0"));
  EXPECT_EQ(stats().verified_answers, 1u);
  EXPECT_EQ(stats().verified_bytes, 1u << 20);
  EXPECT_EQ(stats().received_answers, 0u);
  EXPECT_EQ(stats().mismatched_chunks, 0u);
  EXPECT_THAT(stats().last_mismatch, IsEmpty());
}

TEST_F(VerifiedConnectionTest, WrongChecksumIsCountedAndMended) {
  service_->checksum_error = 1;
  ExpectTable();
  // All chunks follow each other, so that one stream brings them.
  EXPECT_THAT(service_->calls(), ElementsAre("Checksums 0", "Stream 0"));
  EXPECT_EQ(stats().mismatched_chunks, 5u);
  EXPECT_EQ(stats().mismatched_rows, 4096u);
  EXPECT_EQ(stats().verified_bytes, 0u);
}

TEST_F(VerifiedConnectionTest, MendingTakesFromTheTimeOfTheCall) {
  service_->checksum_error = 1;
  ASSERT_OK(client_->Get(table_, {.timeout = absl::Hours(1)}));
  ASSERT_THAT(service_->calls(), ElementsAre("Checksums 0", "Stream 0"));
  EXPECT_LT(*service_->timeouts()[1], *service_->timeouts()[0]);
}

TEST_F(VerifiedConnectionTest, StreamThatGoesNowhereIsCheckedAllTheSame) {
  ASSERT_OK(connection_->Stream({.spec = TableRequest(table_).spec()}));
  EXPECT_EQ(stats().verified_bytes, 1u << 20);
}

TEST_F(VerifiedConnectionTest, ServicesBytesAreTheTruth) {
  service_->other_rows = {1500, 3999};
  ExpectTable({1500, 3999});
  EXPECT_THAT(service_->calls(), ElementsAre("Checksums 0", "Stream 1000", "Stream 3000"));
  EXPECT_EQ(stats().mismatched_chunks, 2u);
  EXPECT_EQ(stats().mismatched_rows, 2000u);
  EXPECT_THAT(stats().last_mismatch, HasSubstr("rows 3000 to 4000"));
}

TEST_F(VerifiedConnectionTest, SeveralThreadsComputeTheSame) {
  Connect({.threads = 5});
  const Rope large{.head_dim = 128, .max_len = 50000};
  service_->other_rows = {0, 49999};
  const absl::StatusOr<Table> table = client_->Get(large);
  ASSERT_OK(table);
  const Table expected = *Client(MakeLocalConnection()).Get(large);
  EXPECT_NE(table->tensor<float>("cos")[0], expected.tensor<float>("cos")[0]);
  EXPECT_TRUE(std::ranges::equal(table->bytes("sin"), expected.bytes("sin")));
  EXPECT_EQ(stats().mismatched_rows, 2000u);
}

TEST_F(VerifiedConnectionTest, OtherTableIsTheServices) {
  service_->other_table = TableRequest(Rope{.head_dim = 64, .max_len = kRows, .base = 7}).spec();
  const absl::StatusOr<Table> table = client_->Get(table_);
  ASSERT_OK(table);
  EXPECT_NE(table->key(), expected_.key());
  EXPECT_THAT(service_->calls(), ElementsAre("Checksums 0", "Fetch"));
  EXPECT_EQ(stats().other_tables, 1u);
  EXPECT_EQ(stats().verified_answers, 0u);
}

TEST_F(VerifiedConnectionTest, ChunksComeInOrderAndAreMendedOnTheWay) {
  service_->other_rows = {1500};
  std::vector<int64_t> rows;
  std::vector<std::byte> cos;
  ASSERT_OK(client_->Stream(table_, {}, [&](const Chunk& chunk) {
    rows.push_back(chunk.first_row);
    cos.insert(cos.end(), chunk.tensors[0].begin(), chunk.tensors[0].end());
    return absl::OkStatus();
  }));
  EXPECT_THAT(rows, ElementsAre(0, 1000, 2000, 3000, 4000));
  ExpectBytes(cos, {1500});
  EXPECT_THAT(service_->calls(), ElementsAre("Checksums 0", "Stream 1000"));
}

TEST_F(VerifiedConnectionTest, SkippedRowsAreNotComputed) {
  int64_t first = -1;
  const ChunkCallback on_chunk = [&](const Chunk& chunk) {
    if (first < 0) first = chunk.first_row;
    return absl::OkStatus();
  };
  ASSERT_OK(client_->Stream(
      {.spec = TableRequest(table_).spec(), .skip_rows = 3000, .on_chunk = on_chunk}));
  EXPECT_EQ(first, 3000);
  EXPECT_THAT(service_->calls(), ElementsAre("Checksums 3000"));
}

TEST_F(VerifiedConnectionTest, CallersErrorEndsTheStream) {
  const absl::Status status =
      client_->Stream(table_, {}, [](const Chunk&) { return absl::AbortedError("mine"); });
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kAborted, "mine"));
}

TEST_F(VerifiedConnectionTest, ReadsIntoTheCallersMemory) {
  std::vector<std::byte> cos(expected_.bytes("cos").size());
  std::vector<std::byte> sin(cos.size());
  ASSERT_OK(client_->ReadInto(table_, {}, {cos, sin}));
  ExpectBytes(cos, {});
  EXPECT_TRUE(std::ranges::equal(sin, expected_.bytes("sin")));
  EXPECT_THAT(service_->calls(), ElementsAre("Checksums 0"));
}

TEST_F(VerifiedConnectionTest, MemoryOfTheWrongSizeIsRefused) {
  std::vector<std::byte> memory(10);
  EXPECT_THAT(client_->ReadInto(table_, {}, {memory, memory}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("10 bytes")));
}

TEST_F(VerifiedConnectionTest, ErrorsAreTheServices) {
  service_->on_call = [] { return absl::UnavailableError("gone"); };
  EXPECT_THAT(client_->Get(table_), StatusIs(absl::StatusCode::kUnavailable, "gone"));
  service_->on_call = [] { return absl::OkStatus(); };
  service_->on_chunk = [](int64_t row) {
    return row > 1000 ? absl::UnavailableError("broken") : absl::OkStatus();
  };
  EXPECT_THAT(client_->Get(table_), StatusIs(absl::StatusCode::kUnavailable, "broken"));
}

TEST_F(VerifiedConnectionTest, WhatItCannotComputeTheServiceSends) {
  EXPECT_FALSE(client_->Get(Learned{.name = "wpe"}).ok());
  EXPECT_FALSE(client_->Get(Rope{.head_dim = 63, .max_len = kRows}).ok());
  EXPECT_OK(client_->Slice(table_, {.rows = Range{0, 3}}));  // and what is too small to be worth it
  EXPECT_THAT(service_->calls(), ElementsAre("Fetch", "Fetch", "Fetch"));
  EXPECT_EQ(stats().received_answers, 3u);
}

TEST_F(VerifiedConnectionTest, ProgressEndsWithTheWholeAnswer) {
  uint64_t done = 0;
  const auto on_progress = [&](uint64_t now, uint64_t total) {
    EXPECT_GT(now, done);
    EXPECT_EQ(total, 1u << 20);
    done = now;
  };
  ASSERT_OK(connection_->Fetch({.spec = TableRequest(table_).spec(), .on_progress = on_progress}));
  EXPECT_EQ(done, 1u << 20);
}

TEST_F(VerifiedConnectionTest, StreamSourceNeverComputes) {
  Connect({.source = TableSource::kStream});
  ExpectTable();
  EXPECT_THAT(service_->calls(), ElementsAre("Fetch"));
}

// Tables of 16 MiB, in chunks of 512 KB.
class AutomaticSourceTest : public VerifiedConnectionTest {
 protected:
  AutomaticSourceTest() { Connect({.source = TableSource::kAutomatic, .threads = 1}); }

  // Every chunk takes that long to arrive, by the clock of the test; computing takes no time.
  void UseLink(absl::Duration time_per_chunk) {
    service_->on_chunk = [this, time_per_chunk](int64_t) {
      now_ += time_per_chunk;
      return absl::OkStatus();
    };
  }

  void ExpectLarge() {
    const absl::StatusOr<Table> table = client_->Get(large_);
    ASSERT_OK(table);
    EXPECT_TRUE(std::ranges::equal(table->bytes("cos"), large_expected_.bytes("cos")));
    EXPECT_TRUE(std::ranges::equal(table->bytes("sin"), large_expected_.bytes("sin")));
  }

  const Rope large_{.head_dim = 128, .max_len = 32768};
  const Table large_expected_ = *Client(MakeLocalConnection()).Get(large_);
};

TEST_F(AutomaticSourceTest, SlowLinkIsLeftOnceItIsKnown) {
  UseLink(absl::Milliseconds(10));
  ExpectLarge();
  // The first chunk only sets the clock going; 1.5 MB and 20 ms later the rate is known.
  EXPECT_THAT(service_->calls(), ElementsAre("Stream 0", "Checksums 4000"));
  EXPECT_DOUBLE_EQ(stats().link_bytes_per_second, 51.2e6);
  EXPECT_EQ(stats().verified_answers, 1u);
  EXPECT_EQ(stats().verified_bytes, (32768u - 4000) * 512);
}

TEST_F(AutomaticSourceTest, KnownSlowLinkIsNotTriedAgainForAWhile) {
  UseLink(absl::Milliseconds(10));
  ExpectLarge();
  service_->ForgetCalls();
  ExpectLarge();
  EXPECT_THAT(service_->calls(), ElementsAre("Checksums 0"));
  now_ += absl::Minutes(1);
  service_->ForgetCalls();
  ExpectLarge();
  EXPECT_THAT(service_->calls(), ElementsAre("Stream 0", "Checksums 4000"));
}

TEST_F(AutomaticSourceTest, QuickLinkIsUsed) {
  ExpectLarge();
  ExpectLarge();
  EXPECT_THAT(service_->calls(), ElementsAre("Stream 0", "Fetch"));
  EXPECT_EQ(stats().received_answers, 2u);
  EXPECT_EQ(stats().verified_answers, 0u);
}

TEST_F(AutomaticSourceTest, ServiceSendsUntilTheLinkIsKnown) {
  ExpectTable();
  EXPECT_THAT(service_->calls(), ElementsAre("Fetch"));
  UseLink(absl::Milliseconds(10));
  ExpectLarge();
  service_->ForgetCalls();
  ExpectTable();
  EXPECT_THAT(service_->calls(), ElementsAre("Checksums 0"));
}

TEST_F(AutomaticSourceTest, StreamsChangeTheirSourceBetweenChunks) {
  UseLink(absl::Milliseconds(10));
  std::vector<int64_t> rows;
  ASSERT_OK(client_->Stream(large_, {}, [&](const Chunk& chunk) {
    rows.push_back(chunk.first_row);
    return absl::OkStatus();
  }));
  EXPECT_THAT(service_->calls(), ElementsAre("Stream 0", "Checksums 4000"));
  EXPECT_EQ(rows.size(), 33u);
  EXPECT_THAT(rows, IsSupersetOf({0, 3000, 4000, 32000}));
}

TEST_F(AutomaticSourceTest, TablesThatCanBeMappedAre) {
  service_->maps_tables = true;
  ExpectLarge();
  EXPECT_THAT(service_->calls(), ElementsAre("Fetch"));
}

TEST(LinkMeterTest, CountsFromTheEndOfTheFirstChunk) {
  LinkMeter meter;
  absl::Time now = absl::UnixEpoch();
  meter.Add(9 << 20, now);
  EXPECT_FALSE(meter.done());
  meter.Add(4 << 20, now += absl::Seconds(2));
  EXPECT_TRUE(meter.done());
  EXPECT_EQ(meter.rate(), 2 << 20);
}

TEST(LinkMeterTest, SlowLinksAreKnownAfterOneMebibyte) {
  LinkMeter meter;
  absl::Time now = absl::UnixEpoch();
  meter.Add(1, now);
  meter.Add(1 << 20, now += absl::Milliseconds(19));
  EXPECT_FALSE(meter.done());
  meter.Add(0, now += absl::Milliseconds(1));
  EXPECT_TRUE(meter.done());
}

}  // namespace
}  // namespace posenc
