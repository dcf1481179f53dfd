// The budget: who gets memory, who waits, who is refused, who is cancelled.

#include "tests/unit/tables/store_fixture.h"

namespace posenc {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class StoreAdmissionTest : public StoreFixture {
 protected:
  static auto IsExhausted(const char* what) {
    return StatusIs(absl::StatusCode::kResourceExhausted,
                    AllOf(HasSubstr(what), HasSubstr("--cache-bytes")));
  }
  static auto IsCancelled() { return StatusIs(absl::StatusCode::kCancelled, HasSubstr("")); }
};

TEST_F(StoreAdmissionTest, RefusesAtOnceWhatCouldNeverFit) {
  UseBudget(4, 1);
  const BlocksCall call = Fetch(Open(5), 0, 4);
  EXPECT_TRUE(call.done());
  EXPECT_THAT(call.Status(), IsExhausted("needs 20 KiB"));
  EXPECT_EQ(stats().rejected_too_large, 1u);
}

TEST_F(StoreAdmissionTest, RefusesABufferThatCouldNeverFit) {
  UseBudget(4, 0);
  EXPECT_THAT(Allocate(4 * kBlock + 1).Status(), IsExhausted("needs"));
  EXPECT_OK(Allocate(4 * kBlock).Status());
}

TEST_F(StoreAdmissionTest, RefusesARangeWhoseBytesOverflow) {
  UseBudget(4, 1);
  const TablePtr table = Open(int64_t{1} << 40);
  EXPECT_THAT(Fetch(table, 0, table->block_count() - 1).Status(), IsExhausted("needs 4 PiB"));
}

TEST_F(StoreAdmissionTest, WaitsForHeldBlocksAndGoesOnWhenTheyAreLetGo) {
  UseBudget(2, 1);
  const TablePtr table = Open(4);
  auto held = Held(table, 0, 1);
  const BlocksCall waiting = Fetch(table, 2, 3);
  EXPECT_EQ(stats().waiting_requests, 1);
  held.clear();
  EXPECT_OK(waiting.Status());
  EXPECT_EQ(stats().peak_bytes, budget_bytes_);
}

TEST_F(StoreAdmissionTest, HoldsNothingWhileItWaits) {
  UseBudget(3, 1);
  const TablePtr table = Open(8);
  const auto held = Held(table, 0, 1);
  Load(table, 2, 2);
  const BlocksCall waiting = Fetch(table, 2, 4);
  EXPECT_EQ(stats().waiting_requests, 1);
  EXPECT_EQ(store_->Evict(table->key())->blocks, 3);
  EXPECT_EQ(stats().orphaned_bytes, 2 * kBlock);
}

TEST_F(StoreAdmissionTest, RefusesWhatHasNotFittedByItsDeadline) {
  UseBudget(2, 1);
  const TablePtr table = Open(4);
  const auto held = Held(table, 0, 1);
  const BlocksCall waiting = Fetch(table, 2, 3, absl::Now() + absl::Milliseconds(20));
  EXPECT_THAT(waiting.Status(), IsExhausted("waited "));
  EXPECT_EQ(stats().rejected_timeout, 1u);
  EXPECT_EQ(stats().waiting_requests, 0);
}

TEST_F(StoreAdmissionTest, ExpiresTheEarliestDeadlineFirst) {
  UseBudget(2, 1);
  const TablePtr table = Open(4);
  auto held = Held(table, 0, 1);
  const BlocksCall patient = Fetch(table, 2, 2);
  const BlocksCall hasty = Fetch(table, 3, 3, absl::Now() + absl::Milliseconds(10));
  EXPECT_THAT(hasty.Status(), IsExhausted("waited"));
  EXPECT_FALSE(patient.done());
  held.clear();
  EXPECT_OK(patient.Status());
}

TEST_F(StoreAdmissionTest, RefusesAtOnceWithoutTimeToWait) {
  UseBudget(2, 1);
  const TablePtr table = Open(4);
  const auto held = Held(table, 0, 1);
  const BlocksCall call = Fetch(table, 2, 2, absl::InfinitePast());
  EXPECT_TRUE(call.done());
  EXPECT_THAT(call.Status(), IsExhausted("waited "));
  EXPECT_OK(Fetch(table, 0, 1, absl::InfinitePast()).Status());
}

TEST_F(StoreAdmissionTest, GetsEvictableMemoryWithoutTimeToWait) {
  UseBudget(2, 1);
  const TablePtr table = Open(4);
  Load(table, 0, 1);
  EXPECT_OK(Fetch(table, 2, 3, absl::InfinitePast()).Status());
}

TEST_F(StoreAdmissionTest, GetsTheMemoryOfIdleTablesWithoutTimeToWait) {
  UseBudget(8, 0);
  Open(1, 1000);
  const BufferPtr most = Allocate(7 * kBlock).Take();
  EXPECT_OK(Allocate(kBlock, absl::InfinitePast()).Status());
  EXPECT_EQ(stats().generator_bytes, 0u);
}

TEST_F(StoreAdmissionTest, AdmitsInTheOrderOfArrival) {
  UseBudget(4, 1);
  const TablePtr table = Open(8);
  auto large = Held(table, 0, 2);
  auto small = Held(table, 3, 3);
  const BlocksCall first = Fetch(table, 4, 6);
  const BlocksCall second = Fetch(table, 7, 7);
  small.clear();  // would be enough for the second one
  EXPECT_EQ(stats().waiting_requests, 2);
  large.clear();
  EXPECT_OK(first.Status());
  EXPECT_OK(second.Status());
}

TEST_F(StoreAdmissionTest, LetsPassWhatNeedsNoMemory) {
  UseBudget(2, 1);
  const TablePtr table = Open(4);
  const auto held = Held(table, 0, 0);
  const BlocksCall waiting = Fetch(table, 1, 2);
  EXPECT_EQ(stats().waiting_requests, 1);
  EXPECT_TRUE(Fetch(table, 0, 0).done());
}

TEST_F(StoreAdmissionTest, LeavesTheLineWhenAnotherBuildsWhatItWants) {
  UseBudget(3, 1);
  const TablePtr table = Open(8);
  auto held = Held(table, 0, 1);
  const auto one = Held(table, 2, 2);
  const BlocksCall first = Fetch(table, 4, 5);
  const BlocksCall blocked = Fetch(table, 6, 7);
  const BlocksCall joiner = Fetch(table, 4, 5);
  EXPECT_EQ(stats().waiting_requests, 3);
  held.clear();
  const auto blocks = first.Take();
  EXPECT_OK(joiner.Status());
  EXPECT_EQ(stats().waiting_requests, 1);
  EXPECT_EQ(stats().coalesced, 2u);
  EXPECT_EQ(Generated(table, 4), 1);
}

TEST_F(StoreAdmissionTest, ChargesBuffersUntilTheyAreLetGo) {
  UseBudget(4, 0);
  BufferPtr buffer = Allocate(3 * kBlock).Take();
  EXPECT_EQ(buffer->bytes().size(), 3 * kBlock);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->bytes().data()) % 64, 0u);
  EXPECT_EQ(stats().buffer_bytes, 3 * kBlock);
  const BufferCall waiting = Allocate(2 * kBlock);
  EXPECT_EQ(stats().waiting_requests, 1);
  buffer.reset();
  EXPECT_OK(waiting.Status());
}

TEST_F(StoreAdmissionTest, CancelsARequestInLine) {
  UseBudget(2, 1);
  const TablePtr table = Open(4);
  const auto held = Held(table, 0, 1);
  BlocksCall waiting = Fetch(table, 2, 3);
  waiting.Cancel();
  EXPECT_THAT(waiting.Status(), IsCancelled());
  EXPECT_EQ(stats().waiting_requests, 0);
}

TEST_F(StoreAdmissionTest, CancellingTheFrontLetsTheNextOneThrough) {
  UseBudget(2, 1);
  const TablePtr table = Open(8);
  const auto held = Held(table, 0, 0);
  BlocksCall front = Fetch(table, 2, 3);
  const BlocksCall next = Fetch(table, 4, 4);
  EXPECT_EQ(stats().waiting_requests, 2);
  front.Cancel();
  EXPECT_OK(next.Status());
}

TEST_F(StoreAdmissionTest, DropsABuildThatNobodyWaitsForBeforeItStarts) {
  UseBudget(4, 1, 1);
  const TablePtr table = Open(4);
  workshop_->Pause();
  const BlocksCall running = Fetch(table, 0, 0);
  workshop_->AwaitPaused(1);
  BlocksCall queued = Fetch(table, 1, 2);
  queued.Cancel();
  EXPECT_EQ(stats().building_bytes, kBlock);
  EXPECT_EQ(stats().cancelled_builds, 2u);
  workshop_->Resume();
  EXPECT_OK(running.Status());
  EXPECT_THAT(queued.Status(), IsCancelled());
  EXPECT_EQ(Generated(table, 1), 0);
}

TEST_F(StoreAdmissionTest, KeepsABuildThatAnotherStillWaitsFor) {
  UseBudget(4, 1, 1);
  const TablePtr table = Open(4);
  workshop_->Pause();
  const BlocksCall running = Fetch(table, 0, 0);
  workshop_->AwaitPaused(1);
  BlocksCall builder = Fetch(table, 1, 2);
  const BlocksCall joiner = Fetch(table, 1, 1);
  builder.Cancel();
  workshop_->Resume();
  EXPECT_OK(joiner.Status());
  EXPECT_EQ(Generated(table, 1), 1);
  EXPECT_EQ(Generated(table, 2), 0);
}

TEST_F(StoreAdmissionTest, FinishesABuildThatHasBegun) {
  UseBudget(4, 1);
  const TablePtr table = Open(4);
  workshop_->Pause();
  BlocksCall call = Fetch(table, 0, 0);
  workshop_->AwaitPaused(1);
  call.Cancel();
  EXPECT_THAT(call.Status(), IsCancelled());
  workshop_->Resume();
  EXPECT_OK(Fetch(table, 0, 0).Status());
  EXPECT_EQ(Generated(table, 0), 1);
  EXPECT_EQ(stats().cancelled_builds, 0u);
}

TEST_F(StoreAdmissionTest, CancellingWhatIsDoneDoesNothing) {
  UseBudget(4, 1);
  BlocksCall call = Fetch(Open(1), 0, 0);
  EXPECT_OK(call.Status());
  call.Cancel();
  call.Cancel();
}

TEST_F(StoreAdmissionTest, ADroppedBuildIsMissingAgainForThoseInLine) {
  UseBudget(2, 1, 1);
  const TablePtr table = Open(6);
  workshop_->Pause();
  const BlocksCall running = Fetch(table, 0, 0);
  workshop_->AwaitPaused(1);
  BlocksCall builder = Fetch(table, 1, 1);
  const BlocksCall in_line = Fetch(table, 1, 2);
  EXPECT_EQ(stats().waiting_requests, 1);
  builder.Cancel();
  workshop_->Resume();
  running.Take();  // and let go
  EXPECT_OK(in_line.Status());
  EXPECT_EQ(Generated(table, 1), 1);
}

TEST_F(StoreAdmissionTest, OpenWaitsForMemoryWithoutKeepingAGenerator) {
  UseBudget(2, 0);
  BufferPtr all = Allocate(2 * kBlock).Take();
  const Answer<TablePtr> open = StartOpen(1, 10000);
  while (stats().waiting_requests == 0) std::this_thread::yield();
  all.reset();
  EXPECT_OK(open.Status());
  EXPECT_EQ(workshop_->generators_made(), 2);
  EXPECT_LE(stats().peak_bytes, budget_bytes_);
}

TEST_F(StoreAdmissionTest, RefusesATableThatCouldNeverFit) {
  footprint_bytes_ = 5 * kBlock;
  UseBudget(4, 0);
  EXPECT_THAT(StartOpen(1, 10000).Status(), IsExhausted("needs 22 KiB"));
}

}  // namespace
}  // namespace posenc
