// What stays and what goes: least recently fetched first, held blocks, pins, administration, the end.

#include "tests/unit/tables/store_fixture.h"

namespace posenc {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class StoreEvictionTest : public StoreFixture {};

TEST_F(StoreEvictionTest, EvictsLeastRecentlyFetchedFirst) {
  UseBudget(3, 1);
  const TablePtr table = Open(8);
  for (const int64_t block : {0, 1, 2, 0, 3}) Load(table, block, block);
  EXPECT_THAT(Resident(table), ElementsAre(0, 2, 3));
  EXPECT_EQ(stats().capacity_evictions, 1u);
  EXPECT_EQ(stats().evicted_bytes, kBlock);
}

TEST_F(StoreEvictionTest, FindResidentCountsAsAUse) {
  UseBudget(3, 1);
  const TablePtr table = Open(8);
  for (const int64_t block : {0, 1, 2}) Load(table, block, block);
  store_->FindResident(*table, 0);
  Load(table, 3, 3);
  EXPECT_THAT(Resident(table), ElementsAre(0, 2, 3));
}

TEST_F(StoreEvictionTest, NeverEvictsAHeldBlock) {
  UseBudget(3, 1);
  const TablePtr table = Open(8);
  const auto held = Held(table, 0, 0);
  for (int64_t block = 1; block < 8; ++block) Load(table, block, block);
  EXPECT_TRUE(IsResident(table, 0));
  EXPECT_TRUE(IsIntact(table, *held[0]));
}

TEST_F(StoreEvictionTest, DoesNotEvictWhatTheSameRequestWants) {
  UseBudget(3, 1);
  const TablePtr table = Open(8);
  Load(table, 0, 0);  // the oldest
  Load(table, 5, 6);
  EXPECT_THAT(Held(table, 0, 2), SizeIs(3));
  EXPECT_EQ(Generated(table, 0), 1);
}

TEST_F(StoreEvictionTest, ReusesTheMemoryOfAnEvictedBlock) {
  UseBudget(2, 1);
  const TablePtr table = Open(4);
  const std::byte* memory = Held(table, 0, 0)[0]->tensor(0).data();
  Load(table, 1, 1);
  EXPECT_EQ(Held(table, 2, 2)[0]->tensor(0).data(), memory);
}

TEST_F(StoreEvictionTest, HeldBlockOutlivesItsEvictionAndStaysCharged) {
  UseBudget(4, 1);
  const TablePtr table = Open(2);
  auto held = Held(table, 0, 1);
  const EvictionResult result = *store_->Evict(table->key());
  EXPECT_EQ(result.blocks, 2);
  EXPECT_EQ(result.bytes, 2 * kBlock);
  EXPECT_EQ(stats().orphaned_bytes, 2 * kBlock);
  EXPECT_TRUE(IsIntact(table, *held[1]));
  held.clear();
  EXPECT_EQ(stats().orphaned_bytes, 0u);
}

TEST_F(StoreEvictionTest, AnEvictedBlockIsGeneratedAgain) {
  UseBudget(4, 1);
  const TablePtr table = Open(2);
  const auto old = Held(table, 0, 0);
  EXPECT_OK(store_->Evict(table->key()));
  EXPECT_NE(Held(table, 0, 0)[0], old[0]);
  EXPECT_EQ(Generated(table, 0), 2);
}

TEST_F(StoreEvictionTest, EvictKnowsOnlyResidentAndPinnedTables) {
  UseBudget(32, 1);
  const TablePtr table = Open(2);
  EXPECT_THAT(store_->Evict(table->key()), StatusIs(absl::StatusCode::kNotFound, HasSubstr("no such")));
  EXPECT_OK(store_->Pin(table));
  EXPECT_EQ(store_->Evict(table->key())->tables, 1);
  EXPECT_EQ(stats().pinned_bytes, 0u);
}

TEST_F(StoreEvictionTest, EvictAllLeavesNothing) {
  UseBudget(16, 2);
  Load(Open(2, 1000), 0, 1);
  Load(Open(3, 2000), 0, 2);
  const EvictionResult result = store_->EvictAll();
  EXPECT_EQ(result.tables, 2);
  EXPECT_EQ(result.blocks, 5);
  EXPECT_THAT(store_->ListTables(), IsEmpty());
  EXPECT_EQ(stats().resident_bytes + stats().spare_bytes + stats().generator_bytes, 0u);
}

TEST_F(StoreEvictionTest, BlocksBeingBuiltSurviveAnEviction) {
  UseBudget(16, 1);
  const TablePtr table = Open(2);
  workshop_->Pause();
  const BlocksCall call = Fetch(table, 0, 1);
  workshop_->AwaitPaused(2);
  EXPECT_EQ(store_->EvictAll().blocks, 0);
  workshop_->Resume();
  EXPECT_THAT(call.Take(), SizeIs(2));
}

TEST_F(StoreEvictionTest, NeverEvictsAPinnedTable) {
  UseBudget(12, 2);
  const TablePtr pinned = Open(2, 1000);
  EXPECT_OK(store_->Pin(pinned));
  Load(pinned, 0, 1);
  const TablePtr other = Open(32, 2000);
  for (int64_t block = 0; block < 32; ++block) Load(other, block, block);
  EXPECT_THAT(Resident(pinned), ElementsAre(0, 1));
  store_->Unpin(pinned->key());
  for (int64_t block = 0; block < 32; ++block) Load(other, block, block);
  EXPECT_THAT(Resident(pinned), IsEmpty());
}

TEST_F(StoreEvictionTest, APinSetsTheWholeTableAsideAtOnce) {
  UseBudget(12, 2);
  const TablePtr pinned = Open(3);
  EXPECT_OK(store_->Pin(pinned));
  EXPECT_OK(store_->Pin(pinned));
  EXPECT_EQ(stats().pinned_bytes, 3 * kBlock + kTable);
  const TablePtr other = Open(16, 2000);
  EXPECT_THAT(Fetch(other, 0, 9).Status(),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("set aside")));
  EXPECT_OK(Fetch(other, 0, 8).Status());
}

TEST_F(StoreEvictionTest, PinsLeaveRoomForEightBlocks) {
  UseBudget(12, 2);
  EXPECT_OK(store_->Pin(Open(3, 1000)));
  EXPECT_THAT(store_->Pin(Open(2, 2000)),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       AllOf(HasSubstr("pinning 10 KiB"), HasSubstr("32 KiB"), HasSubstr("--cache-bytes"))));
}

TEST_F(StoreEvictionTest, PinsLeaveATenthOfALargeBudget) {
  UseBudget(200, 0);
  EXPECT_OK(store_->Pin(Open(179, 1000)));
  EXPECT_FALSE(store_->Pin(Open(1, 2000)).ok());
}

TEST_F(StoreEvictionTest, AVirtualTableCannotBePinned) {
  UseBudget(200, 1);
  EXPECT_FALSE(store_->Pin(Open(int64_t{1} << 45)).ok());
}

TEST_F(StoreEvictionTest, ListsResidentAndPinnedTablesByKey) {
  UseBudget(32, 3);
  const TablePtr resident = Open(2, 1000);
  const TablePtr pinned = Open(2, 2000);
  Open(2, 3000);
  Load(resident, 0, 0);
  EXPECT_OK(store_->Pin(pinned));
  const auto list = store_->ListTables();
  ASSERT_THAT(list, SizeIs(2));
  EXPECT_LT(list[0].table->key(), list[1].table->key());
  const TableResidency& first = list[list[0].table == pinned ? 1 : 0];
  EXPECT_EQ(first.table, resident);
  EXPECT_EQ(first.resident_bytes, kBlock);
  EXPECT_FALSE(first.pinned);
}

TEST_F(StoreEvictionTest, ShutdownEndsThoseWhoWait) {
  UseBudget(2, 1, 1);
  const TablePtr table = Open(8);
  workshop_->Pause();
  const BlocksCall running = Fetch(table, 0, 0);
  workshop_->AwaitPaused(1);
  const BlocksCall queued = Fetch(table, 1, 1);
  const BlocksCall in_line = Fetch(table, 2, 3);
  const BufferCall buffer = Allocate(kBlock);
  std::jthread stop([this] { store_->Shutdown(); });
  while (stats().waiting_requests > 0) std::this_thread::yield();
  workshop_->Resume();
  const auto cancelled = StatusIs(absl::StatusCode::kCancelled, HasSubstr("shutting down"));
  EXPECT_THAT(running.Status(), cancelled);
  EXPECT_THAT(queued.Status(), cancelled);
  EXPECT_THAT(in_line.Status(), cancelled);
  EXPECT_THAT(buffer.Status(), cancelled);
}

TEST_F(StoreEvictionTest, RefusesEverythingAfterShutdown) {
  UseBudget(4, 1);
  const TablePtr table = Open(2);
  store_->Shutdown();
  const auto cancelled = StatusIs(absl::StatusCode::kCancelled, HasSubstr("shutting down"));
  EXPECT_THAT(Fetch(table, 0, 0).Status(), cancelled);
  EXPECT_THAT(Allocate(1).Status(), cancelled);
  EXPECT_THAT(StartOpen(1, 10000).Status(), cancelled);
  EXPECT_THAT(store_->Pin(table), cancelled);
  bool ran = false;
  store_->Run([&] { ran = true; });
  EXPECT_TRUE(ran);
}

TEST_F(StoreEvictionTest, LeasesBuffersTablesAndTicketsOutliveTheStore) {
  UseBudget(4, 1);
  const TablePtr table = Open(2);
  BlocksCall call = Fetch(table, 0, 1);
  const auto blocks = call.Take();
  const BufferPtr buffer = Allocate(kBlock).Take();
  store_.reset();
  EXPECT_TRUE(IsIntact(table, *blocks[1]));
  buffer->bytes()[0] = std::byte{1};
  call.Cancel();
}

}  // namespace
}  // namespace posenc
