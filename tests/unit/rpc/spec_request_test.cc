// The memo of specs as requests meet it: whatever the bytes, the answer is that of parsing the whole.

#include "server/rpc/requests/spec_request.h"

#include <string>
#include <variant>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posenc/v1/positional_encoding_service.pb.h"
#include "tests/support/matchers.h"
#include "tests/support/text_proto.h"
#include "tests/unit/rpc/rpc_fixture.h"

namespace posenc {
namespace {

using ::testing::HasSubstr;

std::string Field(int number, const std::string& message) {
  return absl::StrCat(std::string(1, static_cast<char>(number << 3 | 2)),
                      std::string(1, static_cast<char>(message.size())), message);
}
std::string SpecBytes(const std::string& text) {
  return ParseText<v1::TableSpec>(text).SerializeAsString();
}

const std::string kSpec = SpecBytes("sinusoidal { d_model: 16 max_len: 100 }");
const std::string kRows = Field(2, ParseText<v1::Selection>("rows { begin: 3 end: 5 }").SerializeAsString());

class SpecRequestTest : public ::testing::Test {
 protected:
  using Request = SpecRequest<v1::GetSliceRequest>;

  Request Parse(const std::string& bytes) {
    Request request;
    status_ = ParseSpecRequest(bytes, EmptyCatalog(), memo_, request);
    return request;
  }
  int64_t DModel(const Request& request) {
    return std::get<SinusoidalSpec>(request.spec.value()->spec.family).d_model;
  }

  SpecMemo memo_;
  absl::Status status_;
};

TEST_F(SpecRequestTest, TheSecondRequestFindsTheSpecOfTheFirst) {
  const Request first = Parse(Field(1, kSpec) + kRows);
  const Request second = Parse(Field(1, kSpec) + kRows);
  EXPECT_EQ(first.spec.value(), second.spec.value());  // the very object
  EXPECT_EQ(second.fields.selection().rows().begin(), 3);
  EXPECT_EQ(second.spec.value()->key, KeyOf(second.spec.value()->spec));
}

TEST_F(SpecRequestTest, SpecsInOtherPlacesAreParsedAsAWhole) {
  Parse(Field(1, kSpec) + kRows);
  const Request request = Parse(kRows + Field(1, kSpec));
  EXPECT_OK(status_);
  EXPECT_EQ(DModel(request), 16);
  EXPECT_EQ(request.fields.selection().rows().end(), 5);
}

// Protobuf merges them: the last value of each field counts.
TEST_F(SpecRequestTest, SpecsInPiecesAreMerged) {
  const std::string wider = SpecBytes("sinusoidal { d_model: 32 }");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(DModel(Parse(Field(1, kSpec))), 16);
    EXPECT_EQ(DModel(Parse(Field(1, kSpec) + Field(1, wider))), 32);
    EXPECT_EQ(DModel(Parse(Field(1, kSpec) + kRows + Field(1, wider))), 32);
  }
}

TEST_F(SpecRequestTest, UnknownFieldsChangeNothing) {
  const std::string unknown = Field(14, "later");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(DModel(Parse(Field(1, kSpec + unknown) + unknown + kRows)), 16);
    EXPECT_OK(status_);
  }
}

TEST_F(SpecRequestTest, BytesThatAreNoMessageAreRefusedBehindAKnownSpec) {
  Parse(Field(1, kSpec));
  for (const std::string& rest : {std::string("\x0b"), std::string("\x12\x7f"), std::string("\xff\xff")}) {
    Parse(Field(1, kSpec) + rest);
    EXPECT_THAT(status_, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("not a valid GetSliceRequest")));
  }
}

TEST_F(SpecRequestTest, WrongSpecsAreNotKept) {
  const std::string odd = SpecBytes("sinusoidal { d_model: 0 }");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(Parse(Field(1, odd)).spec.status().code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(memo_.Find(odd), nullptr);
}

TEST_F(SpecRequestTest, ARequestWithoutASpecSaysSo) {
  for (const std::string& bytes : {std::string(), kRows, Field(1, "")}) {
    EXPECT_THAT(Parse(bytes).spec.status(),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("family")));
  }
}

TEST_F(SpecRequestTest, SplitsBehindALeadingSpecOnly) {
  EXPECT_EQ(SplitLeadingSpec(Field(1, "abc") + "rest").spec, "abc");
  EXPECT_EQ(SplitLeadingSpec(Field(1, "abc") + "rest").rest, "rest");
  for (const std::string& other : {std::string(), std::string("\x0a"), std::string("\x0a\x04xyz"),
                                   std::string("\x0a\xff\xff\xff\xff\xff\xff"), Field(2, "abc")}) {
    EXPECT_EQ(SplitLeadingSpec(other).spec, "");
    EXPECT_EQ(SplitLeadingSpec(other).rest, other);
  }
}

class RememberedSpecTest : public RpcTest {};

// The memo knows the spec; the store must not know the table any more.
TEST_F(RememberedSpecTest, EvictedTablesStayEvicted) {
  const std::string request = "spec { rope { head_dim: 128 max_len: 128 } }";
  const auto first = GetSlice(request);
  ASSERT_OK(first);
  EXPECT_OK(EvictTables("all: true"));
  EXPECT_EQ(store().stats().resident_blocks, 0);
  // The first call may let go of its table a little after its answer arrived.
  for (int i = 0; i < 1000 && store().stats().generator_bytes > 0; ++i) EXPECT_OK(GetServerInfo());
  EXPECT_EQ(store().stats().generator_bytes, 0u);
  const auto second = GetSlice(request);
  ASSERT_OK(second);
  EXPECT_EQ(second->SerializeAsString(), first->SerializeAsString());
  EXPECT_EQ(store().stats().generated_blocks, 2u);
}

}  // namespace
}  // namespace posenc
