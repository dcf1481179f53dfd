// Blocks that are generated before anybody asks for them: within bounds, behind all other work, held by nobody.

#include "tests/unit/tables/store_fixture.h"

namespace posenc {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::SizeIs;

class StoreAheadTest : public StoreFixture {
 protected:
  void GenerateAhead(const TablePtr& table, int64_t first, int64_t last) {
    store_->GenerateAhead(table, first, last);
  }
};

TEST_F(StoreAheadTest, BlocksAreGeneratedAndHeldByNobody) {
  UseBudget(32, 2);
  const TablePtr table = Open(8);
  GenerateAhead(table, 2, 4);
  EXPECT_THAT(Held(table, 2, 4), SizeIs(3));
  EXPECT_EQ(stats().generated_blocks, 3u);
  EXPECT_THAT(Resident(table), ElementsAre(2, 3, 4));
  store_->EvictAll();
  EXPECT_EQ(stats().orphaned_bytes, 0u);
}

TEST_F(StoreAheadTest, BlocksBehindTheTableAreIgnored) {
  UseBudget(32, 2);
  const TablePtr table = Open(2);
  GenerateAhead(table, 1, 9);
  GenerateAhead(table, 2, 9);
  Load(table, 1, 1);
  EXPECT_EQ(stats().generated_blocks, 1u);
}

TEST_F(StoreAheadTest, NothingIsGeneratedTwice) {
  UseBudget(32, 2);
  const TablePtr table = Open(4);
  Load(table, 0, 0);
  workshop_->Pause();
  for (int i = 0; i < 3; ++i) GenerateAhead(table, 0, 3);
  const BlocksCall call = Fetch(table, 0, 3);
  workshop_->Resume();
  EXPECT_OK(call.Status());
  for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(Generated(table, i), 1) << i;
}

TEST_F(StoreAheadTest, TheFirstWhoAsksHasTheMiss) {
  UseBudget(32, 2, 1);
  const TablePtr table = Open(4);
  GenerateAhead(table, 0, 1);
  EXPECT_EQ(stats().misses, 0u);
  Load(table, 1, 1);
  EXPECT_EQ(stats().misses, 1u);
  Load(table, 0, 1);
  EXPECT_EQ(stats().misses, 2u);
  EXPECT_EQ(stats().hits, 1u);
}

TEST_F(StoreAheadTest, TakesNoMoreThanAQuarterOfWhatIsAvailable) {
  UseBudget(16, 2);
  const TablePtr table = Open(16);
  workshop_->Pause();
  GenerateAhead(table, 0, 15);
  EXPECT_EQ(stats().building_bytes, 4 * kBlock);
  GenerateAhead(table, 8, 15);
  EXPECT_EQ(stats().building_bytes, 4 * kBlock);
}

TEST_F(StoreAheadTest, GoesOnWhenTheBlocksWereAskedFor) {
  UseBudget(16, 2);
  const TablePtr table = Open(16);
  for (int64_t i = 0; i < 16; ++i) {
    Load(table, i, i);
    GenerateAhead(table, i + 1, i + 2);
  }
  EXPECT_EQ(stats().generated_blocks, 16u);
  EXPECT_LE(stats().peak_bytes, budget_bytes_);
}

TEST_F(StoreAheadTest, EvictsOthersWithinItsShare) {
  UseBudget(16, 2);
  const TablePtr old = Open(16);
  Load(old, 0, 15);
  const TablePtr table = Open(16, 500);
  GenerateAhead(table, 0, 1);
  Load(table, 0, 1);
  EXPECT_EQ(stats().generated_blocks, 18u);
  EXPECT_LE(stats().peak_bytes, budget_bytes_);
}

TEST_F(StoreAheadTest, HeldBlocksAreNotPushedOut) {
  UseBudget(4, 1);
  const TablePtr table = Open(8);
  const auto held = Held(table, 0, 3);
  GenerateAhead(table, 4, 7);
  EXPECT_EQ(stats().building_bytes, 0u);
  for (const BlockPtr& block : held) EXPECT_TRUE(IsIntact(table, *block));
}

TEST_F(StoreAheadTest, NothingIsTakenFromThoseInLine) {
  UseBudget(16, 1);
  const TablePtr table = Open(24);
  auto held = Held(table, 0, 8);
  const BlocksCall waiting = Fetch(table, 10, 18);
  EXPECT_EQ(stats().waiting_requests, 1);
  GenerateAhead(table, 20, 20);
  EXPECT_EQ(stats().building_bytes, 0u);
  held.clear();
  EXPECT_OK(waiting.Status());
}

TEST_F(StoreAheadTest, WhatIsWaitedForGoesFirst) {
  UseBudget(32, 3, 1);
  const TablePtr table = Open(8), other = Open(1, 500);
  workshop_->Pause();
  const BlocksCall first = Fetch(table, 7, 7);
  workshop_->AwaitPaused(1);
  GenerateAhead(table, 0, 3);
  const BlocksCall wanted = Fetch(other, 0, 0), joined = Fetch(table, 3, 3);
  workshop_->Resume();
  EXPECT_OK(wanted.Status());
  EXPECT_OK(joined.Status());
  Load(table, 0, 3);
  const double mine = BaseOf(table);
  EXPECT_THAT(workshop_->order(),
              ElementsAre(Pair(mine, 7 * kRowsPerBlock), Pair(500.0, 0), Pair(mine, 3 * kRowsPerBlock),
                          Pair(mine, 0), Pair(mine, kRowsPerBlock), Pair(mine, 2 * kRowsPerBlock)));
}

TEST_F(StoreAheadTest, AnAskerWhoLeavesTakesTheBuildWithHim) {
  UseBudget(32, 2, 1);
  const TablePtr table = Open(8);
  workshop_->Pause();
  const BlocksCall first = Fetch(table, 7, 7);
  workshop_->AwaitPaused(1);
  GenerateAhead(table, 0, 0);
  BlocksCall joined = Fetch(table, 0, 0);
  joined.Cancel();
  workshop_->Resume();
  EXPECT_OK(first.Status());
  EXPECT_EQ(joined.Status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(stats().building_bytes, 0u);
  EXPECT_EQ(Generated(table, 0), 0);
}

TEST_F(StoreAheadTest, ShutdownDoesNotWaitForThem) {
  UseBudget(32, 2, 1);
  const TablePtr table = Open(8);
  workshop_->Pause();
  const BlocksCall first = Fetch(table, 7, 7);
  workshop_->AwaitPaused(1);
  GenerateAhead(table, 0, 3);
  std::jthread closing([&] { store_->Shutdown(); });
  while (stats().building_bytes > kBlock) std::this_thread::yield();
  workshop_->Resume();
  closing.join();
  EXPECT_EQ(first.Status().code(), absl::StatusCode::kCancelled);
  for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(Generated(table, i), 0) << i;
  GenerateAhead(table, 0, 3);
  EXPECT_EQ(stats().building_bytes, 0u);
}

}  // namespace
}  // namespace posenc
