#include "proto/status_codec.h"

#include "google/rpc/error_details.pb.h"
#include "gtest/gtest.h"
#include "server/core/limits.h"
#include "server/core/violations.h"
#include "tests/support/matchers.h"

namespace posenc {
namespace {

google::rpc::Status Parsed(const std::string& details) {
  google::rpc::Status message;
  EXPECT_TRUE(message.ParseFromString(details));
  return message;
}

absl::Status Refusal(int fields, size_t description_bytes) {
  Violations bad;
  for (int i = 0; i < fields; ++i) {
    bad.AddText(absl::StrCat("field", i), std::string(description_bytes, 'x'));
  }
  return bad.ToStatus();
}

TEST(StatusCodecTest, ErrorInfoNamesCodeAndDomain) {
  const google::rpc::Status message = Parsed(EncodeStatusDetails(absl::NotFoundError("no table")));
  google::rpc::ErrorInfo info;
  ASSERT_EQ(message.details_size(), 1);
  ASSERT_TRUE(message.details(0).UnpackTo(&info));
  EXPECT_EQ(message.code(), 5);
  EXPECT_EQ(info.reason(), "NOT_FOUND");
  EXPECT_EQ(info.domain(), "posenc");
}

TEST(StatusCodecTest, ViolationsRoundTrip) {
  const absl::Status status = Refusal(3, 20);
  const absl::Status decoded = DecodeStatus(static_cast<int>(status.code()), status.message(),
                                            EncodeStatusDetails(status));
  EXPECT_EQ(decoded, status);
  EXPECT_EQ(FieldViolationsOf(decoded).size(), 3u);
}

TEST(StatusCodecTest, DetailsNeverExceedTheCap) {
  for (int fields : {1, 5, 10, 100}) {
    for (size_t bytes : {size_t{0}, size_t{150}, size_t{1000}, size_t{100000}}) {
      const std::string details = EncodeStatusDetails(Refusal(fields, bytes));
      EXPECT_LE(details.size(), limits::kMaxErrorDetailBytes);
      EXPECT_GE(Parsed(details).details_size(), 2);
    }
  }
}

TEST(StatusCodecTest, CutsBetweenCharacters) {
  for (int shift = 0; shift < 3; ++shift) {
    std::string text(shift, 'x');
    for (int i = 0; i < 1000; ++i) text += "€";
    Violations bad;
    bad.AddText("field", text);
    const absl::Status decoded =
        DecodeStatus(3, "", EncodeStatusDetails(bad.ToStatus()));
    EXPECT_THAT(decoded, ViolatesField("field"));
  }
}

TEST(StatusCodecTest, DetailsThatDoNotParseAreIgnored) {
  const absl::Status decoded = DecodeStatus(3, "bad", "\xff\xff\xff");
  EXPECT_THAT(decoded, StatusIs(absl::StatusCode::kInvalidArgument, "bad"));
  EXPECT_TRUE(FieldViolationsOf(decoded).empty());
}

}  // namespace
}  // namespace posenc
