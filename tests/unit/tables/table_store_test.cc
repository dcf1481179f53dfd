// Opening and fetching: every block once, shared by all, counted right.

#include <barrier>
#include <thread>

#include "server/core/crc32c.h"
#include "tests/unit/tables/store_fixture.h"

namespace posenc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class TableStoreTest : public StoreFixture {};

TEST_F(TableStoreTest, CutsTheTableIntoPowersOfTwoOfRows) {
  UseBudget(8, 1);
  const TablePtr table = Open(3);
  EXPECT_EQ(table->rows_per_block(), kRowsPerBlock);
  EXPECT_EQ(table->block_count(), 3);
  EXPECT_EQ(table->BlockOfRow(kRowsPerBlock), 1);
  EXPECT_EQ(table->RowCount(2) * table->shape().row_bytes(), static_cast<int64_t>(kBlock));
}

TEST_F(TableStoreTest, GeneratesWhatIsMissingAndReturnsItInOrder) {
  UseBudget(8, 1);
  const TablePtr table = Open(5);
  Load(table, 1, 1);
  const auto blocks = Held(table, 0, 3);
  ASSERT_EQ(blocks.size(), 4u);
  for (int64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(blocks[i]->first_row(), table->FirstRow(i));
    EXPECT_TRUE(IsIntact(table, *blocks[i]));
  }
  EXPECT_EQ(stats().hits, 1u);
  EXPECT_EQ(stats().misses, 4u);
}

TEST_F(TableStoreTest, AlignsEveryTensorTo64Bytes) {
  UseBudget(8, 1);
  const auto blocks = Held(Open(1), 0, 0);
  for (size_t t = 0; t < 2; ++t) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(blocks[0]->tensor(t).data()) % 64, 0u);
  }
}

TEST_F(TableStoreTest, CallsBackInlineWhenEverythingIsResident) {
  UseBudget(8, 1);
  const TablePtr table = Open(2);
  Load(table, 0, 1);
  EXPECT_TRUE(Fetch(table, 0, 1).done());
}

TEST_F(TableStoreTest, SixtyFourFirstRequestsGenerateEveryBlockOnce) {
  UseBudget(8, 1);
  const TablePtr table = Open(4);
  std::barrier start(64);
  {
    std::vector<std::jthread> clients;
    for (int i = 0; i < 64; ++i) {
      clients.emplace_back([&] {
        start.arrive_and_wait();
        for (const BlockPtr& block : Held(table, 0, 3)) EXPECT_TRUE(IsIntact(table, *block));
      });
    }
  }
  for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(Generated(table, i), 1);
  EXPECT_EQ(stats().misses, 4u);
  EXPECT_EQ(stats().hits + stats().coalesced, 63u * 4);
}

TEST_F(TableStoreTest, JoinsBlocksThatAreBeingBuilt) {
  UseBudget(8, 1);
  const TablePtr table = Open(4);
  workshop_->Pause();
  const BlocksCall first = Fetch(table, 0, 1);
  const BlocksCall second = Fetch(table, 1, 2);
  EXPECT_EQ(stats().coalesced, 1u);
  EXPECT_EQ(stats().building_bytes, 3 * kBlock);
  workshop_->Resume();
  EXPECT_OK(first.Status());
  EXPECT_OK(second.Status());
  EXPECT_EQ(Generated(table, 1), 1);
}

TEST_F(TableStoreTest, FindsResidentBlocksOnly) {
  UseBudget(8, 1);
  const TablePtr table = Open(2);
  Load(table, 1, 1);
  EXPECT_THAT(Resident(table), ElementsAre(1));
  EXPECT_EQ(stats().hits, 0u);
}

TEST_F(TableStoreTest, RefusesBlocksOutsideOfTheTable) {
  UseBudget(8, 1);
  const TablePtr table = Open(2);
  const auto out_of_range = StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("2 blocks"));
  EXPECT_THAT(Fetch(table, 0, 2).Status(), out_of_range);
  EXPECT_THAT(Fetch(table, -1, 0).Status(), out_of_range);
  EXPECT_THAT(Fetch(table, 1, 0).Status(), out_of_range);
}

TEST_F(TableStoreTest, KeepsTheChecksumOfTheBytes) {
  UseBudget(8, 1);
  const auto block = Held(Open(1), 0, 0).front();
  const uint32_t expected = ExtendCrc32c(ExtendCrc32c(0, block->tensor(0)), block->tensor(1));
  std::vector<std::jthread> readers;
  for (int i = 0; i < 4; ++i) {
    readers.emplace_back([&] { EXPECT_EQ(block->crc32c(), expected); });
  }
}

TEST_F(TableStoreTest, MakesATableOnceForAllWhoOpenItTogether) {
  UseBudget(16, 2, 1);
  workshop_->Pause();
  const BlocksCall occupied = Fetch(Open(1), 0, 0);  // the only worker
  workshop_->AwaitPaused(1);
  std::vector<Answer<TablePtr>> opens;
  for (int i = 0; i < 8; ++i) opens.push_back(StartOpen(4, 500000));
  workshop_->Resume();
  const TablePtr table = opens[0].Take();
  for (int i = 1; i < 8; ++i) EXPECT_EQ(opens[i].Take(), table);
  EXPECT_EQ(workshop_->generators_made(), 2);
}

TEST_F(TableStoreTest, OpensAKnownTableInline) {
  UseBudget(32, 1);
  const TablePtr table = Open(1);
  EXPECT_TRUE(StartOpen(1, 10000).done());
  EXPECT_EQ(Open(1), table);
}

TEST_F(TableStoreTest, TellsEveryoneWhyATableCannotBeMade) {
  UseBudget(8, 1);
  open_error_ = absl::InvalidArgumentError("odd");
  EXPECT_THAT(StartOpen(1, 10000).Status(), StatusIs(absl::StatusCode::kInvalidArgument, "odd"));
  open_error_ = absl::OkStatus();
  EXPECT_OK(StartOpen(1, 10000).Status());
}

TEST_F(TableStoreTest, ForgetsIdleTablesBeyondTheirShare) {
  UseBudget(16, 0);  // an eighth of it is four tables
  for (int i = 0; i < 6; ++i) Open(1, 1000 + i);
  EXPECT_EQ(stats().generator_bytes, 4 * kTable);
  EXPECT_THAT(store_->ListTables(), IsEmpty());
}

TEST_F(TableStoreTest, WorksOnTablesThatItHasForgotten) {
  UseBudget(4, 0);  // an eighth of it is one table
  const TablePtr first = Open(1, 1000);
  const TablePtr second = Open(1, 2000);
  EXPECT_TRUE(IsIntact(first, *Held(first, 0, 0).front()));
  EXPECT_TRUE(IsResident(first, 0));
  EXPECT_EQ(stats().generator_bytes, 2 * kTable);
}

TEST_F(TableStoreTest, RunsWorkOnAnotherThread) {
  UseBudget(8, 1);
  Answer<std::thread::id> answer;
  store_->Run([&] { answer.Callback()(std::this_thread::get_id()); });
  EXPECT_NE(answer.Take(), std::this_thread::get_id());
}

TEST_F(TableStoreTest, CountsWhatItGenerated) {
  UseBudget(8, 1);
  Load(Open(3), 0, 2);
  EXPECT_EQ(stats().generated_blocks, 3u);
  EXPECT_EQ(stats().generated_bytes, 3 * kBlock);
  EXPECT_THAT(stats().generated_by_family, ElementsAre(3, 0, 0, 0, 0, 0, 0, 0));
  uint64_t timed = 0;
  for (const uint64_t count : stats().generation.counts) timed += count;
  EXPECT_EQ(timed, 3u);
}

}  // namespace
}  // namespace posenc
