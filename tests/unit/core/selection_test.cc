#include "server/core/selection.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/core/limits.h"
#include "tests/support/matchers.h"

namespace posenc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kOutOfRange = absl::StatusCode::kOutOfRange;

// 100 rows from position 10; cos and sin of 8 columns in F32.
TableShape Rotary() {
  return {.row_dims = {100},
          .tensors = {{"cos", ElementType::kF32, {8}}, {"sin", ElementType::kF32, {8}}},
          .first_position = 10,
          .positions_begin = -1000,
          .positions_end = 110};
}

// 3 heads, 5 queries, 5 keys.
TableShape Bias() {
  return {.row_dims = {3, 5},
          .tensors = {{"bias", ElementType::kF16, {5}}},
          .row_kind = RowKind::kHeadQueries};
}

TableShape Slopes() {
  return {.row_dims = {1},
          .tensors = {{"slopes", ElementType::kF32, {12}}},
          .row_kind = RowKind::kSingle};
}

SlicePlan Resolved(const Selection& selection, const TableShape& shape) {
  absl::StatusOr<SlicePlan> plan = ResolveSelection(selection, shape);
  EXPECT_OK(plan);
  return plan.ok() ? *plan : SlicePlan();
}

TEST(SelectionTest, NothingSelectedIsTheWholeTable) {
  const SlicePlan plan = Resolved({}, Rotary());
  ASSERT_EQ(plan.runs.size(), 1u);
  EXPECT_EQ(plan.runs[0].begin, 0);
  EXPECT_EQ(plan.runs[0].end, 100);
  EXPECT_TRUE(plan.whole_rows);
  EXPECT_EQ(plan.row_bytes(Rotary()), 64);
  EXPECT_EQ(plan.total_bytes(Rotary()), 6400u);
  EXPECT_THAT(plan.TensorDims(Rotary().tensors[0]), ElementsAre(100, 8));
}

TEST(SelectionTest, RangesAreHalfOpenAndOpenAtTheEnd) {
  const SlicePlan plan = Resolved({.rows = Range{90, std::nullopt}, .columns = Range{2, 5}}, Rotary());
  EXPECT_EQ(plan.row_count(), 10);
  EXPECT_EQ(plan.column_begin, 2);
  EXPECT_EQ(plan.column_end, 5);
  EXPECT_FALSE(plan.whole_rows);
  EXPECT_EQ(plan.row_bytes(Rotary()), 2 * 3 * 4);
  EXPECT_THAT(plan.TensorDims(Rotary().tensors[0]), ElementsAre(10, 3));
}

TEST(SelectionTest, EmptyRangesAreAllowed) {
  EXPECT_EQ(Resolved({.rows = Range{100, std::nullopt}}, Rotary()).row_count(), 0);
  EXPECT_EQ(Resolved({.rows = Range{5, 5}}, Rotary()).row_count(), 0);
  EXPECT_EQ(Resolved({.columns = Range{8, 8}}, Rotary()).total_bytes(Rotary()), 0u);
  EXPECT_EQ(Resolved({.heads = Range{3, 3}}, Bias()).row_count(), 0);
}

// 3 position axes, and real positions.
TableShape MultiAxis() {
  TableShape shape = Rotary();
  shape.position_axes = 3;
  return shape;
}

TEST(SelectionTest, TextPositionsAreTheSameOnEveryAxis) {
  const SlicePlan plan = Resolved({.positions = {7, 9}}, MultiAxis());
  EXPECT_THAT(plan.positions, ElementsAre(7, 7, 7, 9, 9, 9));
  EXPECT_EQ(plan.row_count(), 2);
  EXPECT_THAT(plan.TensorDims(MultiAxis().tensors[0]), ElementsAre(2, 8));
}

TEST(SelectionTest, AxisPositionsStandAsGiven) {
  const SlicePlan plan = Resolved({.axis_positions = {0, 0, 7, 10, 10, 10}}, MultiAxis());
  EXPECT_THAT(plan.positions, ElementsAre(0, 0, 7, 10, 10, 10));
  EXPECT_EQ(RowOfPosition(MultiAxis(), plan, 0), std::nullopt);
  EXPECT_EQ(RowOfPosition(MultiAxis(), plan, 1), 0);
}

TEST(SelectionTest, RealPositionsKeepTheirFractions) {
  TableShape shape = Rotary();
  shape.real_positions = true;
  const SlicePlan plan = Resolved({.real_positions = {10.5, 12, 109.75, -1000}}, shape);
  EXPECT_THAT(plan.positions, ElementsAre(10.5, 12, 109.75, -1000));
  EXPECT_EQ(RowOfPosition(shape, plan, 0), std::nullopt);
  EXPECT_EQ(RowOfPosition(shape, plan, 1), 2);
  EXPECT_EQ(RowOfPosition(shape, plan, 3), std::nullopt);
}

// Neighbours that no double tells apart: 2^53 + 1 is no position, nor is it 2^53.
TEST(SelectionTest, WholePositionsPassThroughNoDouble) {
  TableShape shape = Rotary();
  shape.positions_begin = 1 - limits::kMaxPosition;
  shape.positions_end = limits::kMaxPosition;
  for (const int64_t position : {limits::kMaxPosition, limits::kMaxPosition + 1, -limits::kMaxPosition - 1,
                                 std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()}) {
    EXPECT_THAT(ResolveSelection({.positions = {position}}, shape),
                StatusIs(kOutOfRange, absl::StrCat("selection.positions[0] is ", position,
                                                   "; allowed: -9007199254740991 to 9007199254740991")));
  }
  shape.position_axes = 2;
  EXPECT_THAT(ResolveSelection({.axis_positions = {0, -limits::kMaxPosition - 1}}, shape),
              StatusIs(kOutOfRange, HasSubstr("axis_positions[1] is -9007199254740993;")));
  EXPECT_THAT(Resolved({.positions = {limits::kMaxPosition - 1, 1 - limits::kMaxPosition}}, shape).positions,
              ElementsAre(0x1p53 - 1, 0x1p53 - 1, 1 - 0x1p53, 1 - 0x1p53));
}

TEST(SelectionTest, RealPositionsAreReportedInAllTheirDigits) {
  TableShape shape = Rotary();
  shape.real_positions = true;
  EXPECT_THAT(ResolveSelection({.real_positions = {110.00000000000001}}, shape),
              StatusIs(kOutOfRange, "selection.real_positions[0] is 110.00000000000001; "
                                    "allowed: -1000 to less than 110"));
}

TEST(SelectionTest, DescendingRowsAreFoundByTheirPositions) {
  TableShape shape = Rotary();
  shape.descending = true;
  shape.positions_begin = -90;
  const SlicePlan plan = Resolved({.positions = {10, 9, 11, -89}}, shape);
  EXPECT_EQ(RowOfPosition(shape, plan, 0), 0);
  EXPECT_EQ(RowOfPosition(shape, plan, 1), 1);
  EXPECT_EQ(RowOfPosition(shape, plan, 2), std::nullopt);
  EXPECT_EQ(RowOfPosition(shape, plan, 3), 99);
}

TEST(SelectionTest, KindsOfPositionsThatATableHasNotAreRefused) {
  EXPECT_THAT(ResolveSelection({.real_positions = {1.5}}, Rotary()), ViolatesField("selection.real_positions"));
  EXPECT_THAT(ResolveSelection({.axis_positions = {1, 2, 3}}, Rotary()),
              ViolatesField("selection.axis_positions"));
  EXPECT_THAT(ResolveSelection({.axis_positions = {1, 2}}, MultiAxis()),
              ViolatesField("selection.axis_positions"));
  EXPECT_THAT(ResolveSelection({.positions = {1}, .axis_positions = {1, 2, 3}}, MultiAxis()),
              ViolatesField("selection.axis_positions"));
  TableShape shape = Rotary();
  shape.real_positions = true;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(ResolveSelection({.real_positions = {nan}}, shape), ViolatesField("selection.real_positions[0]"));
  EXPECT_THAT(ResolveSelection({.real_positions = {110}}, shape),
              StatusIs(kOutOfRange, HasSubstr("selection.real_positions[0]")));
}

TEST(SelectionTest, HeadsOfARowBiasAreItsRows) {
  const TableShape row{.row_dims = {3}, .tensors = {{"bias", ElementType::kF32, {5}}},
                       .row_kind = RowKind::kHeads};
  const SlicePlan plan = Resolved({.heads = Range{1, 3}, .keys = Range{2, 4}}, row);
  EXPECT_THAT(plan.TensorDims(row.tensors[0]), ElementsAre(2, 2));
  EXPECT_EQ(plan.runs[0].begin, 1);
  EXPECT_THAT(ResolveSelection({.rows = Range{0, 1}}, row), ViolatesField("selection.rows"));
}

TEST(SelectionTest, MapHasQueriesAndKeys) {
  const TableShape map{.row_dims = {5}, .tensors = {{"buckets", ElementType::kI32, {5}}},
                       .row_kind = RowKind::kCells};
  const SlicePlan plan = Resolved({.rows = Range{1, 4}, .keys = Range{0, 2}}, map);
  EXPECT_THAT(plan.TensorDims(map.tensors[0]), ElementsAre(3, 2));
  EXPECT_THAT(ResolveSelection({.heads = Range{0, 1}}, map), ViolatesField("selection.heads"));
  EXPECT_THAT(ResolveSelection({.positions = {1}}, map), ViolatesField("selection.positions"));
}

TEST(SelectionTest, PositionsComeInTheirOrder) {
  const SlicePlan plan = Resolved({.positions = {109, -1000, 7, 7}}, Rotary());
  EXPECT_THAT(plan.runs, IsEmpty());
  EXPECT_THAT(plan.positions, ElementsAre(109, -1000, 7, 7));
  EXPECT_THAT(plan.TensorDims(Rotary().tensors[0]), ElementsAre(4, 8));
}

TEST(SelectionTest, BiasRowsAreQueriesOfEveryHead) {
  const SlicePlan plan = Resolved({.rows = Range{4, 5}, .heads = Range{1, 3}, .keys = Range{0, 2}}, Bias());
  ASSERT_EQ(plan.runs.size(), 2u);
  EXPECT_EQ(plan.runs[0].begin, 9);
  EXPECT_EQ(plan.runs[1].begin, 14);
  EXPECT_THAT(plan.TensorDims(Bias().tensors[0]), ElementsAre(2, 1, 2));
  EXPECT_EQ(plan.total_bytes(Bias()), 8u);
}

TEST(SelectionTest, WholeHeadsAreOneRun) {
  const SlicePlan plan = Resolved({.heads = Range{1, 3}}, Bias());
  ASSERT_EQ(plan.runs.size(), 1u);
  EXPECT_EQ(plan.runs[0].begin, 5);
  EXPECT_EQ(plan.runs[0].end, 15);
}

TEST(SelectionTest, HeadsOfSlopesAreColumns) {
  const SlicePlan plan = Resolved({.heads = Range{2, 4}}, Slopes());
  EXPECT_EQ(plan.column_begin, 2);
  EXPECT_EQ(plan.column_end, 4);
  EXPECT_THAT(plan.TensorDims(Slopes().tensors[0]), ElementsAre(2));
}

struct Refusal {
  const char* field;
  absl::StatusCode code;
  Selection selection;
  TableShape shape;
};

TEST(SelectionTest, RefusesWhatLiesOutsideOrDoesNotApply) {
  const std::vector<Refusal> cases = {
      {"selection.rows.begin", kOutOfRange, {.rows = Range{-1, 5}}, Rotary()},
      {"selection.rows.begin", kOutOfRange, {.rows = Range{101, std::nullopt}}, Rotary()},
      {"selection.rows.end", kOutOfRange, {.rows = Range{0, 101}}, Rotary()},
      {"selection.rows.end", kOutOfRange, {.rows = Range{0, -1}}, Rotary()},
      {"selection.rows.end", kInvalid, {.rows = Range{5, 4}}, Rotary()},
      {"selection.rows.end", kOutOfRange, {.rows = Range{0, 6}}, Bias()},
      {"selection.columns.end", kOutOfRange, {.columns = Range{0, 9}}, Rotary()},
      {"selection.columns.begin", kOutOfRange, {.columns = Range{-3, 4}}, Rotary()},
      {"selection.columns.end", kInvalid, {.columns = Range{4, 3}}, Rotary()},
      {"selection.columns", kInvalid, {.columns = Range{0, 1}}, Bias()},
      {"selection.columns", kInvalid, {.columns = Range{0, 1}}, Slopes()},
      {"selection.heads.end", kOutOfRange, {.heads = Range{0, 4}}, Bias()},
      {"selection.heads.end", kOutOfRange, {.heads = Range{0, 13}}, Slopes()},
      {"selection.heads", kInvalid, {.heads = Range{0, 1}}, Rotary()},
      {"selection.keys.end", kOutOfRange, {.keys = Range{0, 6}}, Bias()},
      {"selection.keys", kInvalid, {.keys = Range{0, 1}}, Rotary()},
      {"selection.keys", kInvalid, {.keys = Range{0, 1}}, Slopes()},
      {"selection.positions[1]", kOutOfRange, {.positions = {0, 110}}, Rotary()},
      {"selection.positions[0]", kOutOfRange, {.positions = {-1001}}, Rotary()},
      {"selection.positions", kInvalid, {.positions = {0}}, Bias()},
      {"selection.positions", kInvalid, {.positions = {0}}, Slopes()},
      {"selection.positions", kInvalid, {.rows = Range{0, 1}, .positions = {0}}, Rotary()},
      {"selection.positions", kInvalid,
       {.positions = std::vector<int64_t>(limits::kMaxPositionsPerRequest + 1)}, Rotary()},
  };
  for (const Refusal& refusal : cases) {
    const absl::StatusOr<SlicePlan> plan = ResolveSelection(refusal.selection, refusal.shape);
    EXPECT_THAT(plan, ViolatesField(refusal.field));
    EXPECT_EQ(plan.status().code(), refusal.code) << refusal.field;
  }
}

TEST(SelectionTest, ErrorsOfFormComeBeforeErrorsOfRange) {
  const absl::StatusOr<SlicePlan> plan =
      ResolveSelection({.rows = Range{0, 101}, .heads = Range{0, 1}}, Rotary());
  EXPECT_THAT(plan, StatusIs(kInvalid, HasSubstr("selection.heads")));
}

TEST(SelectionTest, BytesOfAHugeTableDoNotWrapAround) {
  TableShape shape = Rotary();
  shape.row_dims = {limits::kMaxPosition};
  shape.tensors = {{"table", ElementType::kF32, {2048}}};
  EXPECT_EQ(Resolved({}, shape).total_bytes(shape), kUnboundedBytes);
}

}  // namespace
}  // namespace posenc
