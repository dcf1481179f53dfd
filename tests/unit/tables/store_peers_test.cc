// Memory between peers: whose turn it is, what counts, who is told, and what a cancelled Open leaves.

#include <future>

#include "tests/unit/tables/store_fixture.h"

namespace posenc {
namespace {

class StorePeersTest : public StoreFixture {
 protected:
  BlocksCall FetchFor(const char* peer, const TablePtr& table, int64_t first, int64_t last) {
    BlocksCall call;
    call.ticket = store_->Fetch(PeerId(peer), table, first, last, absl::InfiniteFuture(), call.Callback());
    return call;
  }
  BufferCall AllocateFor(const char* peer, size_t blocks) {
    BufferCall call;
    call.ticket = store_->Allocate(PeerId(peer), blocks * kBlock, absl::InfiniteFuture(), call.Callback());
    return call;
  }
};

TEST_F(StorePeersTest, WhoeverHoldsNothingGoesBeforeWhoHoldsMuch) {
  UseBudget(4, 1);
  const TablePtr table = Open(16);
  auto greedy = FetchFor("greedy", table, 0, 2).Take();
  auto one = FetchFor("other", table, 3, 3).Take();
  const BlocksCall more = FetchFor("greedy", table, 4, 4);
  const BlocksCall honest = FetchFor("honest", table, 5, 5);
  one.clear();
  EXPECT_OK(honest.Status());
  EXPECT_FALSE(more.done());
}

TEST_F(StorePeersTest, PeersTakeTurns) {
  UseBudget(1, 0);
  BufferPtr all = AllocateFor("first", 1).Take();
  const BufferCall a1 = AllocateFor("a", 1);
  const BufferCall a2 = AllocateFor("a", 1);
  const BufferCall a3 = AllocateFor("a", 1);
  const BufferCall b1 = AllocateFor("b", 1);
  all.reset();
  BufferPtr held = a1.Take();
  held.reset();
  held = b1.Take();
  EXPECT_FALSE(a2.done());
  held.reset();
  held = a2.Take();
  EXPECT_FALSE(a3.done());
}

TEST_F(StorePeersTest, ASmallRequestPassesALargeOneOfAnotherPeer) {
  UseBudget(4, 0);
  BufferPtr most = AllocateFor("first", 3).Take();
  const BufferCall large = AllocateFor("large", 4);
  EXPECT_TRUE(AllocateFor("small", 1).done());
  EXPECT_FALSE(large.done());
  most.reset();
  EXPECT_OK(large.Status());
}

TEST_F(StorePeersTest, WhatWasLetGoCountsNoLonger) {
  UseBudget(4, 1);
  const TablePtr table = Open(16);
  FetchFor("a", table, 0, 3).Take();
  const BufferPtr all = AllocateFor("first", 3).Take();
  auto rest = FetchFor("b", table, 4, 4).Take();
  const BlocksCall holds_one = FetchFor("b", table, 5, 5);
  const BlocksCall holds_none = FetchFor("a", table, 6, 6);
  rest.clear();
  EXPECT_OK(holds_none.Status());
}

TEST_F(StorePeersTest, ObserversAreToldWhileSomebodyWaits) {
  UseBudget(2, 0);
  BufferPtr all = AllocateFor("a", 2).Take();
  std::promise<size_t> told;
  std::atomic<int> times{0};
  auto handle = store_->WhileSomebodyWaits([&](size_t waiting_bytes) {
    if (++times == 2) told.set_value(waiting_bytes);
  });
  const BufferCall waiting = AllocateFor("b", 1);
  EXPECT_EQ(told.get_future().get(), kBlock);
  handle = nullptr;
  const int before = times;
  all.reset();
  EXPECT_OK(waiting.Status());
  EXPECT_EQ(times, before);
}

TEST_F(StorePeersTest, ACancelledOpenMakesNoGenerator) {
  UseBudget(4, 3, 1);
  const TablePtr table = Open(1);
  workshop_->Pause();
  const BlocksCall running = Fetch(table, 0, 0);
  workshop_->AwaitPaused(1);
  Answer<TablePtr> answer;
  const auto ticket = store_->Open(PeerId("a"), SpecOf(1, 500), answer.Callback());
  ticket->Cancel();
  workshop_->Resume();
  EXPECT_THAT(answer.Status(), StatusIs(absl::StatusCode::kCancelled, ::testing::HasSubstr("cancelled")));
  EXPECT_OK(running.Status());
  store_->Shutdown();
  EXPECT_EQ(workshop_->generators_made(), 1);
}

TEST_F(StorePeersTest, AnOpenThatAnotherWaitsForGoesOn) {
  UseBudget(4, 3, 1);
  const TablePtr table = Open(1);
  workshop_->Pause();
  const BlocksCall running = Fetch(table, 0, 0);
  workshop_->AwaitPaused(1);
  Answer<TablePtr> gone, stays;
  const auto ticket = store_->Open(PeerId("a"), SpecOf(1, 500), gone.Callback());
  store_->Open(PeerId("b"), SpecOf(1, 500), stays.Callback());
  ticket->Cancel();
  workshop_->Resume();
  EXPECT_FALSE(gone.Status().ok());
  EXPECT_OK(stays.Status());
  EXPECT_EQ(workshop_->generators_made(), 2);
}

}  // namespace
}  // namespace posenc
