#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posenc/ops.h"
#include "tests/support/matchers.h"

namespace posenc {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<int64_t> RowsOf(const std::vector<int64_t>& mask, MaskParams params) {
  if (params.seq_len == 0) params.seq_len = static_cast<int64_t>(mask.size());
  const auto rows = PositionsFromMask(mask, params);
  EXPECT_OK(rows);
  return rows.value_or(std::vector<int64_t>());
}

TEST(PositionsFromMaskTest, RealTokensFollowThePaddingRow) {
  EXPECT_THAT(RowsOf({1, 1, 1, 0}, {}), ElementsAre(2, 3, 4, 1));
  EXPECT_THAT(RowsOf({0, 0, 1, 1}, {}), ElementsAre(1, 1, 2, 3));
  EXPECT_THAT(RowsOf({1, 0, 1, 1}, {.padding_idx = 0}), ElementsAre(1, 0, 2, 3));
}

TEST(PositionsFromMaskTest, EverySequenceCountsAnew) {
  EXPECT_THAT(RowsOf({1, 1, 0, 0, 1, 1}, {.batch = 2, .seq_len = 3}),
              ElementsAre(2, 3, 1, 1, 2, 3));
}

TEST(PositionsFromMaskTest, FirstRowMayBeToldApart) {
  EXPECT_THAT(RowsOf({0, 1, 1}, {.padding_idx = 0, .first_row = 0}), ElementsAre(0, 0, 1));
}

TEST(PositionsFromMaskTest, TakesBytes) {
  const std::vector<uint8_t> mask = {0, 255};
  EXPECT_THAT(*PositionsFromMask(mask, {.seq_len = 2}), ElementsAre(1, 2));
}

TEST(PositionsFromMaskTest, TokensPastTheTableAreOutOfRange) {
  const std::vector<int64_t> mask(513, 1);
  EXPECT_THAT(PositionsFromMask(mask, {.seq_len = 513, .table_rows = 514}),
              StatusIs(absl::StatusCode::kOutOfRange,
                       AllOf(HasSubstr("mask[512] is for row 514"),
                             HasSubstr("allowed: 0 to 513, which are 512"))));
  EXPECT_OK(PositionsFromMask(std::span(mask).first(512), {.seq_len = 512, .table_rows = 514}));
}

TEST(PositionsFromMaskTest, NamesWhatDoesNotFit) {
  const std::vector<int64_t> mask(4, 1);
  EXPECT_THAT(
      PositionsFromMask(mask, {.seq_len = 3}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("mask has 4 elements; allowed: 3")));
  EXPECT_THAT(PositionsFromMask(mask, {.seq_len = 4, .padding_idx = -1}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("padding_idx is -1")));
}

}  // namespace
}  // namespace posenc
