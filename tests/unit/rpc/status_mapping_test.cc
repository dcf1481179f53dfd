#include "server/rpc/calls/status_mapping.h"

#include <new>
#include <stdexcept>
#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/status_codec.h"
#include "server/core/limits.h"
#include "server/core/violations.h"
#include "server/rpc/calls/exceptions.h"
#include "tests/support/matchers.h"

namespace posenc {
namespace {

using ::testing::HasSubstr;

TEST(StatusMappingTest, OkHasNoDetails) {
  const grpc::Status status = ToGrpcStatus(absl::OkStatus());
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.error_details(), "");
}

TEST(StatusMappingTest, CodesKeepTheirNumbers) {
  for (int code = 1; code <= 16; ++code) {
    const absl::Status status(static_cast<absl::StatusCode>(code), "text");
    EXPECT_EQ(static_cast<int>(ToGrpcStatus(status).error_code()), code);
  }
}

TEST(StatusMappingTest, ViolationsTravelInTheDetails) {
  Violations bad;
  bad.Add("spec.rope.head_dim", 7, "an even number");
  const grpc::Status sent = ToGrpcStatus(bad.ToStatus());
  const absl::Status received =
      DecodeStatus(sent.error_code(), sent.error_message(), sent.error_details());
  EXPECT_THAT(received, ViolatesField("spec.rope.head_dim"));
  EXPECT_THAT(sent.error_message(), HasSubstr("allowed: an even number"));
}

TEST(StatusMappingTest, LongMessagesAreCut) {
  const grpc::Status status = ToGrpcStatus(absl::InternalError(std::string(5000, 'x')));
  EXPECT_EQ(status.error_message().size(), kMaxStatusMessageBytes);
  EXPECT_LE(status.error_details().size(), limits::kMaxErrorDetailBytes);
}

TEST(StatusMappingTest, OtherBytesThanPrintableAsciiAreEscaped) {
  const grpc::Status status = ToGrpcStatus(absl::InternalError("a\n\xff\"b"));
  EXPECT_EQ(status.error_message(), "a\\x0a\\xff\"b");
}

TEST(StatusMappingTest, ManyViolationsStayWithinTheBudget) {
  Violations bad;
  for (int i = 0; i < 100; ++i) bad.AddText("field", std::string(600, '\x80'));
  const grpc::Status status = ToGrpcStatus(bad.ToStatus());
  EXPECT_LE(status.error_message().size(), kMaxStatusMessageBytes);
  EXPECT_LE(status.error_details().size(), limits::kMaxErrorDetailBytes);
}

absl::Status StatusOfThrown(void (*thrower)()) {
  absl::Status status;
  CatchExceptions(thrower, [&](absl::Status failure) { status = failure; });
  return status;
}

TEST(ExceptionsTest, WantOfMemoryIsResourceExhausted) {
  EXPECT_THAT(StatusOfThrown([] { throw std::bad_alloc(); }),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("memory")));
  EXPECT_THAT(StatusOfThrown([] { throw std::length_error("vector"); }),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("memory")));
}

TEST(ExceptionsTest, OthersAreInternal) {
  EXPECT_THAT(StatusOfThrown([] { throw std::logic_error("why"); }),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("why")));
  EXPECT_THAT(StatusOfThrown([] { throw 1; }),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("unexpected exception")));
}

}  // namespace
}  // namespace posenc
