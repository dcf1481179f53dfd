#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posenc/client.h"
#include "posenc/ops.h"
#include "server/core/names.h"
#include "tests/support/matchers.h"
#include "tests/unit/client/ops/numbers.h"

namespace posenc {
namespace {

using ::testing::HasSubstr;

Table GetRope(RopeLayout layout, ElementType type = ElementType::kF32) {
  Client client(MakeLocalConnection());
  const auto table =
      client.Get({Rope{.head_dim = 48, .rotary_dim = 40, .max_len = 6, .layout = layout}, type});
  EXPECT_OK(table);
  return table.value_or(Table());
}

std::vector<float> Rotated(const Table& table, RopeLayout layout, Pairing pairing, bool inverse) {
  std::vector<float> x = Random<float>(3 * 2 * 48, 4);
  EXPECT_OK(Rotate(x, table,
                   {.seq_len = 3,
                    .heads = 2,
                    .head_dim = 48,
                    .first_row = 3,
                    .pairing = pairing,
                    .rotary_begin = 8,
                    .inverse = inverse,
                    .layout = layout}));
  return x;
}

TEST(RotateLayoutsTest, EveryLayoutOfCosinesAndSinesGivesTheSameBits) {
  const Table plain = GetRope(RopeLayout::kSplitHalf);
  for (int value = 1; value <= static_cast<int>(RopeLayout::kComplex); ++value) {
    const auto layout = static_cast<RopeLayout>(value);
    const Table table = GetRope(layout);
    for (Pairing pairing : {Pairing::kHalfSplit, Pairing::kInterleaved}) {
      for (bool inverse : {false, true}) {
        EXPECT_EQ(Rotated(table, layout, pairing, inverse),
                  Rotated(plain, RopeLayout::kSplitHalf, pairing, inverse))
            << NameOf(layout);
      }
    }
  }
}

TEST(RotateLayoutsTest, NarrowTablesAreTakenInEveryLayoutToo) {
  const Table plain = GetRope(RopeLayout::kSplitHalf, ElementType::kBF16);
  for (RopeLayout layout : {RopeLayout::kSplitRepeated, RopeLayout::kCosSin, RopeLayout::kPairs}) {
    const Table table = GetRope(layout, ElementType::kBF16);
    EXPECT_EQ(Rotated(table, layout, Pairing::kHalfSplit, false),
              Rotated(plain, RopeLayout::kSplitHalf, Pairing::kHalfSplit, false));
  }
}

TEST(RotateLayoutsTest, RefusesTablesThatAreNotOfTheLayout) {
  const Table table = GetRope(RopeLayout::kSplitHalf);
  std::vector<float> x(48);
  RotateParams params = {
      .seq_len = 1, .head_dim = 48, .rotary_dim = 40, .layout = RopeLayout::kCosSin};
  EXPECT_THAT(Rotate(x, table, params),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no tensor 'table'")));
  params.layout = RopeLayout::kSplitDuplicated;
  EXPECT_THAT(Rotate(x, table, params),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("'cos' has 20 numbers in a row; allowed: 40")));
  params.layout = RopeLayout::kAngles;
  EXPECT_THAT(Rotate(x, table, params),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("layout is angles")));
}

TEST(RotateLayoutsTest, TableMustBeAsWideAsWhatRotates) {
  std::vector<float> x(48);
  EXPECT_THAT(
      Rotate(x, GetRope(RopeLayout::kSplitHalf), {.seq_len = 1, .head_dim = 48}),
      StatusIs(
          absl::StatusCode::kInvalidArgument,
          HasSubstr("'cos' has 20 numbers in a row; allowed: 24 by the layout and rotary_dim")));
}

}  // namespace
}  // namespace posenc
