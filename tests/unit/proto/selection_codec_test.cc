#include "proto/selection_codec.h"

#include "gtest/gtest.h"
#include "tests/support/matchers.h"
#include "tests/support/text_proto.h"

namespace posenc {
namespace {

using ::testing::ElementsAre;

Selection Decoded(const char* text) {
  absl::StatusOr<Selection> selection = DecodeSelection(ParseText<v1::Selection>(text));
  EXPECT_OK(selection);
  return selection.ok() ? *selection : Selection();
}

TEST(SelectionCodecTest, EmptyMessageSelectsEverything) {
  const Selection selection = Decoded("");
  EXPECT_FALSE(selection.rows || selection.columns || selection.heads || selection.keys);
  EXPECT_TRUE(selection.positions.empty());
}

TEST(SelectionCodecTest, AbsentEndStaysAbsent) {
  const Selection open = Decoded("rows { begin: 3 }");
  EXPECT_EQ(open.rows->begin, 3);
  EXPECT_FALSE(open.rows->end.has_value());
  EXPECT_EQ(Decoded("rows { begin: 3 end: 0 }").rows->end, 0);
}

TEST(SelectionCodecTest, EveryMemberRoundTrips) {
  for (const char* text : {"rows { begin: 1 end: 2 }", "rows { begin: 0 }",
                           "positions { values: [5, -3, 5] }", "columns { begin: 2 end: 4 }",
                           "heads { begin: 0 end: 12 } keys { begin: 7 }"}) {
    const v1::Selection message = ParseText<v1::Selection>(text);
    EXPECT_EQ(EncodeSelection(Decoded(text)).SerializeAsString(), message.SerializeAsString());
  }
}

TEST(SelectionCodecTest, PositionsKeepTheirOrder) {
  EXPECT_THAT(Decoded("positions { values: [9, -1, 9] }").positions, ElementsAre(9, -1, 9));
}

TEST(SelectionCodecTest, EmptyListOfPositionsIsRefused) {
  EXPECT_THAT(DecodeSelection(ParseText<v1::Selection>("positions {}")),
              ViolatesField("selection.positions"));
}

}  // namespace
}  // namespace posenc
