#include "server/encodings/table_notes.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/core/specs/normalize.h"
#include "tests/support/matchers.h"
#include "tests/unit/encodings/reference.h"

namespace posenc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Made {
  TableSpec spec;
  std::shared_ptr<const TableGenerator> table;
};

Made Make(const FamilySpec& family, ElementType type = ElementType::kF16) {
  const auto spec = Normalize({.family = family, .element_type = type});
  EXPECT_OK(spec);
  const auto table = MakeTableGenerator(*spec);
  EXPECT_OK(table);
  return {*spec, *table};
}

std::vector<std::string> NotesOf(const FamilySpec& family, ElementType type = ElementType::kF16) {
  const Made made = Make(family, type);
  return TableNotes(made.spec, *made.table);
}

// Whether an F16 table has an infinite element at a position, in one of its tensors from `first_tensor` on.
bool IsInfiniteAt(const FamilySpec& family, int64_t position, size_t first_tensor = 0) {
  const Made made = Make(family);
  const Buffers row = GeneratePositions(*made.table, {position});
  for (size_t tensor = first_tensor; tensor < row.size(); ++tensor) {
    for (int64_t i = 0; i < static_cast<int64_t>(row[tensor].size()) / 2; ++i) {
      if ((ElementAt(row[tensor], ElementType::kF16, i) & 0x7FFF) == 0x7C00) return true;
    }
  }
  return false;
}

RopeSpec LongRope(int64_t max_len) {
  return {.head_dim = 4,
          .max_len = max_len,
          .scaling = LongRopeScaling{.factor = 4, .original_max_len = 4096, .short_factor = {1, 2},
                                     .long_factor = {3, 4}}};
}

TEST(TableNotesTest, RowsPastTheTrainedLengthOfLongRopeAreTold) {
  RopeSpec spec = LongRope(4097);
  EXPECT_THAT(NotesOf(spec), ElementsAre(AllOf(HasSubstr("4096"), HasSubstr("short_factor"),
                                               HasSubstr("effective_length"))));
  spec.effective_length = 4097;
  EXPECT_THAT(NotesOf(spec), IsEmpty());
  EXPECT_THAT(NotesOf(LongRope(4096)), IsEmpty());
  spec = LongRope(131072);
  spec.layout = RopeLayout::kFrequencies;
  EXPECT_THAT(NotesOf(spec), IsEmpty());
}

TEST(TableNotesTest, AnglesAreInfiniteFromThePositionThatIsNoted) {
  const RopeSpec spec{.head_dim = 8, .max_len = 70000, .layout = RopeLayout::kAngles};
  EXPECT_THAT(NotesOf(spec), ElementsAre("F16 ends at 65504: angles are infinite from position 65520 on"));
  EXPECT_FALSE(IsInfiniteAt(spec, 65519));
  EXPECT_TRUE(IsInfiniteAt(spec, 65520));
  EXPECT_THAT(NotesOf(spec, ElementType::kF32), IsEmpty());
  EXPECT_THAT(NotesOf(spec, ElementType::kBF16), IsEmpty());
}

TEST(TableNotesTest, KeysOfXPosAreFiniteBeforeThePositionThatIsNoted) {
  const RopeSpec spec{.head_dim = 8, .max_len = 5000, .xpos = XPos{.centre = 0}};
  EXPECT_THAT(NotesOf(spec), ElementsAre("F16 ends at 65504: keys may be infinite from position 4533 on, "
                                         "queries up to position -4533"));
  for (int64_t position = 4500; position < 4533; ++position) EXPECT_FALSE(IsInfiniteAt(spec, position, 2));
  int infinite = 0;
  for (int64_t position = 4533; position < 4600; ++position) infinite += IsInfiniteAt(spec, position, 2) ? 1 : 0;
  EXPECT_GT(infinite, 0);
  EXPECT_THAT(NotesOf(spec, ElementType::kF32), IsEmpty());
}

TEST(TableNotesTest, LargeMagnitudesAreTold) {
  EXPECT_THAT(NotesOf(RopeSpec{.head_dim = 8, .attention_factor = 1e6}),
              ElementsAre("F16 ends at 65504: cosines and sines times 1000000 are infinite beyond"));
  EXPECT_THAT(NotesOf(SinusoidalSpec{.d_model = 8, .row_scale = 65520}), ElementsAre(HasSubstr("65520")));
  EXPECT_THAT(NotesOf(SinusoidalSpec{.d_model = 8, .row_scale = 65519}), IsEmpty());
}

TEST(TableNotesTest, BiasesAreInfiniteFromTheDistanceThatIsNoted) {
  EXPECT_THAT(NotesOf(AlibiSpec{.heads = 8, .max_len = 131041}),
              ElementsAre("F16 ends at 65504: biases are infinite from distance 131040 on"));
  EXPECT_THAT(NotesOf(AlibiSpec{.heads = 8, .max_len = 131040}), IsEmpty());
  RelativeBiasSpec power{.rule = KerpleBias{.kind = KerpleKind::kPower, .r1 = {1, 1}, .r2 = {1, 2}},
                         .heads = 2, .max_len = 257};
  EXPECT_THAT(NotesOf(power), ElementsAre(HasSubstr("from distance 256 on")));
  power.max_len = 256;
  EXPECT_THAT(NotesOf(power), IsEmpty());
}

TEST(TableNotesTest, FactorsOfQueriesAreInfiniteFromThePositionThatIsNoted) {
  const QueryTemperatureSpec spec{.max_len = 100000, .scale = 10000, .floor_len = 8, .position_offset = 1};
  // 8 · ⌈e^6.5519 − 1⌉ − 1, by mpmath: e^6.5519 is 700.57.
  EXPECT_THAT(NotesOf(spec), ElementsAre(HasSubstr("from position 5599 on")));
  EXPECT_FALSE(IsInfiniteAt(spec, 5598));
  EXPECT_TRUE(IsInfiniteAt(spec, 5599));
}

TEST(TableNotesTest, OrdinaryTablesHaveNone) {
  EXPECT_THAT(NotesOf(RopeSpec{.head_dim = 128, .max_len = 131072}), IsEmpty());
  EXPECT_THAT(NotesOf(RelativeBiasSpec{.heads = 8}), IsEmpty());
  EXPECT_THAT(NotesOf(QueryTemperatureSpec{.max_len = 1 << 20}), IsEmpty());
}

}  // namespace
}  // namespace posenc
