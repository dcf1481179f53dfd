#include "client/remote/parallel_read.h"

#include <array>
#include <thread>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "client/remote/remote_connection.h"
#include "posenc/client.h"
#include "server/core/limits.h"
#include "tests/integration/tables.h"
#include "tests/support/matchers.h"
#include "tests/unit/client/computing_service.h"
#include "tests/unit/client/thread_limit.h"

namespace posenc {
namespace {

using ::testing::_;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

// 32 MiB in two tensors, 256 bytes a row.
const Rope kRope{.head_dim = 64, .max_len = 131072};
constexpr int64_t kRows = 131072;
constexpr int64_t kRowsPerBlock = limits::kDefaultBlockBytes / 256;

TEST(PlanParallelReadTest, PartsFollowEachOtherFromBlockToBlock) {
  const auto plan = PlanParallelRead({kRope}, {}, 3);
  ASSERT_TRUE(plan.has_value());
  ASSERT_THAT(plan->parts, SizeIs(3));
  int64_t next = 0;
  for (const ReadPart& part : plan->parts) {
    EXPECT_EQ(part.first_row, next);
    EXPECT_EQ(part.first_row % kRowsPerBlock, 0);
    EXPECT_EQ(part.selection.rows->begin, next);
    next += part.row_count;
    EXPECT_EQ(part.selection.rows->end, next);
  }
  EXPECT_EQ(next, kRows);
}

TEST(PlanParallelReadTest, RangesAndColumnsStayWhatTheyAre) {
  const TableRequest wide = Sinusoidal{.d_model = 4096, .max_len = 5000};
  const auto plan = PlanParallelRead(wide.spec(), {.rows = Range{100, 4900}, .columns = Range{0, 3000}}, 2);
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->answer.row_count, 4800);
  EXPECT_EQ(plan->parts[0].selection.rows->begin, 100);
  EXPECT_EQ(plan->parts[1].selection.rows->end, 4900);
  EXPECT_EQ(plan->parts[1].selection.columns->end, 3000);
  EXPECT_EQ(plan->parts[0].row_count + plan->parts[1].row_count, 4800);
}

TEST(PlanParallelReadTest, WhatIsNoRunOfRowsIsReadInOne) {
  std::vector<int64_t> positions(65536, 7);
  const std::vector<std::pair<TableRequest, Selection>> cases = {
      {Rope{.head_dim = 64, .max_len = kRows / 2}, {}},                                 // small
      {Rope{.head_dim = 65, .max_len = kRows}, {}},                                     // wrong
      {Rope{.head_dim = 64, .max_len = kRows}, {.rows = Range{0, kRows + 1}}},          // wrong
      {Rope{.head_dim = 512, .max_len = kRows}, {.positions = std::move(positions)}},   // no range
      {Alibi{.heads = 32, .max_len = 1024}, {}},                                        // heads by queries
      {Learned{.name = "wpe"}, {}},                                                     // not known here
      {Sinusoidal{.d_model = 65536, .max_len = int64_t{1} << 50}, {}},                  // beyond all memory
  };
  for (const auto& [table, selection] : cases) {
    EXPECT_FALSE(PlanParallelRead(table.spec(), selection, 4).has_value());
  }
}

// A client of several streams before a service, and one that computes for itself. Retries take no time.
class ParallelReadTest : public ::testing::Test {
 protected:
  ParallelReadTest() { Connect({.retry = {.initial_delay = absl::ZeroDuration()}, .parallel_streams = 4}); }

  void Connect(const ConnectionOptions& options) {
    client_.emplace(std::make_shared<RemoteConnection>(service_.target(), options, SystemEnvironment()));
  }

  // Ends the stream whose range begins at `row` before its second chunk, `times` times.
  void BreakPart(int64_t row, int times, grpc::StatusCode code) {
    service_.on_chunk = [this, row, times, code](const auto& request, auto& chunk) {
      const bool here = request.selection().rows().begin() == row && chunk.first_row() > 0;
      if (here && breaks_++ < times) return grpc::Status(code, "broken");
      return grpc::Status::OK;
    };
  }

  void ExpectRight(const absl::StatusOr<Table>& table, const TableRequest& request = kRope) {
    ASSERT_OK(table);
    EXPECT_TRUE(ContentOf(*table) == ContentOf(*local_.Get(request)));
  }

  ComputingService service_;
  std::optional<Client> client_;
  Client local_{MakeLocalConnection()};
  std::atomic<int> breaks_ = 0;
};

TEST_F(ParallelReadTest, WholeTableComesInPartsByteForByte) {
  ExpectRight(client_->Get(kRope));
  EXPECT_THAT(service_.streams(), UnorderedElementsAre(Pair(0, 0), Pair(32768, 0), Pair(65536, 0), Pair(98304, 0)));
}

TEST_F(ParallelReadTest, PartsWithoutAThreadAreReadByTheCaller) {
  ExpectRight(client_->Get(kRope));  // gRPC has its threads now
  const ThreadLimit limit(1);
  ExpectRight(client_->Get(kRope));
}

TEST_F(ParallelReadTest, OneStreamIsEnoughWhereTheCallerSaysSo) {
  Connect({.parallel_streams = 1});
  ExpectRight(client_->Get(kRope));
  EXPECT_THAT(service_.streams(), ElementsAre(Pair(0, 0)));
}

TEST_F(ParallelReadTest, RangesAndColumnsAreThePlainOnes) {
  const Sinusoidal wide{.d_model = 4096, .max_len = 5000};
  for (const Selection& selection : {Selection{.rows = Range{17, 4901}},
                                     Selection{.rows = Range{1, 4999}, .columns = Range{5, 3005}}}) {
    const auto got = client_->Slice(wide, selection);
    ASSERT_OK(got);
    EXPECT_TRUE(ContentOf(*got) == ContentOf(*local_.Slice(wide, selection)));
  }
  EXPECT_THAT(service_.streams(), SizeIs(8));
}

TEST_F(ParallelReadTest, ReadsIntoTheCallersMemory) {
  std::vector<float> cos(kRows * 32), sin(kRows * 32);
  ASSERT_OK(client_->ReadInto(kRope, {}, {std::as_writable_bytes(std::span(cos)),
                                          std::as_writable_bytes(std::span(sin))}));
  const auto expected = local_.Get(kRope);
  EXPECT_TRUE(std::ranges::equal(cos, expected->tensor<float>("cos")));
  EXPECT_TRUE(std::ranges::equal(sin, expected->tensor<float>("sin")));
  EXPECT_THAT(service_.streams(), SizeIs(4));
}

TEST_F(ParallelReadTest, ChunksForACallbackComeInOrderFromOneStream) {
  int64_t next = 0;
  ASSERT_OK(client_->Stream(kRope, {}, [&](const Chunk& chunk) {
    EXPECT_EQ(chunk.first_row, next);
    next += chunk.row_count;
    return absl::OkStatus();
  }));
  EXPECT_EQ(next, kRows);
  EXPECT_THAT(service_.streams(), SizeIs(1));
}

TEST_F(ParallelReadTest, BrokenPartGoesOnAtItsNextRow) {
  BreakPart(65536, 1, grpc::StatusCode::UNAVAILABLE);
  ExpectRight(client_->Get(kRope));
  EXPECT_THAT(service_.streams(), UnorderedElementsAre(Pair(0, 0), Pair(32768, 0), Pair(65536, 0),
                                                       Pair(65536, kRowsPerBlock), Pair(98304, 0)));
}

TEST_F(ParallelReadTest, WrongChecksumOfOnePartIsReadAgain) {
  service_.on_chunk = [this](const auto& request, auto& chunk) {
    if (request.selection().rows().begin() == 32768 && breaks_++ == 0) chunk.set_crc32c(1);
    return grpc::Status::OK;
  };
  ExpectRight(client_->Get(kRope));
  EXPECT_THAT(service_.streams(), SizeIs(5));
}

TEST_F(ParallelReadTest, FirstErrorStopsTheOtherParts) {
  // The others would never end by themselves.
  service_.on_call = [](int call, grpc::ServerContext& context) {
    while (call > 1 && !context.IsCancelled()) std::this_thread::yield();
    return call > 1 ? grpc::Status::CANCELLED : grpc::Status(grpc::StatusCode::NOT_FOUND, "no such table");
  };
  EXPECT_THAT(client_->Get(kRope), StatusIs(absl::StatusCode::kNotFound, "no such table"));
}

TEST_F(ParallelReadTest, StopOfTheCallerEndsAllParts) {
  std::stop_source stop;
  service_.on_call = [&](int call, grpc::ServerContext& context) {
    if (call == 4) stop.request_stop();
    while (!context.IsCancelled()) std::this_thread::yield();
    return grpc::Status::CANCELLED;
  };
  EXPECT_THAT(client_->Get(kRope, {.stop = stop.get_token()}), StatusIs(absl::StatusCode::kCancelled, _));
}

TEST_F(ParallelReadTest, DeadlineEndsAllParts) {
  service_.on_call = [&](int, grpc::ServerContext& context) {
    while (!context.IsCancelled()) std::this_thread::yield();
    return grpc::Status::CANCELLED;
  };
  EXPECT_THAT(client_->Get(kRope, {.timeout = absl::Milliseconds(100)}),
              StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr(service_.target())));
}

TEST_F(ParallelReadTest, PartOfAnotherTableIsAnErrorAndNotReadAgain) {
  service_.on_chunk = [](const auto& request, auto& chunk) {
    const bool other = request.selection().rows().begin() == 32768;
    if (other && chunk.has_header()) chunk.mutable_header()->set_table_key(std::string(64, 'a'));
    return grpc::Status::OK;
  };
  EXPECT_THAT(client_->Get(kRope), StatusIs(absl::StatusCode::kInternal, HasSubstr("table_key")));
  EXPECT_LE(service_.streams().size(), 4u);
}

TEST_F(ParallelReadTest, ProgressIsTheSumAndComesFromTheCallingThread) {
  RemoteConnection connection(service_.target(), {.parallel_streams = 4}, SystemEnvironment());
  const auto caller = std::this_thread::get_id();
  uint64_t last = 0;
  const auto table = connection.Fetch({.spec = {kRope}, .on_progress = [&](uint64_t done, uint64_t total) {
                                         EXPECT_EQ(std::this_thread::get_id(), caller);
                                         EXPECT_GT(done, last);
                                         EXPECT_EQ(total, uint64_t{32} << 20);
                                         last = done;
                                       }});
  ExpectRight(table);
  EXPECT_EQ(last, uint64_t{32} << 20);
}

}  // namespace
}  // namespace posenc
