#include "server/rpc/slices/waiting_plans.h"

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace posenc {
namespace {

TEST(WaitingPlansTest, APeerHasItsBound) {
  WaitingPlans plans;
  const auto first = plans.Enter(PeerId("a"), WaitingPlans::kMaxBytesOfPeer - 8);
  EXPECT_TRUE(first);
  EXPECT_FALSE(plans.Enter(PeerId("a"), 16));
  EXPECT_TRUE(plans.Enter(PeerId("a"), 8));
  EXPECT_TRUE(plans.Enter(PeerId("b"), 16));
}

TEST(WaitingPlansTest, AllTogetherHaveTheirsButEachMayWaitWithOne) {
  WaitingPlans plans;
  std::vector<WaitingPlans::Place> places;
  for (size_t bytes = 0; bytes < WaitingPlans::kMaxBytes; bytes += WaitingPlans::kMaxBytesOfPeer / 2) {
    places.push_back(plans.Enter(PeerId(std::to_string(bytes)), WaitingPlans::kMaxBytesOfPeer / 2));
  }
  const auto late = plans.Enter(PeerId("late"), 1024);
  EXPECT_TRUE(late);
  EXPECT_FALSE(plans.Enter(PeerId("late"), 1024));
  places.clear();
  EXPECT_TRUE(plans.Enter(PeerId("late"), 1024));
}

TEST(WaitingPlansTest, APlaceThatIsLeftIsFree) {
  WaitingPlans plans;
  auto place = plans.Enter(PeerId("a"), WaitingPlans::kMaxBytesOfPeer);
  WaitingPlans::Place moved = std::move(place);
  EXPECT_FALSE(plans.Enter(PeerId("a"), 1));
  moved = WaitingPlans::Place();
  EXPECT_TRUE(plans.Enter(PeerId("a"), 1));
}

}  // namespace
}  // namespace posenc
