// The system has no memory, whatever the budget says: the store gives back what it can, tries again, and goes on.

#include <new>

#include "tests/unit/tables/store_fixture.h"

namespace posenc {
namespace {

class StoreWantOfMemoryTest : public StoreFixture {
 protected:
  static auto HasNoMemory() {
    return StatusIs(absl::StatusCode::kResourceExhausted, ::testing::HasSubstr("no memory left"));
  }
};

TEST_F(StoreWantOfMemoryTest, ABlockIsTriedOnceMore) {
  UseBudget(8, 1);
  const TablePtr table = Open(4);
  workshop_->RefuseBlocks(1);
  const auto blocks = Held(table, 0, 0);
  EXPECT_TRUE(IsIntact(table, *blocks.front()));
  EXPECT_EQ(Generated(table, 0), 2);
}

TEST_F(StoreWantOfMemoryTest, WhatMayBeEvictedIsGivenBackFirst) {
  UseBudget(8, 1);
  const TablePtr table = Open(4);
  const auto held = Held(table, 0, 0);
  Load(table, 1, 2);
  workshop_->RefuseBlocks(1);
  Load(table, 3, 3);
  EXPECT_THAT(Resident(table), ::testing::ElementsAre(0, 3));
  EXPECT_EQ(stats().spare_bytes, 0u);
}

TEST_F(StoreWantOfMemoryTest, ARefusedBlockFailsAndTheNextOneIsMade) {
  UseBudget(8, 1);
  const TablePtr table = Open(4);
  workshop_->RefuseBlocks(2);
  EXPECT_THAT(Fetch(table, 0, 0).Status(), HasNoMemory());
  EXPECT_EQ(stats().building_bytes, 0u);
  EXPECT_OK(Fetch(table, 0, 3).Status());
}

TEST_F(StoreWantOfMemoryTest, ATableLikewise) {
  UseBudget(8, 2);
  workshop_->RefuseGenerators(2);
  EXPECT_THAT(StartOpen(1, 500).Status(), HasNoMemory());
  workshop_->RefuseGenerators(1);
  EXPECT_OK(StartOpen(1, 500).Status());
}

TEST_F(StoreWantOfMemoryTest, WorkThatHasNoMemoryDoesNotEndTheWorker) {
  UseBudget(8, 1, 1);
  store_->Run([] { throw std::bad_alloc(); });
  EXPECT_OK(Fetch(Open(1), 0, 0).Status());
}

}  // namespace
}  // namespace posenc
