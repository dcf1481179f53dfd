// Random load from several threads: the budget holds, blocks are intact, everybody gets an answer.

#include <random>
#include <thread>

#include "tests/unit/tables/store_fixture.h"

namespace posenc {
namespace {

constexpr int kThreads = 4;
constexpr int kTables = 3;
constexpr int64_t kBlocksPerTable = 24;

class StorePropertyTest : public StoreFixture {
 protected:
  // One client: holds a few blocks for a while, fetches, cancels, allocates, evicts, pins.
  class Client {
   public:
    Client(StorePropertyTest& test, uint32_t seed) : test_(test), random_(seed) {}

    void Run(int steps) {
      for (int i = 0; i < steps; ++i) Step();
    }

   private:
    int Below(int bound) { return std::uniform_int_distribution<int>(0, bound - 1)(random_); }

    void Step() {
      const int dice = Below(100);
      if (dice < 60) return FetchSome();
      if (dice < 75) return held_.clear();
      if (dice < 83) return FetchAndCancel();
      if (dice < 90) return (void)test_.Allocate(Below(3 * kBlock), Soon()).Status();
      if (dice < 93) return (void)test_.store_->Evict(AnyTable()->key());
      if (dice < 95) return (void)test_.store_->EvictAll();
      if (dice < 97) return (void)test_.store_->Pin(AnyTable());
      test_.store_->Unpin(AnyTable()->key());
    }

    // Whoever holds blocks must not wait for ever for more.
    absl::Time Soon() { return absl::Now() + absl::Milliseconds(held_.empty() ? 2000 : Below(3)); }
    const TablePtr& AnyTable() { return test_.open_[Below(kTables)]; }

    BlocksCall Start(const TablePtr& table) {
      const int64_t first = Below(kBlocksPerTable - 4);
      return test_.Fetch(table, first, first + Below(4), Soon());
    }
    void FetchSome() {
      const TablePtr& table = AnyTable();
      const BlocksCall call = Start(table);
      if (!call.Status().ok()) return;
      for (BlockPtr& block : call.Take()) {
        EXPECT_TRUE(IsIntact(table, *block));
        if (held_.size() < 3) held_.push_back(std::move(block));
      }
    }
    void FetchAndCancel() {
      BlocksCall call = Start(AnyTable());
      call.Cancel();
      if (call.Status().ok()) call.Take();  // it was faster
    }

    StorePropertyTest& test_;
    std::mt19937 random_;
    std::vector<BlockPtr> held_;
  };

  void Load(uint32_t seed, int steps) {
    SCOPED_TRACE(seed);
    for (int i = 0; i < kTables; ++i) open_.push_back(Open(kBlocksPerTable, 1000 + i));
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([this, seed, steps, i] { Client(*this, seed * 16 + i).Run(steps); });
    }
  }

  void ExpectNothingLeft() {
    open_.clear();
    store_->EvictAll();
    const StoreStats after = stats();
    EXPECT_EQ(after.building_bytes + after.buffer_bytes + after.orphaned_bytes, 0u);
    EXPECT_EQ(after.waiting_requests, 0);
    store_->Shutdown();
    EXPECT_EQ(stats().resident_bytes + stats().spare_bytes + stats().generator_bytes, 0u);
  }

  std::vector<TablePtr> open_;
};

TEST_F(StorePropertyTest, StaysWithinATightBudget) {
  const uint32_t seed = std::random_device()() % 1000000;
  RecordProperty("seed", static_cast<int>(seed));
  std::printf("seed %u\n", seed);
  UseBudget(14, kTables);
  Load(seed, 2000);
  EXPECT_LE(stats().peak_bytes, budget_bytes_);
  EXPECT_GT(stats().capacity_evictions, 0u);
  ExpectNothingLeft();
}

TEST_F(StorePropertyTest, StaysWithinAWideBudget) {
  const uint32_t seed = std::random_device()() % 1000000;
  RecordProperty("seed", static_cast<int>(seed));
  std::printf("seed %u\n", seed);
  UseBudget(60, kTables);
  Load(seed, 2000);
  EXPECT_LE(stats().peak_bytes, budget_bytes_);
  ExpectNothingLeft();
}

TEST_F(StorePropertyTest, RequestsOfSeveralBlocksNeverLockEachOtherOut) {
  UseBudget(4, 1);
  const TablePtr table = Open(16);
  {
    std::vector<std::jthread> clients;
    for (int i = 0; i < 8; ++i) {
      clients.emplace_back([this, table, i] {
        for (int n = 0; n < 200; ++n) {
          const int64_t first = (i * 5 + n * 3) % 13;
          for (const BlockPtr& block : Held(table, first, first + 3)) {
            EXPECT_TRUE(IsIntact(table, *block));
          }
        }
      });
    }
  }
  EXPECT_LE(stats().peak_bytes, budget_bytes_);
}

}  // namespace
}  // namespace posenc
