// Servers that freeze, cancel, go away and come back.
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "tests/unit/client/remote_fixture.h"

namespace posenc {
namespace {

using ::testing::_;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr int kRows = FaultyService::kRows;

TEST_F(RemoteConnectionTest, CancelThatNobodyAskedForIsRetried) {
  service_.on_call = [](int call) {
    return call % 2 == 1 ? grpc::Status(grpc::StatusCode::CANCELLED, "drain") : grpc::Status::OK;
  };
  EXPECT_OK(client_->Get(small_));
  ASSERT_OK(Read());
  ExpectAllRows();
  EXPECT_EQ(service_.calls(), 4);
  service_.on_call = [](int) { return grpc::Status(grpc::StatusCode::CANCELLED, "drain"); };
  EXPECT_THAT(client_->Get(small_), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("drain")));
}

TEST_F(RemoteConnectionTest, StreamCancelledBehindItsFirstRowsGoesOn) {
  service_.on_chunk = [](int call, v1::StreamSliceResponse& chunk) {
    return call == 1 && chunk.first_row() == 4 ? grpc::Status(grpc::StatusCode::CANCELLED, "") : grpc::Status::OK;
  };
  ASSERT_OK(Read());
  ExpectAllRows();
  EXPECT_THAT(service_.skips(), ElementsAre(0, 4));
}

// A service that freezes within its streams, until the test is over.
class FrozenStreamTest : public RemoteConnectionTest {
 protected:
  FrozenStreamTest() { Connect({.stall_timeout = absl::Seconds(1)}); }
  ~FrozenStreamTest() override { test_is_over_.Notify(); }

  // Freezes in the first `calls` streams, before the chunk of that row.
  void FreezeAt(int64_t row, int calls) {
    service_.on_chunk = [this, row, calls](int call, v1::StreamSliceResponse& chunk) {
      if (call <= calls && chunk.first_row() == row) test_is_over_.WaitForNotification();
      return grpc::Status::OK;
    };
  }

  absl::Notification test_is_over_;
};

TEST_F(FrozenStreamTest, GoesOnOverAnotherConnection) {
  FreezeAt(4, 1);
  ASSERT_OK(Read());
  ExpectAllRows();
  EXPECT_THAT(service_.skips(), ElementsAre(0, 4));
  ASSERT_THAT(service_.peers(), SizeIs(2));
  EXPECT_NE(service_.peers()[0], service_.peers()[1]);
}

TEST_F(FrozenStreamTest, CallersFunctionGetsTheOtherRows) {
  FreezeAt(4, 1);
  std::vector<int64_t> rows;
  ASSERT_OK(client_->Stream(small_, {}, [&](const Chunk& chunk) {
    rows.push_back(chunk.first_row);
    return absl::OkStatus();
  }));
  EXPECT_THAT(rows, ElementsAre(0, 2, 4, 6, 8));
}

TEST_F(FrozenStreamTest, IsAnErrorWhereNothingComesElsewhereEither) {
  FreezeAt(4, 100);
  EXPECT_THAT(Read(), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("brought nothing for 1s")));
  EXPECT_THAT(service_.skips(), ElementsAre(0, 4));
}

TEST_F(FrozenStreamTest, CallerWhoTakesLongerIsNoStandstill) {
  ASSERT_OK(client_->Stream(small_, {}, [&](const Chunk& chunk) {
    // Longer than a stream may stand still.
    if (chunk.first_row == 0) test_is_over_.WaitForNotificationWithTimeout(absl::Milliseconds(1500));
    return absl::OkStatus();
  }));
  EXPECT_THAT(service_.skips(), ElementsAre(0));
}

TEST(RemoteConnectionRestartTest, FindsARestartedServer) {
  std::optional<FaultyService> service(std::in_place);
  const int port = service->port();
  // The server comes back while the client waits to retry.
  const auto restart = [&](absl::Duration) {
    if (!service) service.emplace(port);
  };
  Client client(std::make_shared<RemoteConnection>(
      service->target(), ConnectionOptions(),
      RetryEnvironment{.now = absl::Now, .sleep = restart, .random = [] { return 0.5; }}));
  const Sinusoidal small{.d_model = 2, .max_len = kRows};
  EXPECT_OK(client.Get(small));
  service.reset();
  EXPECT_OK(client.Get(small, {.timeout = absl::Seconds(10)}));
}

// Its port refuses while it is away.
TEST(RemoteConnectionRestartTest, ServerThatHasAnsweredIsWaitedForAndNoOther) {
  std::optional<FaultyService> service(std::in_place);
  const int port = service->port();
  const std::string target = service->target();
  std::jthread restart;
  const auto restarting = [&](absl::Duration) {
    if (!restart.joinable()) restart = std::jthread([&] { service.emplace(port); });
  };
  const ConnectionOptions options{.timeout = absl::Hours(1), .retry = {.max_attempts = 3},
                                  .wait_for_ready = false, .wait_for_return = true};
  const auto connect = [&](std::function<void(absl::Duration)> sleep) {
    return Client(std::make_shared<RemoteConnection>(
        target, options, RetryEnvironment{.now = absl::Now, .sleep = std::move(sleep), .random = [] { return 0.5; }}));
  };
  Client client = connect(restarting);
  const Sinusoidal small{.d_model = 2, .max_len = kRows};
  EXPECT_OK(client.Get(small));
  service.reset();
  Client other = connect([](absl::Duration) {});
  EXPECT_THAT(other.Get(small), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("3 attempts")));
  EXPECT_OK(client.Get(small));
}

TEST(RemoteConnectionRestartTest, ProbeOfAPortThatRefusesEndsAtOnce) {
  std::optional<FaultyService> service(std::in_place);
  const std::string target = service->target();
  service.reset();
  // Else it would take the hour.
  EXPECT_THAT(MakeConnection(target)->Probe(absl::Hours(1)), StatusIs(absl::StatusCode::kUnavailable, _));
}

}  // namespace
}  // namespace posenc
