#include "server/rpc/slices/chunk_cursor.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/selection_codec.h"
#include "proto/spec_codec.h"
#include "server/encodings/table_generator.h"
#include "tests/support/text_proto.h"

namespace posenc {
namespace {

using ::testing::ElementsAre;

constexpr size_t kBlockBytes = 4096;

class ChunkCursorTest : public ::testing::Test {
 protected:
  // The cursor over a selection, both as text protos.
  ChunkCursor CursorOf(const std::string& spec, const std::string& selection, int64_t skip = 0) {
    const TableSpec table_spec = DecodeNormalizedSpec(ParseText<v1::TableSpec>(spec)).value();
    const auto table = std::make_shared<Table>(
        table_spec, MakeTableGenerator(table_spec).value(), kBlockBytes);
    const Selection part = DecodeSelection(ParseText<v1::Selection>(selection)).value();
    return ChunkCursor(table, ResolveSelection(part, table->shape()).value(), skip, kBlockBytes);
  }
  // Row counts of the chunks.
  std::vector<int64_t> ChunkRows(const std::string& spec, const std::string& selection, int64_t skip = 0) {
    std::vector<int64_t> rows;
    for (ChunkCursor cursor = CursorOf(spec, selection, skip); !cursor.done();) {
      rows.push_back(cursor.Peek().row_count());
      cursor.Advance(rows.back());
    }
    return rows;
  }
};

// 256 bytes a row, 16 rows a block.
constexpr char kRows16[] = "sinusoidal { d_model: 64 max_len: 40 }";

TEST_F(ChunkCursorTest, ChunksAreBlocks) {
  EXPECT_THAT(ChunkRows(kRows16, ""), ElementsAre(16, 16, 8));
}

TEST_F(ChunkCursorTest, RangesAreCutAtBlocks) {
  EXPECT_THAT(ChunkRows(kRows16, "rows { begin: 10 end: 33 }"), ElementsAre(6, 16, 1));
}

TEST_F(ChunkCursorTest, SkippedRowsAreLeftOut) {
  EXPECT_THAT(ChunkRows(kRows16, "", 20), ElementsAre(12, 8));
  EXPECT_THAT(ChunkRows(kRows16, "", 40), ElementsAre());
}

TEST_F(ChunkCursorTest, PositionsComeInBlocksOfWholeRowsColumnsCutOrNot) {
  std::string positions = "positions {";
  for (int i = 0; i < 40; ++i) positions += " values: 3";
  EXPECT_THAT(ChunkRows(kRows16, positions + "}"), ElementsAre(16, 16, 8));
  EXPECT_THAT(ChunkRows(kRows16, positions + "} columns { end: 1 }"), ElementsAre(16, 16, 8));
}

TEST_F(ChunkCursorTest, RunsOfHeadsAreChunksOfTheirOwn) {
  EXPECT_THAT(ChunkRows("alibi { heads: 3 max_len: 16 }", "rows { begin: 14 }"), ElementsAre(2, 2, 2));
  EXPECT_THAT(ChunkRows("alibi { heads: 3 max_len: 16 }", "rows { begin: 14 }", 3), ElementsAre(1, 2));
}

TEST_F(ChunkCursorTest, RowsWithoutColumnsAreOneChunk) {
  EXPECT_THAT(ChunkRows("sinusoidal { d_model: 64 max_len: 4000000000 }", "columns { begin: 5 end: 5 }"),
              ElementsAre(4000000000));
}

TEST_F(ChunkCursorTest, BlocksAheadAreThoseOfTheNextChunks) {
  ChunkCursor cursor = CursorOf("sinusoidal { d_model: 64 max_len: 160 }", "rows { begin: 10 end: 120 }");
  const auto ahead = [&](int64_t most) {
    const BlockRange range = cursor.BlocksAhead(most);
    return std::vector<int64_t>{range.begin, range.end};
  };
  EXPECT_THAT(ahead(3), ElementsAre(1, 4));
  EXPECT_THAT(ahead(100), ElementsAre(1, 8));  // and no further than the rows asked for
  cursor.Advance(100);
  EXPECT_THAT(ahead(3), ElementsAre(7, 8));
  cursor.Advance(2);
  EXPECT_THAT(ahead(3), ElementsAre(8, 8));
}

TEST_F(ChunkCursorTest, NoBlocksAreAheadOfPositionsAndOfRowsWithoutColumns) {
  for (const char* selection : {"positions { values: [1, 2, 3] }", "columns { begin: 3 end: 3 }"}) {
    const BlockRange range = CursorOf(kRows16, selection).BlocksAhead(4);
    EXPECT_EQ(range.begin, range.end) << selection;
  }
}

}  // namespace
}  // namespace posenc
