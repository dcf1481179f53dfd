// Deadlines when somebody sets the wall clock. The whole machine's clock is not ours to set, so this program
// has a clock_gettime of its own, which every library in it uses: the kernel's, with the wall clock moved.

#include "server/tables/threads/steady_clock.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "server/tables/threads/alarm.h"

namespace {
std::atomic<int64_t> wall_offset_seconds{0};
}  // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const long result = syscall(SYS_clock_gettime, clock, time);
  if (result == 0 && clock == CLOCK_REALTIME) time->tv_sec += wall_offset_seconds;
  return static_cast<int>(result);
}

namespace posenc {
namespace {

constexpr absl::Duration kSoon = absl::Milliseconds(5);

class SteadyClockTest : public testing::Test {
 protected:
  SteadyClockTest() { SteadyNow(); }
  ~SteadyClockTest() override { wall_offset_seconds = 0; }

  static void StepWallClock(absl::Duration step) { wall_offset_seconds += absl::ToInt64Seconds(step); }
};

TEST_F(SteadyClockTest, NoStepOfTheWallClockMovesIt) {
  for (const absl::Duration step : {absl::Hours(24), -absl::Hours(48)}) {
    const absl::Time steady = SteadyNow();
    const absl::Time wall = absl::Now();
    StepWallClock(step);
    EXPECT_GT(absl::AbsDuration(absl::Now() - wall), absl::Hours(23));
    EXPECT_LT(absl::AbsDuration(SteadyNow() - steady), absl::Hours(1));
  }
}

TEST_F(SteadyClockTest, WallTimesAreTranslatedByTheirDistance) {
  StepWallClock(absl::Hours(24));
  const absl::Duration left = ToSteady(absl::Now() + absl::Hours(3)) - SteadyNow();
  EXPECT_LT(absl::AbsDuration(left - absl::Hours(3)), absl::Minutes(1));
  EXPECT_EQ(ToSteady(absl::InfiniteFuture()), absl::InfiniteFuture());
}

TEST_F(SteadyClockTest, AlarmRingsInTimeAfterAStepBack) {
  absl::Notification rang;
  Alarm alarm([&] { rang.Notify(); });
  StepWallClock(-absl::Hours(24));
  alarm.WakeBy(SteadyNow() + kSoon);
  rang.WaitForNotification();
}

TEST_F(SteadyClockTest, AlarmDoesNotRingEarlyAfterAStepForward) {
  std::atomic<bool> rang_early = false;
  Alarm late([&] { rang_early = true; });
  late.WakeBy(SteadyNow() + absl::Hours(2));
  StepWallClock(absl::Hours(24));
  late.WakeBy(SteadyNow() + absl::Hours(1));  // makes it look at its clock
  absl::Notification rang;
  Alarm soon([&] { rang.Notify(); });
  soon.WakeBy(SteadyNow() + kSoon);
  rang.WaitForNotification();
  late.Shutdown();
  EXPECT_FALSE(rang_early);
}

}  // namespace
}  // namespace posenc
