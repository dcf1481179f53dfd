// Warming and digesting whole tables.

#include <openssl/sha.h>

#include "tests/unit/tables/store_fixture.h"

namespace posenc {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class TableWarmerTest : public StoreFixture {
 protected:
  Call<TablePtr> Warm(int64_t blocks, bool pin, absl::Time deadline = absl::InfiniteFuture()) {
    Call<TablePtr> call;
    call.ticket = WarmTable(*store_, SpecOf(blocks, 10000), pin, deadline,
                            {[this](const Table&, int64_t done, int64_t) { progress_.push_back(done); },
                             call.Callback()});
    return call;
  }
  Call<std::vector<Sha256Digest>> Digest(const TablePtr& table) {
    Call<std::vector<Sha256Digest>> call;
    call.ticket = DigestTensors(*store_, PeerId(), table, absl::InfiniteFuture(), call.Callback());
    return call;
  }
  static Sha256Digest DigestOf(const TablePtr& table, size_t tensor) {
    std::vector<int32_t> values;
    for (int64_t row = 0; row < table->rows(); ++row) {
      values.insert(values.end(), table->shape().tensors[tensor].row_elements(),
                    RowValue(BaseOf(table), row));
    }
    Sha256Digest digest;
    SHA256(reinterpret_cast<const unsigned char*>(values.data()), values.size() * sizeof(int32_t),
           digest.data());
    return digest;
  }

  std::vector<int64_t> progress_;
};

TEST_F(TableWarmerTest, ReportsEveryBlockAndEndsWithTheTable) {
  UseBudget(32, 1);
  const TablePtr table = Warm(5, false).Take();
  EXPECT_THAT(progress_, ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(Resident(table), SizeIs(5));
}

TEST_F(TableWarmerTest, PinsWhatItWarms) {
  UseBudget(32, 1);
  EXPECT_OK(Warm(5, true).Status());
  EXPECT_TRUE(store_->ListTables().front().pinned);
}

TEST_F(TableWarmerTest, WarmsATableLargerThanTheBudget) {
  UseBudget(4, 1);
  EXPECT_OK(Warm(40, false).Status());
  EXPECT_EQ(progress_.back(), 40);
}

TEST_F(TableWarmerTest, WarmingAgainGeneratesNothing) {
  UseBudget(600, 1);
  EXPECT_OK(Warm(500, false).Status());
  EXPECT_OK(Warm(500, false).Status());
  EXPECT_EQ(stats().generated_blocks, 500u);
}

TEST_F(TableWarmerTest, RefusesAPinThatLeavesNoRoom) {
  UseBudget(12, 1);
  EXPECT_THAT(Warm(8, true).Status(),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("pinning")));
}

TEST_F(TableWarmerTest, ACancelledWarmUpTakesItsPinOff) {
  UseBudget(32, 1, 8);
  workshop_->Pause();
  Call<TablePtr> call = Warm(5, true);
  workshop_->AwaitPaused(1);
  call.Cancel();
  EXPECT_THAT(call.Status(), StatusIs(absl::StatusCode::kCancelled, HasSubstr("cancelled")));
  workshop_->Resume();
  EXPECT_EQ(stats().pinned_bytes, 0u);
}

TEST_F(TableWarmerTest, AFailedWarmUpLeavesAnEarlierPin) {
  UseBudget(32, 1);
  EXPECT_OK(store_->Pin(Open(5)));
  const BufferPtr most = Allocate(27 * kBlock).Take();
  const BufferPtr rest = Allocate(5 * kBlock).Take();
  EXPECT_THAT(Warm(5, true, absl::InfinitePast()).Status(),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("waited")));
  EXPECT_GT(stats().pinned_bytes, 0u);
}

TEST_F(TableWarmerTest, ACancelledWarmUpLeavesThePinOfALaterOne) {
  UseBudget(64, 1);
  workshop_->Pause();
  Call<TablePtr> first = Warm(5, true);
  workshop_->AwaitPaused(1);
  EXPECT_OK(store_->Pin(Open(5)));
  first.Cancel();
  workshop_->Resume();
  EXPECT_EQ(first.Status().code(), absl::StatusCode::kCancelled);
  EXPECT_THAT(store_->ListTables(), ElementsAre(Field(&TableResidency::pinned, true)));
}

TEST_F(TableWarmerTest, TellsWhyATableCannotBeMade) {
  UseBudget(32, 1);
  open_error_ = absl::InvalidArgumentError("odd");
  EXPECT_THAT(Warm(5, false).Status(), StatusIs(absl::StatusCode::kInvalidArgument, "odd"));
}

TEST_F(TableWarmerTest, DigestsTheBytesOfEveryTensor) {
  UseBudget(4, 1);
  const TablePtr table = Open(9);
  EXPECT_THAT(Digest(table).Take(), ElementsAre(DigestOf(table, 0), DigestOf(table, 1)));
}

TEST_F(TableWarmerTest, ACancelledDigestEnds) {
  UseBudget(4, 1, 8);
  const TablePtr table = Open(9);
  workshop_->Pause();
  auto call = Digest(table);
  workshop_->AwaitPaused(1);
  call.Cancel();
  EXPECT_THAT(call.Status(), StatusIs(absl::StatusCode::kCancelled, HasSubstr("cancelled")));
  workshop_->Resume();
}

TEST_F(TableWarmerTest, EndsAtShutdown) {
  UseBudget(32, 1, 8);
  workshop_->Pause();
  const Call<TablePtr> call = Warm(5, true);
  workshop_->AwaitPaused(1);
  std::jthread stop([this] { store_->Shutdown(); });
  EXPECT_THAT(call.Status(), StatusIs(absl::StatusCode::kCancelled, HasSubstr("shutting down")));
  workshop_->Resume();
}

}  // namespace
}  // namespace posenc
