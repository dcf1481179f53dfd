// The parts of the store by themselves: memory, spare memory, ledger, workers, alarm, the cut of a table.

#include <atomic>
#include <future>
#include <thread>

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/tables/jobs/trampoline.h"
#include "server/tables/memory/budget.h"
#include "server/tables/memory/byte_text.h"
#include "server/tables/memory/spare_memory.h"
#include "server/tables/threads/alarm.h"
#include "server/tables/threads/worker_pool.h"
#include "tests/unit/tables/store_fixture.h"

namespace posenc {
namespace {

using ::testing::ElementsAre;

BlockMemory Memory(size_t bytes) {
  return BlockMemory::Allocate(bytes, BlockMemory::Pages::kPresent);
}

TEST(BlockMemoryTest, ChargesWhatIsReallyAllocated) {
  EXPECT_EQ(ChargeFor(0), 64u);
  EXPECT_EQ(ChargeFor(65), 128u);
  EXPECT_EQ(ChargeFor(32767), 32768u);
  EXPECT_EQ(ChargeFor(32769), 36864u);
  for (const size_t bytes : {1, 4096, 40000, 1 << 20, (2 << 20) - 1, (3 << 20) + 1}) {
    EXPECT_EQ(Memory(bytes).size_bytes(), ChargeFor(bytes));
  }
}

TEST(BlockMemoryTest, ChargesWholeLargePagesWhereTheyWasteLittle) {
  constexpr size_t kLargePage = size_t{2} << 20;
  EXPECT_EQ(ChargeFor(kLargePage), kLargePage);
  EXPECT_EQ(ChargeFor(kLargePage - 65536), kLargePage);
  EXPECT_EQ(ChargeFor(kLargePage - 65537), kLargePage);
  EXPECT_EQ(ChargeFor(kLargePage - 65536 - 4096), kLargePage - 65536 - 4096);
  EXPECT_EQ(ChargeFor(kLargePage + 1), kLargePage + 4096);
  EXPECT_EQ(ChargeFor(3 * kLargePage - 1), 3 * kLargePage);
}

TEST(BlockMemoryTest, IsAlignedAndWritable) {
  for (const size_t bytes : {1, 1000, 40000, 1 << 20, 2 << 20, 2 << 20, 5 << 20}) {
    const BlockMemory memory = Memory(bytes);
    const size_t alignment = bytes < (2 << 20) ? kBlockAlignmentBytes : size_t{2} << 20;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.data()) % alignment, 0u);
    std::memset(memory.data(), 1, memory.size_bytes());
  }
}

TEST(BlockMemoryTest, SaysNoWhenTheSystemHasNone) {
  EXPECT_FALSE(Memory(size_t{1} << 60));
}

TEST(SpareMemoryTest, ReturnsOnlyTheVerySize) {
  SpareMemory spare;
  spare.Put(Memory(4096));
  spare.Put(Memory(8192));
  EXPECT_FALSE(spare.Take(2048));
  EXPECT_TRUE(spare.Take(4096));
  EXPECT_FALSE(spare.Take(4096));
  EXPECT_EQ(spare.bytes(), 8192u);
}

TEST(SpareMemoryTest, GivesUpTheLargestFirst) {
  SpareMemory spare;
  for (const size_t bytes : {4096, 8192, 1024}) spare.Put(Memory(bytes));
  EXPECT_EQ(spare.TakeLargest().size_bytes(), 8192u);
  EXPECT_EQ(spare.TakeLargest().size_bytes(), 4096u);
  EXPECT_EQ(spare.TakeLargest().size_bytes(), 1024u);
  EXPECT_TRUE(spare.empty());
}

TEST(BudgetTest, RemembersTheHighestSum) {
  Budget budget(100);
  budget.Add(Charge::kBuilding, 60);
  budget.Move(Charge::kBuilding, Charge::kResident, 60);
  budget.Add(Charge::kBuffer, 30);
  budget.Remove(Charge::kResident, 60);
  EXPECT_EQ(budget.free_bytes(), 70u);
  EXPECT_EQ(budget.peak_bytes(), 90u);
  EXPECT_EQ(budget[Charge::kBuffer], 30u);
}

TEST(WorkerPoolTest, RunsWhatIsForLaterBehindAllOther) {
  std::vector<int> order;
  {
    WorkerPool pool(1);
    std::promise<void> gate;
    pool.Run([opened = gate.get_future().share()] { opened.wait(); });
    pool.RunLater([&] { order.push_back(3); });
    pool.Run([&] { order.push_back(1); });
    pool.Run([&] { order.push_back(2); });
    gate.set_value();
  }
  EXPECT_THAT(order, ElementsAre(1, 2, 3));
}

TEST(WorkerPoolTest, FinishesWhatIsQueuedAndWhatThatQueues) {
  std::atomic<int> ran{0};
  WorkerPool pool(2);
  for (int i = 0; i < 100; ++i) {
    pool.Run([&] { pool.Run([&] { ++ran; }); });
  }
  pool.Shutdown();
  EXPECT_EQ(ran, 100);
}

TEST(WorkerPoolTest, SwallowsNothingAfterShutdown) {
  WorkerPool pool(1);
  pool.Shutdown();
  bool ran = false;
  pool.Run([&] { ran = true; });
  EXPECT_TRUE(ran);
}

TEST(WorkerPoolTest, HasAWorkerForEachCpuByDefault) {
  EXPECT_EQ(WorkerPool(0).threads(), static_cast<int>(std::thread::hardware_concurrency()));
}

TEST(AlarmTest, RingsAtTheEarliestTimeAskedFor) {
  Answer<absl::Time> rang;
  Alarm alarm([&] { rang.Callback()(absl::Now()); });
  const absl::Time soon = absl::Now() + absl::Milliseconds(5);
  alarm.WakeBy(absl::Now() + absl::Hours(1));
  alarm.WakeBy(soon);
  EXPECT_GE(rang.Take(), soon);
}

TEST(AlarmTest, StopsWithoutRinging) {
  std::atomic<bool> rang{false};
  Alarm alarm([&] { rang = true; });
  alarm.WakeBy(absl::Now() + absl::Hours(1));
  alarm.Shutdown();
  EXPECT_FALSE(rang);
}

TEST(TrampolineTest, DoesNotRecurse) {
  Trampoline trampoline;
  int steps = 0;
  int depth = 0;
  int deepest = 0;
  const std::function<void()> step = [&] {
    deepest = std::max(deepest, ++depth);
    if (++steps < 1000) trampoline.Next(step);
    --depth;
  };
  trampoline.Loop(step);
  EXPECT_EQ(steps, 1000);
  EXPECT_EQ(deepest, 1);
}

TEST(TableTest, ABlockIsAtLeastOneRow) {
  const auto generator = std::make_shared<FakeGenerator>(
      std::get<SinusoidalSpec>(SpecOf(2, 10000).family), 0, std::make_shared<Workshop>());
  const Table table(SpecOf(2, 10000), generator, 10);  // a row has 64 bytes
  EXPECT_EQ(table.rows_per_block(), 1);
  EXPECT_EQ(table.block_count(), 2 * kRowsPerBlock);
}

TEST(TableTest, TheLastBlockMayBeShort) {
  SinusoidalSpec spec;
  spec.d_model = 16;
  spec.max_len = 150;
  const Table table({.family = spec}, std::make_shared<FakeGenerator>(spec, 0, std::make_shared<Workshop>()),
                    kBlock + 100);
  EXPECT_EQ(table.rows_per_block(), 64);
  EXPECT_EQ(table.block_count(), 3);
  EXPECT_EQ(table.RowCount(2), 22);
  EXPECT_EQ(table.RowCount(2) * table.shape().row_bytes(), 22 * 64);
}

TEST(ByteTextTest, IsShort) {
  std::vector<std::string> texts;
  for (const double bytes : {0.0, 1023.0, 1536.0, 1048576.0, 1e30}) texts.push_back(ByteText(bytes));
  EXPECT_THAT(texts, ElementsAre("0 bytes", "1023 bytes", "1.5 KiB", "1 MiB", "8.674e+11 EiB"));
}

}  // namespace
}  // namespace posenc
