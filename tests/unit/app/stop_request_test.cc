#include "server/app/lifecycle/stop_request.h"

#include <memory>
#include <thread>

#include "gmock/gmock.h"

namespace posenc {
namespace {

TEST(StopRequestTest, WakesWhoWaitsAndKeepsTheFirstReason) {
  StopRequest stop;
  std::thread waiter([&] { stop.Wait(); });
  EXPECT_FALSE(stop.requested());
  stop.Request("first");
  stop.Request("second");
  waiter.join();
  EXPECT_EQ(stop.reason(), "first");
}

TEST(StopRequestTest, RunsHooksOnceAndNotThoseThatAreGone) {
  StopRequest stop;
  int runs = 0;
  auto gone = std::make_unique<StopHook>(stop, [&] { runs += 100; });
  const StopHook hook(stop, [&] { ++runs; });
  gone.reset();
  stop.Request("now");
  stop.Request("again");
  EXPECT_EQ(runs, 1);
}

TEST(StopRequestTest, LateHookRunsAtOnce) {
  StopRequest stop;
  stop.Request("now");
  bool ran = false;
  const StopHook hook(stop, [&] { ran = true; });
  EXPECT_TRUE(ran);
}

}  // namespace
}  // namespace posenc
