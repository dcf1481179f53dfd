// Blocks, buffers and shared tables of random sizes through a small budget: what is charged is the sum of
// what is held at every moment, and nothing is left at the end.

#include <random>

#include "server/core/byte_size.h"
#include "server/tables/memory/block_memory.h"
#include "server/tables/shared_tables.h"
#include "tests/unit/tables/store_fixture.h"

namespace posenc {
namespace {

constexpr size_t kLargePage = size_t{2} << 20;
constexpr size_t kBudget = size_t{32} << 20;

TEST(ChargeForTest, IsItsOwnCharge) {
  std::mt19937_64 random(7);
  std::vector<size_t> sizes = {0, 1, 63, 64, 65, kUnboundedBytes, kUnboundedBytes - 1};
  for (size_t pages = 1; pages <= 4; ++pages) {
    for (size_t below = 0; below <= 40; ++below) {
      for (const size_t odd : {0, 1, 2048}) sizes.push_back(pages * kLargePage - below * 4096 + odd);
    }
  }
  for (int i = 0; i < 20000; ++i) sizes.push_back(random() >> (random() % 64));
  for (const size_t size : sizes) {
    EXPECT_GE(ChargeFor(size), size);
    EXPECT_EQ(ChargeFor(ChargeFor(size)), ChargeFor(size)) << size;
    EXPECT_EQ(ShareableChargeFor(ShareableChargeFor(size)), ShareableChargeFor(size)) << size;
  }
}

class StoreSizesTest : public ::testing::Test {
 protected:
  StoreSizesTest() : store_(MakeTableStore({.budget_bytes = kBudget, .threads = 2})), shared_(*store_) {}

  size_t Below(size_t bound) { return random_() % bound; }

  // Sizes near whole large pages are the ones that are charged more than they need.
  size_t RandomBytes() {
    if (Below(2) == 0) return 1 + Below(3 * kLargePage);
    return (1 + Below(2)) * kLargePage - Below(40) * 2048;
  }

  TablePtr OpenTable() {
    SinusoidalSpec spec;
    spec.d_model = 256;
    spec.max_len = 1 + static_cast<int64_t>(RandomBytes() / 1024);
    spec.base = 10000 + static_cast<double>(++tables_);
    Answer<TablePtr> answer;
    store_->Open({.family = spec}, answer.Callback());
    return answer.Take();
  }

  void Step() {
    const absl::Time deadline = absl::Now() + absl::Seconds(30);
    switch (Below(8)) {
      case 0:
        held_.clear();
        break;
      case 1: {
        BufferCall call;
        call.ticket = store_->Allocate(RandomBytes(), deadline, call.Callback());
        EXPECT_OK(call.Status());
        break;
      }
      case 2: {
        const TablePtr table = OpenTable();
        Answer<SharedTables::SharedTable> offered;
        const auto ticket = shared_.Offer(PeerId(), table, deadline, offered.Callback());
        shared_.Redeem(offered.Take().token, absl::Now());
        break;
      }
      case 3: {
        BlocksCall call;
        call.ticket = store_->Fetch(OpenTable(), 0, 0, deadline, call.Callback());
        call.Cancel();
        call.Status().IgnoreError();  // the block may have been faster than the cancellation
        break;
      }
      default: {
        BlocksCall call;
        call.ticket = store_->Fetch(OpenTable(), 0, 0, deadline, call.Callback());
        std::vector<BlockPtr> blocks = call.Take();
        if (held_.size() < 2 && Below(2) == 0) held_.push_back(std::move(blocks.front()));
      }
    }
  }

  void ExpectChargedIsHeld() {
    const std::vector<TableResidency> tables = store_->ListTables();
    const StoreStats stats = store_->stats();
    size_t resident = 0;
    for (const TableResidency& table : tables) resident += table.resident_bytes;
    EXPECT_EQ(stats.resident_bytes, resident);
    EXPECT_LE(stats.peak_bytes, kBudget);
  }

  std::mt19937_64 random_{std::random_device()()};
  int tables_ = 0;
  std::unique_ptr<TableStore> store_;
  SharedTables shared_;
  std::vector<BlockPtr> held_;
};

TEST_F(StoreSizesTest, ChargedIsWhatIsHeld) {
  for (int i = 0; i < 600; ++i) {
    Step();
    if (HasFatalFailure()) return;
  }
  held_.clear();
  ExpectChargedIsHeld();
  EXPECT_GT(store_->stats().capacity_evictions, 0u);
  store_->EvictAll();
  store_->Shutdown();
  const StoreStats left = store_->stats();
  EXPECT_EQ(left.resident_bytes + left.building_bytes + left.buffer_bytes + left.orphaned_bytes + left.spare_bytes +
                left.generator_bytes,
            0u);
}

}  // namespace
}  // namespace posenc
