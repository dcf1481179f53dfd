#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/core/crc32c.h"
#include "tests/unit/rpc/rpc_fixture.h"

namespace posenc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class StreamSliceTest : public RpcTest {
 protected:
  StreamedSlice Stream(const std::string& spec, const std::string& selection, int64_t skip_rows = 0) {
    return StreamSlice("spec {" + spec + "} selection {" + selection +
                       "} skip_rows: " + std::to_string(skip_rows));
  }
};

// 128 rows a block of 64 KiB, 256 bytes a row and tensor.
constexpr char kRope[] = "rope { head_dim: 128 max_len: 1000 }";

void ExpectChecksums(const StreamedSlice& slice) {
  for (const v1::StreamSliceResponse& chunk : slice.chunks) {
    uint32_t crc = 0;
    for (const v1::Tensor& tensor : chunk.tensors()) {
      crc = ExtendCrc32c(crc, std::as_bytes(std::span(tensor.data())));
    }
    EXPECT_EQ(chunk.crc32c(), crc);
  }
}

TEST_F(StreamSliceTest, ReturnsTheWholeTableInBlocks) {
  const StreamedSlice slice = Stream(kRope, "");
  ASSERT_OK(slice.status);
  EXPECT_EQ(slice.chunks.size(), 8u);
  EXPECT_EQ(slice.Data(0), ExpectedRows(kRope, 0, 1000, 0));
  EXPECT_EQ(slice.Data(1), ExpectedRows(kRope, 0, 1000, 1));
  EXPECT_THAT(slice.chunks[7].tensors(0).shape(), ElementsAre(104, 64));
  ExpectChecksums(slice);
}

// Blocks are generated ahead of the chunks, but none twice, and each is the miss of the stream.
TEST_F(StreamSliceTest, AColdTableIsGeneratedOnce) {
  const StreamedSlice slice = StreamSlice("spec { rope { head_dim: 128 max_len: 3000 } }");
  EXPECT_OK(slice.status);
  EXPECT_EQ(store().stats().generated_blocks, slice.chunks.size());
  EXPECT_EQ(store().stats().misses, slice.chunks.size());
  EXPECT_EQ(store().stats().hits, 0u);
  EXPECT_TRUE(MemoryComesBack());
}

TEST_F(StreamSliceTest, FirstChunkDescribesTheWhole) {
  const StreamedSlice slice = Stream(kRope, "rows { begin: 10 end: 500 }", 200);
  ASSERT_OK(slice.status);
  const v1::SliceHeader& header = slice.chunks.at(0).header();
  EXPECT_EQ(header.table_key().size(), 64u);
  EXPECT_EQ(header.row_count(), 490);
  EXPECT_EQ(header.size_bytes(), 490u * 512);
  EXPECT_THAT(header.tensors(1).shape(), ElementsAre(490, 64));
  EXPECT_EQ(header.tensors(1).name(), "sin");
  for (size_t i = 1; i < slice.chunks.size(); ++i) EXPECT_FALSE(slice.chunks[i].has_header());
}

TEST_F(StreamSliceTest, RangesThatAreNoWholeBlocksHaveTheirChecksums) {
  const StreamedSlice slice = Stream(kRope, "rows { begin: 100 end: 300 }");
  ASSERT_OK(slice.status);
  EXPECT_EQ(slice.Data(0), ExpectedRows(kRope, 100, 200));
  ExpectChecksums(slice);
}

TEST_F(StreamSliceTest, ResumesBehindSkippedRows) {
  for (const int64_t skip : {0, 1, 127, 128, 500, 999}) {
    const StreamedSlice slice = Stream(kRope, "", skip);
    ASSERT_OK(slice.status);
    EXPECT_EQ(slice.Data(1, skip), ExpectedRows(kRope, skip, 1000 - skip, 1)) << skip;
  }
}

TEST_F(StreamSliceTest, SkippingEverythingLeavesTheHeader) {
  const StreamedSlice slice = Stream(kRope, "", 1000);
  ASSERT_OK(slice.status);
  ASSERT_EQ(slice.chunks.size(), 1u);
  EXPECT_EQ(slice.chunks[0].header().row_count(), 1000);
  EXPECT_EQ(slice.chunks[0].row_count(), 0);
  EXPECT_EQ(slice.chunks[0].first_row(), 1000);
}

TEST_F(StreamSliceTest, EmptySliceIsOneChunkWithTheHeader) {
  const StreamedSlice slice = Stream(kRope, "rows { begin: 7 end: 7 }");
  ASSERT_OK(slice.status);
  ASSERT_EQ(slice.chunks.size(), 1u);
  EXPECT_TRUE(slice.chunks[0].has_header());
  EXPECT_THAT(slice.chunks[0].tensors(0).shape(), ElementsAre(0, 64));
}

TEST_F(StreamSliceTest, SkippingMoreThanThereIsNamesTheField) {
  for (const int64_t skip : {-1, 1001}) {
    const StreamedSlice slice = Stream(kRope, "", skip);
    EXPECT_THAT(slice.status, StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("0 to 1000")));
    EXPECT_THAT(slice.status, ViolatesField("skip_rows"));
  }
}

TEST_F(StreamSliceTest, CutsColumns) {
  const StreamedSlice slice = Stream(kRope, "rows { begin: 50 end: 450 } columns { begin: 3 end: 60 }");
  ASSERT_OK(slice.status);
  EXPECT_EQ(slice.Data(1), CutRows(ExpectedRows(kRope, 50, 400, 1), 256, 12, 240));
  ExpectChecksums(slice);
}

TEST_F(StreamSliceTest, GathersPositionsInChunksOfABlocksSize) {
  std::vector<int64_t> positions;
  std::string values;
  for (int64_t i = 0; i < 700; ++i) {
    positions.push_back((i * 7919) % 1999 - 999);
    values += " values: " + std::to_string(positions.back());
  }
  const StreamedSlice slice = Stream(kRope, "positions {" + values + "}");
  ASSERT_OK(slice.status);
  EXPECT_EQ(slice.chunks.size(), 6u);
  EXPECT_EQ(slice.Data(0), ExpectedPositions(kRope, positions, 0));
  EXPECT_EQ(slice.Data(1), ExpectedPositions(kRope, positions, 1));
  ExpectChecksums(slice);
}

TEST_F(StreamSliceTest, FlattensHeadsAndQueries) {
  const std::string spec = "alibi { heads: 4 max_len: 300 form: ALIBI_FORM_SYMMETRIC }";
  const StreamedSlice slice = Stream(spec, "heads { begin: 1 end: 3 } rows { begin: 290 }");
  ASSERT_OK(slice.status);
  EXPECT_THAT(slice.chunks[0].header().tensors(0).shape(), ElementsAre(2, 10, 300));
  EXPECT_EQ(slice.rows(), 20);
  EXPECT_EQ(slice.Data(0), ExpectedRows(spec, 590, 10) + ExpectedRows(spec, 890, 10));
}

TEST_F(StreamSliceTest, StreamsATableLargerThanTheBudget) {
  Restart({.budget_bytes = size_t{1} << 20});
  const std::string spec = "rope { head_dim: 128 max_len: 20000 }";  // 10 MB
  const StreamedSlice slice = Stream(spec, "");
  ASSERT_OK(slice.status);
  EXPECT_EQ(slice.Data(1), ExpectedRows(spec, 0, 20000, 1));
  EXPECT_LE(store().stats().peak_bytes, size_t{1} << 20);
}

// Compares the chunks of `request` with those that the same request gets without their data.
void ExpectChecksumsOf(const StreamedSlice& whole, const StreamedSlice& checksums) {
  ASSERT_OK(whole.status);
  ASSERT_OK(checksums.status);
  ASSERT_EQ(checksums.chunks.size(), whole.chunks.size());
  for (size_t i = 0; i < whole.chunks.size(); ++i) {
    v1::StreamSliceResponse expected = whole.chunks[i];
    for (v1::Tensor& tensor : *expected.mutable_tensors()) tensor.clear_data();
    EXPECT_EQ(checksums.chunks[i].SerializeAsString(), expected.SerializeAsString()) << i;
  }
}

TEST_F(StreamSliceTest, ChecksumsOnlyLeavesOutNothingButTheData) {
  for (const char* rest : {"", "skip_rows: 500", "skip_rows: 1000",
                           "selection { rows { begin: 100 end: 300 } columns { begin: 3 end: 60 } }",
                           "selection { positions { values: 3 values: -7 values: 3 } }"}) {
    const std::string request = absl::StrCat("spec {", kRope, "} ", rest);
    ExpectChecksumsOf(StreamSlice(request), StreamSlice(request + " checksums_only: true"));
  }
}

TEST_F(StreamSliceTest, WireBytesAreThoseOfProtobuf) {
  const auto request =
      ParseText<v1::StreamSliceRequest>("spec { rope { head_dim: 128 max_len: 300 } }");
  const RawAnswer raw = CallRaw("PositionalEncodingService/StreamSlice", request.SerializeAsString());
  ASSERT_OK(raw.status);
  EXPECT_EQ(raw.messages.size(), 3u);
  for (const std::string& message : raw.messages) {
    v1::StreamSliceResponse chunk;
    ASSERT_TRUE(chunk.ParseFromString(message));
    EXPECT_EQ(chunk.SerializeAsString(), message);
  }
}

}  // namespace
}  // namespace posenc
