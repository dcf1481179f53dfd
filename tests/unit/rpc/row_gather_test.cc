// A gather of many positions beside other work, on one worker. Whatever comes in between is started by the
// generator itself, so that the order is the same in every run.

#include <functional>
#include <future>
#include <memory>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/spec_codec.h"
#include "server/encodings/table_generator.h"
#include "server/rpc/slices/slice_rows.h"
#include "tests/support/matchers.h"
#include "tests/support/text_proto.h"

namespace posenc {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::SizeIs;

constexpr int64_t kBatchBytes = int64_t{256} << 10;

// Generates nothing, and tells of every call of GenerateAt.
class TellingGenerator final : public TableGenerator {
 public:
  using Listener = std::function<void(int64_t positions)>;

  TellingGenerator(std::shared_ptr<const TableGenerator> real, Listener listener)
      : real_(std::move(real)), listener_(std::move(listener)) {}

  const TableShape& shape() const override { return real_->shape(); }
  const TableFacts& facts() const override { return real_->facts(); }
  size_t footprint_bytes() const override { return real_->footprint_bytes(); }
  void Generate(int64_t, int64_t, std::span<std::byte* const>) const override {}
  void GenerateAt(std::span<const double> positions, std::span<std::byte* const>) const override {
    listener_(static_cast<int64_t>(positions.size()));
  }

 private:
  const std::shared_ptr<const TableGenerator> real_;
  const Listener listener_;
};

class FakeCall final : public Call {
 public:
  FakeCall() : Call(absl::InfiniteFuture(), absl::Seconds(30)) {}
  void Cancel() { CancelWork(); }
};

class RowGatherTest : public ::testing::Test {
 protected:
  RowGatherTest() {
    TableStoreOptions options;
    options.threads = 1;
    options.make_generator = [this](const TableSpec& spec) {
      return std::make_shared<TellingGenerator>(MakeTableGenerator(spec).value(), [this](int64_t count) {
        batches_.push_back(count);
        if (on_batch_) on_batch_();
      });
    };
    store_ = MakeTableStore(options);
  }
  ~RowGatherTest() override { store_->Shutdown(); }

  // Gathers positions 0 … count - 1 of rows of 64 KiB, one column of each, and waits for the end.
  absl::Status Gather(int64_t count) {
    const auto text = "sinusoidal { d_model: 16384 max_len: 1000 }";
    std::promise<absl::StatusOr<TablePtr>> opened;
    store_->Open(DecodeNormalizedSpec(ParseText<v1::TableSpec>(text)).value(),
                 [&](absl::StatusOr<TablePtr> table) { opened.set_value(std::move(table)); });
    const TablePtr table = opened.get_future().get().value();
    Selection selection;
    for (int64_t i = 0; i < count; ++i) selection.positions.push_back(i);
    selection.columns = Range{0, 1};
    std::promise<absl::Status> done;
    FetchRows(*store_, table,
              std::make_shared<const SlicePlan>(ResolveSelection(selection, table->shape()).value()), call_,
              [&](absl::StatusOr<RowData> rows) { done.set_value(rows.status()); });
    return done.get_future().get();
  }

  const std::shared_ptr<FakeCall> call_ = std::make_shared<FakeCall>();
  std::function<void()> on_batch_;
  std::vector<int64_t> batches_;
  std::unique_ptr<TableStore> store_;
};

TEST_F(RowGatherTest, BatchesAreBoundedByWholeRows) {
  EXPECT_OK(Gather(10));
  EXPECT_THAT(batches_, SizeIs(3));
  EXPECT_THAT(batches_, Each(Le(kBatchBytes / (64 << 10))));
}

TEST_F(RowGatherTest, OtherWorkTakesItsTurnAfterEveryBatch) {
  std::vector<size_t> turns;  // the batches that were done when the other work had its turn
  on_batch_ = [&] {
    store_->Run([&] { turns.push_back(batches_.size()); });
  };
  EXPECT_OK(Gather(100));
  EXPECT_THAT(batches_, SizeIs(25));
  store_->Shutdown();
  ASSERT_THAT(turns, SizeIs(25));
  for (size_t i = 0; i < turns.size(); ++i) EXPECT_EQ(turns[i], i + 1);
}

TEST_F(RowGatherTest, CancellingStopsItAfterTheBatch) {
  on_batch_ = [&] {
    if (batches_.size() == 2) call_->Cancel();
  };
  EXPECT_THAT(Gather(100), StatusIs(absl::StatusCode::kCancelled, HasSubstr("the call was cancelled")));
  EXPECT_THAT(batches_, SizeIs(2));
}

}  // namespace
}  // namespace posenc
