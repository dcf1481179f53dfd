#include "client/remote/retry.h"

#include <vector>

#include "tests/support/matchers.h"

namespace posenc {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Time stands still but for the sleeps; chance is half of the range unless told.
class RetryLoopTest : public ::testing::Test {
 protected:
  RetryLoop Loop(absl::Duration deadline = absl::Hours(1)) {
    return RetryLoop(options_, environment_, budget_, now_ + deadline);
  }

  // Fails with `status` until the loop gives up; returns the attempts.
  int FailAlways(const absl::Status& status, absl::Duration deadline = absl::Hours(1)) {
    RetryLoop loop = Loop(deadline);
    while (loop.WaitToRetry(status)) {
    }
    return loop.attempts();
  }

  absl::Time now_ = absl::UnixEpoch();
  std::vector<absl::Duration> sleeps_;
  double random_ = 0.5;
  RetryOptions options_;
  RetryBudget budget_{20};
  RetryEnvironment environment_{.now = [this] { return now_; },
                                .sleep =
                                    [this](absl::Duration time) {
                                      sleeps_.push_back(time);
                                      now_ += time;
                                    },
                                .random = [this] { return random_; }};
};

TEST_F(RetryLoopTest, DelaysDoubleUpToTheHighest) {
  options_ = {.max_attempts = 5, .initial_delay = absl::Seconds(1), .max_delay = absl::Seconds(3)};
  EXPECT_EQ(FailAlways(absl::UnavailableError("down")), 5);
  EXPECT_THAT(sleeps_, ElementsAre(absl::Seconds(0.5), absl::Seconds(1), absl::Seconds(1.5),
                                   absl::Seconds(1.5)));
}

TEST_F(RetryLoopTest, JitterIsFull) {
  options_ = {.max_attempts = 2, .initial_delay = absl::Seconds(1)};
  random_ = 0;
  FailAlways(absl::UnavailableError("down"));
  EXPECT_THAT(sleeps_, ElementsAre(absl::ZeroDuration()));
}

TEST_F(RetryLoopTest, PermanentErrorsAreNotRetried) {
  for (const auto code : {absl::StatusCode::kInvalidArgument, absl::StatusCode::kDeadlineExceeded,
                          absl::StatusCode::kInternal, absl::StatusCode::kResourceExhausted,
                          absl::StatusCode::kAborted, absl::StatusCode::kUnimplemented}) {
    EXPECT_EQ(FailAlways(absl::Status(code, "no")), 1) << absl::StatusCodeToString(code);
  }
  EXPECT_THAT(sleeps_, IsEmpty());
}

TEST_F(RetryLoopTest, ConnectionLostInAStreamIsRetried) {
  EXPECT_GT(FailAlways(absl::InternalError("Received RST_STREAM with error code 2")), 1);
}

TEST_F(RetryLoopTest, NothingFollowsOnceItGaveUp) {
  RetryLoop loop = Loop();
  EXPECT_TRUE(loop.WaitToRetry(absl::UnavailableError("down")));
  loop.GiveUp();
  EXPECT_FALSE(loop.WaitToRetry(absl::UnavailableError("down")));
}

TEST(UnaskedCancelTest, IsTheServersUnlessTheCallerStopped) {
  std::stop_source stop;
  EXPECT_THAT(UnaskedCancelAsUnavailable(absl::CancelledError("drain"), stop.get_token()),
              StatusIs(absl::StatusCode::kUnavailable, ::testing::HasSubstr("drain")));
  EXPECT_THAT(UnaskedCancelAsUnavailable(absl::NotFoundError("no"), {}), StatusIs(absl::StatusCode::kNotFound, "no"));
  EXPECT_OK(UnaskedCancelAsUnavailable(absl::OkStatus(), {}));
  stop.request_stop();
  EXPECT_THAT(UnaskedCancelAsUnavailable(absl::CancelledError("mine"), stop.get_token()),
              StatusIs(absl::StatusCode::kCancelled, "mine"));
}

TEST_F(RetryLoopTest, NeverSleepsPastTheDeadline) {
  options_ = {.max_attempts = 9, .initial_delay = absl::Seconds(2), .max_delay = absl::Seconds(2)};
  EXPECT_EQ(FailAlways(absl::UnavailableError("down"), absl::Seconds(2.5)), 3);
  EXPECT_THAT(sleeps_, ElementsAre(absl::Seconds(1), absl::Seconds(1)));
}

TEST_F(RetryLoopTest, ProgressBeginsTheCountAnew) {
  options_ = {.max_attempts = 2, .initial_delay = absl::Seconds(1)};
  RetryLoop loop = Loop();
  EXPECT_TRUE(loop.WaitToRetry(absl::UnavailableError("down")));
  loop.Progressed();
  EXPECT_TRUE(loop.WaitToRetry(absl::UnavailableError("down")));
  EXPECT_FALSE(loop.WaitToRetry(absl::UnavailableError("down")));
  EXPECT_THAT(sleeps_, ElementsAre(absl::Seconds(0.5), absl::Seconds(0.5)));
}

TEST(RetryBudgetTest, TenSuccessesPayOneRetry) {
  RetryBudget budget(1);
  EXPECT_TRUE(budget.TakeForRetry());
  for (int i = 0; i < 9; ++i) budget.GiveForSuccess();
  EXPECT_FALSE(budget.TakeForRetry());
  for (int i = 0; i < 2; ++i) budget.GiveForSuccess();
  EXPECT_TRUE(budget.TakeForRetry());
  EXPECT_FALSE(budget.TakeForRetry());
}

TEST_F(RetryLoopTest, EmptyBudgetEndsRetries) {
  RetryBudget empty(0);
  RetryLoop loop(options_, environment_, empty, now_ + absl::Hours(1));
  EXPECT_FALSE(loop.WaitToRetry(absl::UnavailableError("down")));
}

}  // namespace
}  // namespace posenc
