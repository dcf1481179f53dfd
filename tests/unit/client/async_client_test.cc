#include "posenc/async.h"

#include <atomic>
#include <optional>
#include <thread>

#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/notification.h"
#include "posenc/client.h"
#include "posenc/mock_connection.h"
#include "posenc/near_cache.h"
#include "tests/integration/tables.h"
#include "tests/support/matchers.h"
#include "tests/unit/client/computing_service.h"
#include "tests/unit/client/thread_limit.h"

namespace posenc {
namespace {

using ::testing::_;
using ::testing::HasSubstr;

const Rope kSmall{.head_dim = 64, .max_len = 256};
const Rope kLarge{.head_dim = 64, .max_len = 16384};  // 4 MiB

void WaitUntilCancelled(grpc::ServerContext& context) {
  while (!context.IsCancelled()) std::this_thread::yield();
}

class AsyncClientTest : public ::testing::Test {
 protected:
  AsyncClientTest() { Use(MakeConnection(service_.target())); }
  void Use(std::shared_ptr<Connection> connection, AsyncOptions options = {}) {
    client_.emplace(std::move(connection), options);
  }

  // Lets no call of the service end but by its cancellation; counts those that did.
  void HoldCalls() {
    service_.on_call = [this](int, grpc::ServerContext& context) {
      held_.Notify();
      WaitUntilCancelled(context);
      cancelled_.Notify();
      return grpc::Status::CANCELLED;
    };
  }

  void ExpectSame(const absl::StatusOr<Table>& got, const absl::StatusOr<Table>& expected) {
    ASSERT_OK(got);
    ASSERT_OK(expected);
    EXPECT_TRUE(ContentOf(*got) == ContentOf(*expected));
  }

  absl::Notification held_, cancelled_;
  ComputingService service_;
  std::optional<AsyncClient> client_;
  Client local_{MakeLocalConnection()};
};

TEST_F(AsyncClientTest, FewerThreadsDoTheWorkWhereThereAreNoMore) {
  {
    const ThreadLimit limit(1);
    Use(MakeLocalConnection(), {.threads = 3});
  }
  ExpectSame(client_->Get(kSmall).get(), local_.Get(kSmall));
}

TEST_F(AsyncClientTest, FuturesHaveThePlainAnswers) {
  for (const auto& connection : {MakeConnection(service_.target()), MakeLocalConnection()}) {
    Use(connection);
    auto small = client_->Get(kSmall);
    auto large = client_->Get(kLarge);
    auto slice = client_->Slice(kSmall, {.rows = Range{3, 9}, .columns = Range{0, 4}});
    auto rows = client_->Gather(kSmall, {7, -2, 7});
    auto model = client_->ResolveModel({.config_json = "no json"});
    ExpectSame(small.get(), local_.Get(kSmall));
    ExpectSame(large.get(), local_.Get(kLarge));
    ExpectSame(slice.get(), local_.Slice(kSmall, {.rows = Range{3, 9}, .columns = Range{0, 4}}));
    ExpectSame(rows.get(), local_.Gather(kSmall, {7, -2, 7}));
    EXPECT_FALSE(model.get().ok());
  }
  EXPECT_EQ(client_->Describe(kSmall).get()->key, local_.Describe(kSmall)->key);
}

TEST_F(AsyncClientTest, ReadsIntoTheCallersMemory) {
  std::vector<float> cos(16384 * 32), sin(16384 * 32);
  ASSERT_OK(client_->ReadInto(kLarge, {}, {std::as_writable_bytes(std::span(cos)),
                                           std::as_writable_bytes(std::span(sin))}).get());
  EXPECT_TRUE(std::ranges::equal(sin, local_.Get(kLarge)->tensor<float>("sin")));
}

TEST_F(AsyncClientTest, CallbacksRunOnceAndNeverInsideOfTheCall) {
  for (const TableRequest& table : {TableRequest(kSmall), TableRequest(kLarge)}) {
    const auto caller = std::this_thread::get_id();
    absl::Notification done;
    client_->Get(table, [&](absl::StatusOr<Table> got) {
      EXPECT_NE(std::this_thread::get_id(), caller);
      ExpectSame(got, local_.Get(table));
      done.Notify();
    });
    done.WaitForNotification();
  }
}

TEST_F(AsyncClientTest, SmallSlicesNeedNoThread) {
  constexpr int kCalls = 64;
  std::atomic<int> at_once = 0;
  service_.on_call = [&](int, grpc::ServerContext&) {
    // More at a time than this client has threads.
    ++at_once;
    while (at_once < 8) std::this_thread::yield();
    return grpc::Status::OK;
  };
  Use(MakeConnection(service_.target()), {.threads = 1});
  absl::BlockingCounter left(kCalls);
  for (int64_t row = 0; row < kCalls; ++row) {
    client_->Slice(kSmall, {.rows = Range{row, row + 1}}, [&, row](absl::StatusOr<Table> got) {
      ExpectSame(got, local_.Slice(kSmall, {.rows = Range{row, row + 1}}));
      left.DecrementCount();
    });
  }
  left.Wait();
}

TEST_F(AsyncClientTest, CallbackMayBeginTheNextCall) {
  absl::Notification done;
  std::function<void(int64_t)> ask = [&](int64_t row) {
    if (row == 20) return done.Notify();
    client_->Slice(kSmall, {.rows = Range{row, row + 1}}, [&, row](absl::StatusOr<Table> got) {
      EXPECT_OK(got);
      ask(row + 1);
    });
  };
  ask(0);
  done.WaitForNotification();
  EXPECT_EQ(service_.calls(), 20);
}

TEST_F(AsyncClientTest, ErrorsAreThePlainOnes) {
  EXPECT_THAT(client_->Get(Rope{.head_dim = 3}).get(), ViolatesField("spec.rope.head_dim"));
  EXPECT_THAT(client_->Slice(kSmall, {.rows = Range{0, 300}}).get(), ViolatesField("selection.rows.end"));
  EXPECT_THAT(client_->Gather(kSmall, {}).get(), ViolatesField("selection.positions"));
}

TEST_F(AsyncClientTest, RetriesWithoutAThread) {
  service_.on_call = [](int call, grpc::ServerContext&) {
    return call < 4 ? grpc::Status(grpc::StatusCode::UNAVAILABLE, "gone") : grpc::Status::OK;
  };
  Use(MakeConnection(service_.target(), {.retry = {.initial_delay = absl::Milliseconds(1)}}));
  ExpectSame(client_->Get(kSmall).get(), local_.Get(kSmall));
  EXPECT_EQ(service_.calls(), 4);
}

TEST_F(AsyncClientTest, GivesUpAsTheBlockingClientDoes) {
  service_.on_call = [](int, grpc::ServerContext&) {
    return grpc::Status(grpc::StatusCode::UNAVAILABLE, "gone");
  };
  Use(MakeConnection(service_.target(), {.retry = {.max_attempts = 3, .initial_delay = absl::ZeroDuration()}}));
  EXPECT_THAT(client_->Get(kSmall).get(),
              StatusIs(absl::StatusCode::kUnavailable,
                       ::testing::AllOf(HasSubstr(service_.target() + ": gone"), HasSubstr("3 attempts"))));
}

TEST_F(AsyncClientTest, StreamsWhereTheServerAllowsNoMessageOfThatSize) {
  service_.on_call = [](int call, grpc::ServerContext&) {
    return call <= 2 ? grpc::Status(grpc::StatusCode::FAILED_PRECONDITION, "use StreamSlice") : grpc::Status::OK;
  };
  ExpectSame(client_->Get(kSmall).get(), local_.Get(kSmall));
}

TEST_F(AsyncClientTest, CancelStopsTheCallAtTheServer) {
  for (const TableRequest& table : {TableRequest(kSmall), TableRequest(kLarge)}) {
    absl::Notification held, over, done;
    service_.on_call = [&](int, grpc::ServerContext& context) {
      held.Notify();
      WaitUntilCancelled(context);
      over.Notify();
      return grpc::Status::CANCELLED;
    };
    AsyncCall call = client_->Get(table, [&](absl::StatusOr<Table> got) {
      EXPECT_THAT(got, StatusIs(absl::StatusCode::kCancelled, "stopped by the caller"));
      done.Notify();
    });
    held.WaitForNotification();
    call.Cancel();
    done.WaitForNotification();
    over.WaitForNotification();
    call.Cancel();
  }
}

TEST_F(AsyncClientTest, StopTokenCancelsAFuture) {
  HoldCalls();
  std::stop_source stop;
  auto future = client_->Get(kSmall, {.stop = stop.get_token()});
  held_.WaitForNotification();
  stop.request_stop();
  EXPECT_THAT(future.get(), StatusIs(absl::StatusCode::kCancelled, _));
  cancelled_.WaitForNotification();
}

TEST_F(AsyncClientTest, CancelEndsAWaitForTheNextAttempt) {
  absl::Notification failed;
  service_.on_call = [&](int, grpc::ServerContext&) {
    if (!failed.HasBeenNotified()) failed.Notify();
    return grpc::Status(grpc::StatusCode::UNAVAILABLE, "gone");
  };
  const RetryOptions patient{.max_attempts = 100, .initial_delay = absl::Minutes(10), .max_delay = absl::Minutes(20)};
  Use(MakeConnection(service_.target(), {.timeout = absl::Hours(9), .retry = patient}));
  for (const TableRequest& table : {TableRequest(kSmall), TableRequest(kLarge)}) {
    std::stop_source stop;
    auto future = client_->Get(table, {.stop = stop.get_token()});
    failed.WaitForNotification();
    stop.request_stop();
    EXPECT_THAT(future.get(), StatusIs(absl::StatusCode::kCancelled, _));
  }
}

TEST_F(AsyncClientTest, TimeoutCountsTheWaitForAThread) {
  const auto connection = std::make_shared<MockConnection>();
  absl::Notification release, begun;
  EXPECT_CALL(*connection, Fetch).WillOnce([&](const FetchParams&) {
    begun.Notify();
    release.WaitForNotification();
    return local_.Get(kSmall);
  });
  Use(connection, {.threads = 1});
  auto first = client_->Get(kSmall);
  begun.WaitForNotification();
  auto second = client_->Get(kSmall, {.timeout = absl::ZeroDuration()});
  release.Notify();
  EXPECT_OK(first.get());
  EXPECT_THAT(second.get(), StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("thread")));
}

TEST_F(AsyncClientTest, DeadlineEndsACallThatHangs) {
  HoldCalls();
  EXPECT_THAT(client_->Get(kSmall, {.timeout = absl::Milliseconds(50)}).get(),
              StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr(service_.target())));
}

TEST_F(AsyncClientTest, DestructorCancelsAndNoCallbackRunsAfterwards) {
  service_.on_call = [](int, grpc::ServerContext& context) {
    WaitUntilCancelled(context);
    return grpc::Status::CANCELLED;
  };
  std::atomic<int> callbacks = 0;
  std::vector<AsyncClient::Future<Table>> futures;
  for (int i = 0; i < 10; ++i) {
    const TableRequest table = i % 2 == 0 ? kSmall : kLarge;
    client_->Get(table, [&](const absl::StatusOr<Table>& got) {
      EXPECT_THAT(got, StatusIs(absl::StatusCode::kCancelled, _));
      ++callbacks;
    });
    futures.push_back(client_->Get(table));
  }
  client_.reset();
  EXPECT_EQ(callbacks, 10);
  for (auto& future : futures) EXPECT_THAT(future.get(), StatusIs(absl::StatusCode::kCancelled, _));
}

TEST_F(AsyncClientTest, CallsThatCallbacksBeginDuringDestructionAreCancelled) {
  HoldCalls();
  std::atomic<bool> second = false;
  client_->Get(kSmall, [&](const absl::StatusOr<Table>&) {
    client_->Get(kLarge, [&](const absl::StatusOr<Table>& got) {
      EXPECT_THAT(got, StatusIs(absl::StatusCode::kCancelled, _));
      second = true;
    });
  });
  held_.WaitForNotification();
  client_.reset();
  EXPECT_TRUE(second);
}

TEST_F(AsyncClientTest, NearCachesAnswerIsThereAtOnce) {
  const auto cache = MakeCachingConnection(MakeConnection(service_.target()));
  Use(cache);
  ExpectSame(client_->Get(kSmall).get(), local_.Get(kSmall));
  auto again = client_->Get(kSmall);
  EXPECT_EQ(again.wait_for(std::chrono::seconds(0)), std::future_status::ready);
  absl::Notification done;
  client_->Slice(kSmall, {.rows = Range{2, 3}}, [&](absl::StatusOr<Table> got) {
    ExpectSame(got, local_.Slice(kSmall, {.rows = Range{2, 3}}));
    done.Notify();
  });
  done.WaitForNotification();
  EXPECT_EQ(service_.calls(), 1);
}

TEST_F(AsyncClientTest, ManyThreadsShareOneClient) {
  std::atomic<int> good = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int call = 0; call < 50; ++call) {
          AsyncCall begun = client_->Get(kSmall, [&](const absl::StatusOr<Table>& got) {
            if (got.ok() || absl::IsCancelled(got.status())) ++good;
          });
          if (call % 3 == 0) begun.Cancel();
        }
      });
    }
  }
  client_.reset();
  EXPECT_EQ(good, 200);
}

}  // namespace
}  // namespace posenc
