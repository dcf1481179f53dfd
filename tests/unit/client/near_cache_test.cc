#include "posenc/near_cache.h"

#include <atomic>
#include <barrier>
#include <thread>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "posenc/client.h"
#include "posenc/mock_connection.h"
#include "tests/integration/tables.h"
#include "tests/support/matchers.h"
#include "tests/unit/client/computing_service.h"

namespace posenc {
namespace {

using ::testing::_;
using ::testing::HasSubstr;
using ::testing::Return;

const Rope kRope{.head_dim = 64, .max_len = 256};

Selection Rows(int64_t begin, int64_t end) { return {.rows = Range{begin, end}}; }

// A cache before a service, both over gRPC, beside a client that computes for itself.
class NearCacheTest : public ::testing::Test {
 protected:
  void UseBudget(uint64_t bytes) { Use(MakeConnection(service_.target()), bytes); }
  void Use(std::shared_ptr<Connection> inner, uint64_t bytes = uint64_t{1} << 20) {
    cache_ = MakeCachingConnection(std::move(inner), {.max_bytes = bytes});
    client_.emplace(cache_);
  }
  NearCacheTest() { UseBudget(uint64_t{1} << 20); }

  void ExpectRight(const TableRequest& table, const Selection& selection) {
    const auto got = client_->Slice(table, selection);
    const auto expected = local_.Slice(table, selection);
    ASSERT_OK(got);
    ASSERT_OK(expected);
    EXPECT_TRUE(ContentOf(*got) == ContentOf(*expected));
  }

  ComputingService service_;
  std::shared_ptr<CachingConnection> cache_;
  std::optional<Client> client_;
  Client local_{MakeLocalConnection()};
};

TEST_F(NearCacheTest, RepeatedSliceMakesOneCallAndSharesTheNumbers) {
  const auto first = client_->Slice(kRope, Rows(0, 8));
  const auto again = client_->Slice(kRope, Rows(0, 8));
  ASSERT_OK(first);
  ASSERT_OK(again);
  EXPECT_EQ(first->bytes("cos").data(), again->bytes("cos").data());
  EXPECT_EQ(service_.calls(), 1);
  EXPECT_EQ(cache_->stats().hits, 1u);
  EXPECT_EQ(cache_->stats().misses, 1u);
}

TEST_F(NearCacheTest, AnswersAreThePlainOnes) {
  for (const TableRequest& table : TablesOfEveryKind()) {
    for (int i = 0; i < 2; ++i) {
      ExpectRight(table, {});
    }
  }
  const Alibi alibi{.heads = 4, .max_len = 20};
  for (int i = 0; i < 2; ++i) {
    ExpectRight(alibi, {.rows = Range{3, 9}, .heads = Range{1, 3}, .keys = Range{0, 7}});
    ExpectRight(kRope, {.rows = Range{17, 40}, .columns = Range{2, 5}});
    ExpectRight(kRope, {.positions = {-4, 3, 3}});
  }
}

TEST_F(NearCacheTest, DifferentQuestionsAreDifferentAnswers) {
  const std::vector<Selection> selections = {Rows(0, 2), Rows(1, 2), {.rows = Range{250, std::nullopt}},
                                             {.rows = Range{0, 2}, .columns = Range{0, 1}},
                                             {.positions = {0, 1}}, {.positions = {1, 0}},
                                             {.positions = {0, 1, 2}}};
  const std::vector<TableRequest> tables = {
      kRope, {kRope, ElementType::kF16}, {kRope, ElementType::kF32, Arithmetic::kFloat32},
      Rope{.head_dim = 64, .max_len = 256, .base = 10001},
      Rope{.head_dim = 64, .max_len = 256, .layout = RopeLayout::kCosSin},
      Rope{.head_dim = 64, .max_len = 256, .scaling = LinearScaling{2}},
      Rope{.head_dim = 64, .max_len = 256, .scaling = LinearScaling{4}},
      Rope{.head_dim = 4, .max_len = 256, .scaling = ExplicitFrequencies{{1, 0.5}}},
      Rope{.head_dim = 4, .max_len = 256, .scaling = ExplicitFrequencies{{1, 0.25}}}};
  for (int round = 0; round < 2; ++round) {
    for (const TableRequest& table : tables) {
      for (const Selection& selection : selections) ExpectRight(table, selection);
    }
  }
  EXPECT_EQ(cache_->stats().hits, cache_->stats().misses);
}

TEST_F(NearCacheTest, QuestionsInTurnKeepTheirAnswers) {
  for (int i = 0; i < 4; ++i) {
    for (int64_t head_dim = 32; head_dim <= 192; head_dim += 32) {
      ExpectRight(Rope{.head_dim = head_dim, .max_len = 256}, Rows(0, 8));
      ExpectRight(Rope{.head_dim = head_dim, .max_len = 256}, Rows(0, 8));
    }
  }
  EXPECT_EQ(service_.calls(), 6);
  EXPECT_EQ(cache_->stats().hits, 42u);
}

TEST_F(NearCacheTest, SpellingsOfOneQuestionShareOneAnswer) {
  const Rope spelled{.head_dim = 64, .rotary_dim = 64, .max_len = 256, .scaling = LinearScaling{1}};
  const auto first = client_->Slice(kRope, Rows(8, 256));
  const auto other = client_->Slice({spelled, ElementType::kF32},
                                    {.rows = Range{8, std::nullopt}, .columns = Range{0, std::nullopt}});
  ASSERT_OK(first);
  ASSERT_OK(other);
  EXPECT_EQ(first->bytes("cos").data(), other->bytes("cos").data());
  EXPECT_EQ(service_.calls(), 1);
  EXPECT_EQ(cache_->stats().answers, 1u);
}

TEST_F(NearCacheTest, ManySpellingsStayWithinTheBound) {
  UseBudget(64 << 10);
  for (int64_t effective = 1; effective <= 100; ++effective) {
    // Nothing depends on the length, so that all are one table.
    EXPECT_OK(client_->Slice(Rope{.head_dim = 64, .max_len = 256, .effective_length = effective}, Rows(0, 8)));
  }
  EXPECT_EQ(service_.calls(), 1);
  EXPECT_LE(cache_->stats().bytes, uint64_t{64} << 10);
}

TEST_F(NearCacheTest, PartsOfAWholeTableAreViewsOfIt) {
  const auto whole = client_->Get(kRope);
  const auto rows = client_->Slice(kRope, Rows(16, 20));
  const auto positions = client_->Gather(kRope, {16, 17});
  ASSERT_OK(whole);
  ASSERT_OK(rows);
  ASSERT_OK(positions);
  const int64_t offset = 16 * 32 * sizeof(float);
  EXPECT_EQ(rows->bytes("sin").data(), whole->bytes("sin").data() + offset);
  EXPECT_EQ(positions->bytes("cos").data(), whole->bytes("cos").data() + offset);
  EXPECT_EQ(cache_->stats().derived, 2u);
  EXPECT_EQ(service_.calls(), 1);
}

TEST_F(NearCacheTest, PartsOfAWholeTableAreThePlainOnes) {
  const std::vector<Selection> selections = {
      Rows(0, 1), Rows(7, 200), {.rows = Range{3, 9}, .columns = Range{1, 3}}, {.positions = {9, 0, 9}}};
  std::vector<TableRequest> tables = {kRope, Sinusoidal{.d_model = 6, .max_len = 300},
                                      Rope{.head_dim = 10, .max_len = 200, .first_position = -100},
                                      Rope{.head_dim = 8, .max_len = 300, .layout = RopeLayout::kPairs}};
  for (const TableRequest& table : tables) {
    EXPECT_OK(client_->Get(table));
    for (const Selection& selection : selections) ExpectRight(table, selection);
  }
  const Alibi alibi{.heads = 3, .max_len = 16};
  EXPECT_OK(client_->Get(alibi));
  ExpectRight(alibi, {.rows = Range{2, 5}, .heads = Range{1, 3}, .keys = Range{4, 9}});
  EXPECT_EQ(service_.calls(), 5);
}

TEST_F(NearCacheTest, WhatTheWholeTableLacksIsAsked) {
  EXPECT_OK(client_->Get(kRope));
  ExpectRight(kRope, {.positions = {-3, 5}});
  EXPECT_EQ(service_.calls(), 2);
}

TEST_F(NearCacheTest, ViewOutlivesTheCache) {
  EXPECT_OK(client_->Get(kRope));
  const auto view = client_->Slice(kRope, Rows(16, 20));
  ASSERT_OK(view);
  cache_->Clear();
  client_.reset();
  cache_.reset();
  EXPECT_TRUE(ContentOf(*view) == ContentOf(*local_.Slice(kRope, Rows(16, 20))));
}

TEST_F(NearCacheTest, LeastRecentlyUsedAnswersLeaveFirst) {
  // Each answer is 16 KiB and its bookkeeping; two fit, three do not.
  UseBudget(48 << 10);
  const auto ask = [&](int64_t row) { EXPECT_OK(client_->Slice(kRope, Rows(row, row + 64))); };
  ask(0);
  ask(64);
  ask(0);    // a hit, which keeps it
  ask(128);  // in the place of 64
  ask(0);
  EXPECT_EQ(service_.calls(), 3);
  ask(64);
  EXPECT_EQ(service_.calls(), 4);
  EXPECT_EQ(cache_->stats().evictions, 2u);
  EXPECT_EQ(cache_->stats().answers, 2u);
}

TEST_F(NearCacheTest, BytesNeverExceedTheBound) {
  UseBudget(40 << 10);
  for (int64_t row = 0; row < 250; ++row) {
    EXPECT_OK(client_->Slice(kRope, Rows(row, row + row % 7 * 8 % (256 - row) + 1)));
    EXPECT_LE(cache_->stats().bytes, uint64_t{40} << 10);
  }
  EXPECT_GT(cache_->stats().evictions, 0u);
}

TEST_F(NearCacheTest, AnswerOverTheBoundPassesThrough) {
  UseBudget(16 << 10);
  EXPECT_OK(client_->Slice(kRope, Rows(0, 4)));
  ExpectRight(kRope, {});
  ExpectRight(kRope, {});
  EXPECT_EQ(service_.calls(), 3);
  EXPECT_EQ(cache_->stats().answers, 1u);
}

TEST_F(NearCacheTest, RepeatedQuestionIsAskedAnewOnceItsAnswerLeft) {
  UseBudget(48 << 10);
  for (int i = 0; i < 3; ++i) ExpectRight(kRope, Rows(0, 64));
  ExpectRight(kRope, Rows(64, 128));
  ExpectRight(kRope, Rows(128, 192));
  EXPECT_EQ(cache_->stats().evictions, 1u);
  ExpectRight(kRope, Rows(0, 64));
  EXPECT_EQ(service_.calls(), 4);
  EXPECT_EQ(cache_->stats().hits, 2u);
}

TEST_F(NearCacheTest, NothingIsLeftAfterClear) {
  for (int i = 0; i < 3; ++i) EXPECT_OK(client_->Slice(kRope, Rows(0, 4)));
  cache_->Clear();
  EXPECT_EQ(cache_->stats().bytes, 0u);
  EXPECT_OK(client_->Slice(kRope, Rows(0, 4)));
  EXPECT_EQ(service_.calls(), 2);
}

TEST_F(NearCacheTest, ErrorsAreNotKept) {
  EXPECT_THAT(client_->Slice(kRope, Rows(0, 257)), ViolatesField("selection.rows.end"));
  EXPECT_THAT(client_->Slice(kRope, Rows(0, 257)), ViolatesField("selection.rows.end"));
  EXPECT_THAT(client_->Get(Rope{.head_dim = 3}), ViolatesField("spec.rope.head_dim"));
  EXPECT_EQ(service_.calls(), 3);
  EXPECT_EQ(cache_->stats().bytes, 0u);
}

TEST_F(NearCacheTest, StoredTensorIsKeptOnlyWithItsDigest) {
  const auto inner = std::make_shared<MockConnection>();
  EXPECT_CALL(*inner, Fetch).Times(3).WillRepeatedly(Return(*local_.Slice(kRope, Rows(0, 1))));
  Use(inner);
  const Learned named{.name = "wpe"};
  const Learned known{.name = "wpe", .content_sha256 = std::string(64, 'a')};
  for (int i = 0; i < 2; ++i) EXPECT_OK(client_->Get(named));
  for (int i = 0; i < 2; ++i) EXPECT_OK(client_->Get(known));
}

TEST_F(NearCacheTest, NegativeEndOfAStoredTensorIsNotAnOpenOne) {
  const auto inner = std::make_shared<MockConnection>();
  EXPECT_CALL(*inner, Fetch)
      .WillOnce(Return(*local_.Slice(kRope, Rows(0, 1))))
      .WillOnce(Return(absl::OutOfRangeError("selection.rows.end")));
  Use(inner);
  const Learned known{.name = "wpe", .content_sha256 = std::string(64, 'a')};
  EXPECT_OK(client_->Slice(known, {.rows = Range{0, std::nullopt}}));
  EXPECT_THAT(client_->Slice(known, Rows(0, -1)), StatusIs(absl::StatusCode::kOutOfRange, _));
}

TEST_F(NearCacheTest, ConcurrentFirstRequestsMakeOneCall) {
  constexpr int kCallers = 8;
  service_.on_call = [&](int, grpc::ServerContext&) {
    // Not before all others wait, so that none comes too late to have to.
    while (cache_->stats().coalesced < kCallers - 1) std::this_thread::yield();
    return grpc::Status::OK;
  };
  std::vector<absl::StatusOr<Table>> tables(kCallers, absl::UnknownError("not asked"));
  {
    std::vector<std::jthread> callers;
    for (auto& table : tables) callers.emplace_back([&] { table = client_->Slice(kRope, Rows(0, 8)); });
  }
  EXPECT_EQ(service_.calls(), 1);
  for (const auto& table : tables) {
    ASSERT_OK(table);
    EXPECT_EQ(table->bytes("cos").data(), tables[0]->bytes("cos").data());
  }
}

TEST_F(NearCacheTest, ErrorGoesToAllWhoWaited) {
  service_.on_call = [&](int, grpc::ServerContext&) {
    while (cache_->stats().coalesced < 1) std::this_thread::yield();
    return grpc::Status(grpc::StatusCode::NOT_FOUND, "no such thing");
  };
  absl::StatusOr<Table> other;
  std::jthread waiter([&] { other = client_->Slice(kRope, Rows(0, 8)); });
  EXPECT_THAT(client_->Slice(kRope, Rows(0, 8)), StatusIs(absl::StatusCode::kNotFound, "no such thing"));
  waiter.join();
  EXPECT_THAT(other, StatusIs(absl::StatusCode::kNotFound, "no such thing"));
  EXPECT_EQ(service_.calls(), 1);
}

TEST_F(NearCacheTest, WaiterKeepsItsOwnTimeout) {
  absl::Notification begun, over;
  service_.on_call = [&](int, grpc::ServerContext&) {
    begun.Notify();
    over.WaitForNotification();
    return grpc::Status::OK;
  };
  absl::StatusOr<Table> first;
  std::jthread leader([&] { first = client_->Slice(kRope, Rows(0, 8)); });
  begun.WaitForNotification();
  EXPECT_THAT(client_->Slice(kRope, Rows(0, 8), {.timeout = absl::Milliseconds(20)}),
              StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("another caller")));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THAT(client_->Slice(kRope, Rows(0, 8), {.stop = stop.get_token()}),
              StatusIs(absl::StatusCode::kCancelled, _));
  over.Notify();
  leader.join();
  EXPECT_OK(first);
}

TEST_F(NearCacheTest, WaiterAsksItselfWhenTheFirstCallerRanOutOfTime) {
  service_.on_call = [&](int call, grpc::ServerContext& context) {
    // The first call ends by its own deadline.
    while (call == 1 && !context.IsCancelled()) std::this_thread::yield();
    return grpc::Status::OK;
  };
  absl::StatusOr<Table> first;
  std::jthread leader([&] {
    first = client_->Slice(kRope, Rows(0, 8), {.timeout = absl::Milliseconds(300)});
  });
  while (service_.calls() == 0) std::this_thread::yield();
  EXPECT_OK(client_->Slice(kRope, Rows(0, 8)));
  leader.join();
  EXPECT_THAT(first, StatusIs(absl::StatusCode::kDeadlineExceeded, _));
}

TEST_F(NearCacheTest, WaitersWithoutATimeoutDoNotWaitForOneAfterTheOther) {
  const auto inner = std::make_shared<MockConnection>();
  std::atomic<int> with_usual_timeout = 0;
  EXPECT_CALL(*inner, Fetch).WillRepeatedly([&](const FetchParams& params) -> absl::StatusOr<Table> {
    if (!params.call.timeout) ++with_usual_timeout;
    while (cache_->stats().coalesced < 1) std::this_thread::yield();
    return absl::DeadlineExceededError("the connection's usual timeout");
  });
  Use(inner);
  absl::StatusOr<Table> other;
  std::jthread waiter([&] { other = client_->Slice(kRope, Rows(0, 8)); });
  EXPECT_THAT(client_->Slice(kRope, Rows(0, 8)), StatusIs(absl::StatusCode::kDeadlineExceeded, _));
  waiter.join();
  EXPECT_THAT(other, StatusIs(absl::StatusCode::kDeadlineExceeded, _));
  EXPECT_EQ(with_usual_timeout, 1);
}

TEST_F(NearCacheTest, ManyThreadsFindTheRightAnswersWhileOthersLeave) {
  UseBudget(24 << 10);
  std::vector<std::string> expected;
  const auto bytes_of = [](const Table& table) { return ContentOf(table).bytes[0]; };
  for (int64_t row = 0; row < 64; ++row) expected.push_back(bytes_of(*local_.Slice(kRope, Rows(row, row + 4))));
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&, thread] {
        for (int i = 0; i < 500; ++i) {
          const int64_t row = (i * (thread + 1) + i / 7) % (i % 3 == 0 ? 64 : 4);
          const auto table = client_->Slice(kRope, Rows(row, row + 4));
          if (!table.ok() || bytes_of(*table) != expected[row]) ++wrong;
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(cache_->stats().evictions, 0u);
}

}  // namespace
}  // namespace posenc
