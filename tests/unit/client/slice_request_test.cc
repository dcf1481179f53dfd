#include "client/remote/slice_request.h"

#include <string>

#include "gtest/gtest.h"
#include "posenc/v1/positional_encoding_service.pb.h"
#include "proto/selection_codec.h"
#include "proto/spec_codec.h"

namespace posenc {
namespace {

TEST(SliceRequestTest, ParsesAsTheMessage) {
  const TableSpec spec{.family = RopeSpec{.head_dim = 128, .base = 5e5}, .element_type = ElementType::kBF16};
  for (const Selection& selection :
       {Selection(), Selection{.rows = Range{.begin = 3, .end = 5}, .columns = Range{.begin = 1}},
        Selection{.positions = {7, -3, int64_t{1} << 52}}}) {
    v1::GetSliceRequest expected;
    *expected.mutable_spec() = EncodeSpec(spec);
    *expected.mutable_selection() = EncodeSelection(selection);
    v1::GetSliceRequest parsed;
    ASSERT_TRUE(parsed.ParseFromString(GetSliceRequestBytes(spec, selection)));
    EXPECT_EQ(parsed.DebugString(), expected.DebugString());
  }
}

// Where the server looks for a spec that it knows, equal for equal specs.
TEST(SliceRequestTest, BeginsWithTheSpec) {
  const TableSpec spec{.family = AlibiSpec{.heads = 12}};
  const std::string all = GetSliceRequestBytes(spec, Selection());
  const std::string some = GetSliceRequestBytes(spec, Selection{.heads = Range{.begin = 3}});
  EXPECT_EQ(all[0], (v1::GetSliceRequest::kSpecFieldNumber << 3) | 2);
  const size_t spec_bytes = 2 + static_cast<unsigned char>(all[1]);
  EXPECT_EQ(some.substr(0, spec_bytes), all.substr(0, spec_bytes));
}

}  // namespace
}  // namespace posenc
