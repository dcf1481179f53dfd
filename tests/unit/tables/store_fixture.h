// The small language in which the tests of the store speak.
//
// A block is 4 KiB, 64 rows. Budgets are told in blocks and in the tables that may be open besides.
// A call may be waited for (Status, Blocks); whether it had to wait in line shows in stats(), never in time.

#ifndef POSENC_TESTS_UNIT_TABLES_STORE_FIXTURE_H_
#define POSENC_TESTS_UNIT_TABLES_STORE_FIXTURE_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/tables/jobs/table_warmer.h"
#include "server/tables/store/table_store.h"
#include "tests/support/matchers.h"
#include "tests/unit/tables/fake_generator.h"

namespace posenc {

inline constexpr size_t kBlock = 4096;
inline constexpr size_t kTable = 2048;  // what a table without a footprint is charged
inline constexpr int64_t kRowsPerBlock = 64;

// An answer that arrives on some thread, exactly once.
template <typename T>
class Answer {
 public:
  std::function<void(absl::StatusOr<T>)> Callback() const {
    return [state = state_](absl::StatusOr<T> value) {
      std::unique_lock lock(state->mutex);
      EXPECT_FALSE(state->value.has_value()) << "called back twice";
      state->value = std::move(value);
      state->changed.notify_all();
    };
  }
  bool done() const {
    std::unique_lock lock(state_->mutex);
    return state_->value.has_value();
  }
  absl::Status Status() const {
    Await();
    return state_->value->status();
  }
  // Waits, and takes the value out.
  T Take() const {
    Await();
    EXPECT_OK(*state_->value);
    return state_->value->ok() ? std::move(**state_->value) : T();
  }

 private:
  void Await() const {
    std::unique_lock lock(state_->mutex);
    state_->changed.wait(lock, [&] { return state_->value.has_value(); });
  }
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<absl::StatusOr<T>> value;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

template <typename T>
struct Call : Answer<T> {
  std::shared_ptr<FetchTicket> ticket;
  void Cancel() { ticket->Cancel(); }
};
using BlocksCall = Call<std::vector<BlockPtr>>;
using BufferCall = Call<BufferPtr>;

inline TableSpec SpecOf(int64_t blocks, double base) {
  SinusoidalSpec spec;
  spec.d_model = 16;  // 64 bytes a row
  spec.max_len = blocks * kRowsPerBlock;
  spec.base = base;
  return {.family = spec};
}

class StoreFixture : public ::testing::Test {
 protected:
  void UseBudget(size_t blocks, size_t tables, int threads = 2) {
    budget_bytes_ = blocks * kBlock + tables * kTable;
    store_ = MakeTableStore(
        {.budget_bytes = budget_bytes_,
         .block_bytes = kBlock,
         .threads = threads,
         .make_generator = [this, workshop = workshop_](const TableSpec& spec) -> decltype(MakeTableGenerator(spec)) {
           if (!open_error_.ok()) return open_error_;
           return std::make_shared<FakeGenerator>(std::get<SinusoidalSpec>(spec.family), footprint_bytes_,
                                                  workshop);
         }});
  }
  ~StoreFixture() override { workshop_->Resume(); }

  Answer<TablePtr> StartOpen(int64_t blocks, double base) {
    Answer<TablePtr> answer;
    store_->Open(SpecOf(blocks, base), answer.Callback());
    return answer;
  }
  TablePtr Open(int64_t blocks, double base = 10000) { return StartOpen(blocks, base).Take(); }

  BlocksCall Fetch(const TablePtr& table, int64_t first, int64_t last,
                   absl::Time deadline = absl::InfiniteFuture()) {
    BlocksCall call;
    call.ticket = store_->Fetch(table, first, last, deadline, call.Callback());
    return call;
  }
  // Fetches and lets go.
  void Load(const TablePtr& table, int64_t first, int64_t last) {
    Fetch(table, first, last).Take();
  }
  // Fetches and holds.
  std::vector<BlockPtr> Held(const TablePtr& table, int64_t first, int64_t last) {
    return Fetch(table, first, last).Take();
  }
  BufferCall Allocate(size_t bytes, absl::Time deadline = absl::InfiniteFuture()) {
    BufferCall call;
    call.ticket = store_->Allocate(bytes, deadline, call.Callback());
    return call;
  }
  bool IsResident(const TablePtr& table, int64_t block) {
    return store_->FindResident(*table, block) != nullptr;
  }
  std::vector<int64_t> Resident(const TablePtr& table) {
    std::vector<int64_t> blocks;
    for (int64_t i = 0; i < table->block_count(); ++i) {
      if (IsResident(table, i)) blocks.push_back(i);
    }
    return blocks;
  }
  int Generated(const TablePtr& table, int64_t block) {
    return workshop_->TimesGenerated(BaseOf(table), table->FirstRow(block));
  }
  StoreStats stats() const { return store_->stats(); }

  static double BaseOf(const TablePtr& table) {
    return std::get<SinusoidalSpec>(table->spec().family).base;
  }
  // Whether every row of every tensor is what the generator writes there.
  static bool IsIntact(const TablePtr& table, const Block& block) {
    for (size_t t = 0; t < table->shape().tensors.size(); ++t) {
      const auto bytes = block.tensor(t);
      const int64_t width = table->shape().tensors[t].row_elements();
      for (size_t i = 0; i < bytes.size() / sizeof(int32_t); ++i) {
        int32_t value;
        std::memcpy(&value, bytes.data() + i * sizeof(value), sizeof(value));
        const int64_t row = block.first_row() + static_cast<int64_t>(i) / width;
        if (value != RowValue(BaseOf(table), row)) return false;
      }
    }
    return true;
  }

  std::shared_ptr<Workshop> workshop_ = std::make_shared<Workshop>();
  size_t budget_bytes_ = 0;
  size_t footprint_bytes_ = 0;
  absl::Status open_error_;
  std::unique_ptr<TableStore> store_;
};

}  // namespace posenc

#endif  // POSENC_TESTS_UNIT_TABLES_STORE_FIXTURE_H_
