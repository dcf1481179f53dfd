#include <string>
#include <vector>

#include "tests/unit/rpc/rpc_fixture.h"

namespace posenc {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class GetSliceTest : public RpcTest {
 protected:
  // The data of a tensor of a slice; empty with a failure when the call fails.
  std::string Data(const std::string& spec, const std::string& selection, int tensor = 0) {
    const auto slice = GetSlice("spec {" + spec + "} selection {" + selection + "}");
    EXPECT_OK(slice);
    return slice.ok() ? slice->tensors(tensor).data() : "";
  }
};

// Rows of 512 bytes over two tensors of 256: 128 rows a block of 64 KiB.
constexpr char kRope[] = "rope { head_dim: 128 max_len: 1000 }";

TEST_F(GetSliceTest, ReturnsTheRowsAskedFor) {
  const auto slice = GetSlice("spec { rope { head_dim: 128 } } selection { rows { begin: 3 end: 5 } }");
  ASSERT_OK(slice);
  EXPECT_EQ(slice->table_key().size(), 64u);
  ASSERT_EQ(slice->tensors_size(), 2);
  EXPECT_EQ(slice->tensors(0).name(), "cos");
  EXPECT_EQ(slice->tensors(1).name(), "sin");
  EXPECT_EQ(slice->tensors(0).element_type(), v1::ELEMENT_TYPE_F32);
  EXPECT_THAT(slice->tensors(0).shape(), ElementsAre(2, 64));
  EXPECT_EQ(slice->tensors(0).data(), ExpectedRows("rope { head_dim: 128 }", 3, 2, 0));
  EXPECT_EQ(slice->tensors(1).data(), ExpectedRows("rope { head_dim: 128 }", 3, 2, 1));
}

TEST_F(GetSliceTest, SpansBlocks) {
  for (const int tensor : {0, 1}) {
    EXPECT_EQ(Data(kRope, "rows { begin: 100 end: 900 }", tensor), ExpectedRows(kRope, 100, 800, tensor));
    EXPECT_EQ(Data(kRope, "", tensor), ExpectedRows(kRope, 0, 1000, tensor));
  }
}

TEST_F(GetSliceTest, WireBytesAreThoseOfProtobuf) {
  v1::GetSliceRequest request;
  request.mutable_spec()->mutable_rope()->set_head_dim(128);
  request.mutable_selection()->mutable_rows()->set_begin(100);
  request.mutable_selection()->mutable_rows()->set_end(700);
  const RawAnswer raw = CallRaw("PositionalEncodingService/GetSlice", request.SerializeAsString());
  ASSERT_OK(raw.status);
  ASSERT_EQ(raw.messages.size(), 1u);
  v1::GetSliceResponse parsed;
  ASSERT_TRUE(parsed.ParseFromString(raw.messages[0]));
  EXPECT_EQ(parsed.SerializeAsString(), raw.messages[0]);
}

TEST_F(GetSliceTest, CutsColumns) {
  const std::string rows = ExpectedRows(kRope, 120, 300, 1);
  EXPECT_EQ(Data(kRope, "rows { begin: 120 end: 420 } columns { begin: 5 end: 9 }", 1),
            CutRows(rows, 256, 20, 36));
}

TEST_F(GetSliceTest, CutsColumnsOfPairs) {
  const std::string spec = "rope { head_dim: 64 layout: ROPE_LAYOUT_PAIRS }";
  const auto slice =
      GetSlice("spec {" + spec + "} selection { rows { end: 4 } columns { begin: 30 } }");
  ASSERT_OK(slice);
  EXPECT_THAT(slice->tensors(0).shape(), ElementsAre(4, 2, 2));
  EXPECT_EQ(slice->tensors(0).data(), CutRows(ExpectedRows(spec, 0, 4), 256, 240, 256));
}

TEST_F(GetSliceTest, GathersPositionsNegativeOnesToo) {
  const std::vector<int64_t> positions = {7, -3, 999, 7, 0, -999};
  for (const int tensor : {0, 1}) {
    EXPECT_EQ(Data(kRope, "positions { values: [7, -3, 999, 7, 0, -999] }", tensor),
              ExpectedPositions(kRope, positions, tensor));
  }
}

TEST_F(GetSliceTest, GatherIsTheSameFromResidentBlocks) {
  const std::string selection = "positions { values: [127, 128, 5, -1, 6, 999] }";
  const std::string generated = Data(kRope, selection);
  Data(kRope, "rows { begin: 0 end: 200 }");  // two of the blocks are resident now
  EXPECT_EQ(Data(kRope, selection), generated);
}

TEST_F(GetSliceTest, GathersCutColumns) {
  const std::vector<int64_t> positions = {130, -2, 5};
  Data(kRope, "rows { begin: 0 end: 100 }");
  EXPECT_EQ(Data(kRope, "positions { values: [130, -2, 5] } columns { begin: 60 }"),
            CutRows(ExpectedPositions(kRope, positions), 256, 240, 256));
}

TEST_F(GetSliceTest, GatherBuildsNoBlock) {
  Data(kRope, "positions { values: [1, 500] }");
  EXPECT_EQ(store().stats().generated_blocks, 0u);
}

TEST_F(GetSliceTest, ReturnsQueriesOfSomeHeads) {
  const std::string spec = "alibi { heads: 8 max_len: 100 }";
  const auto slice = GetSlice("spec {" + spec +
                              "} selection { heads { begin: 2 end: 4 } rows { begin: 98 } keys { end: 10 } }");
  ASSERT_OK(slice);
  EXPECT_THAT(slice->tensors(0).shape(), ElementsAre(2, 2, 10));
  const std::string rows = ExpectedRows(spec, 298, 2) + ExpectedRows(spec, 398, 2);
  EXPECT_EQ(slice->tensors(0).data(), CutRows(rows, 400, 0, 40));
}

TEST_F(GetSliceTest, ReturnsTheOneRowOfFrequencies) {
  const std::string spec = "rope { head_dim: 64 layout: ROPE_LAYOUT_FREQUENCIES }";
  const auto slice = GetSlice("spec {" + spec + "}");
  ASSERT_OK(slice);
  EXPECT_THAT(slice->tensors(0).shape(), ElementsAre(32));
  EXPECT_EQ(slice->tensors(0).data(), ExpectedRows(spec, 0, 1));
}

TEST_F(GetSliceTest, EmptyAnswersAreFine) {
  for (const char* selection : {"rows { begin: 5 end: 5 }", "columns { begin: 64 }", "rows { begin: 1000 }"}) {
    const auto slice = GetSlice(std::string("spec {") + kRope + "} selection {" + selection + "}");
    ASSERT_OK(slice);
    EXPECT_EQ(slice->tensors(0).data(), "");
    EXPECT_THAT(slice->tensors(0).shape(), testing::Contains(0));
  }
}

TEST_F(GetSliceTest, OverTheCapNamesBytesCapAndStreamSlice) {
  const auto refused = GetSlice("spec { rope { head_dim: 128 max_len: 8192 } }");
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kFailedPrecondition,
                                AllOf(HasSubstr("4194304"), HasSubstr("4193280"), HasSubstr("StreamSlice"))));
  EXPECT_OK(GetSlice("spec { rope { head_dim: 128 max_len: 8190 } }"));
  EXPECT_EQ(store().stats().rejected_too_large, 0u);
}

TEST_F(GetSliceTest, PositionsOfMoreWorkThanAllowedAreRefusedHoweverSmallTheAnswer) {
  std::string values;
  for (int i = 0; i <= 4096; ++i) values += " values: 3";
  const auto refused = GetSlice("spec { sinusoidal { d_model: 65536 } } selection { columns { end: 1 } positions {" +
                                values + " } }");
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kInvalidArgument,
                                AllOf(HasSubstr("has 4097 entries of 262144 bytes"),
                                      HasSubstr("allowed: at most 4096"), HasSubstr("StreamSlice"))));
  EXPECT_THAT(refused, ViolatesField("selection.positions"));
}

TEST_F(GetSliceTest, CutColumnsOfMoreWorkThanAllowedAreToldToStream) {
  // 40000 rows of 32 KiB for an answer of 160 kB.
  const auto refused = GetSlice("spec { sinusoidal { d_model: 8192 max_len: 1000000 } } "
                                "selection { columns { end: 1 } rows { end: 40000 } }");
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kFailedPrecondition,
                                AllOf(HasSubstr("1310720000 bytes"), HasSubstr("StreamSlice"))));
}

TEST_F(GetSliceTest, SizesBeyond64BitsAreOverTheCapToo) {
  // 2^53 rows of 2^19 bytes: the product does not fit 64 bits.
  EXPECT_THAT(GetSlice("spec { rope { head_dim: 65536 max_len: 9007199254740992 "
                       "layout: ROPE_LAYOUT_SPLIT_DUPLICATED } element_type: ELEMENT_TYPE_F64 }")
                  .status()
                  .code(),
              absl::StatusCode::kFailedPrecondition);
}

TEST_F(GetSliceTest, OverTheBudgetIsResourceExhausted) {
  Restart({.budget_bytes = size_t{1} << 20, .max_memory_wait = absl::Milliseconds(50)});
  EXPECT_THAT(GetSlice("spec { rope { head_dim: 128 max_len: 8000 } }"),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       AllOf(HasSubstr("needs 3.906 MiB"), HasSubstr("memory budget is 1 MiB"))));
  EXPECT_OK(GetSlice("spec { rope { head_dim: 128 max_len: 500 } }"));
}

TEST_F(GetSliceTest, ACutSliceOfALongTableNeedsOneBlockAtATime) {
  Restart({.budget_bytes = size_t{2} << 20});
  const std::string spec = "rope { head_dim: 128 max_len: 40000 }";  // 20 MB
  EXPECT_EQ(Data(spec, "columns { end: 1 }"), CutRows(ExpectedRows(spec, 0, 40000), 256, 0, 4));
}

}  // namespace
}  // namespace posenc
