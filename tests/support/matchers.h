// Matchers for absl::Status and StatusOr, which this Abseil does not bring.

#ifndef POSENC_TESTS_SUPPORT_MATCHERS_H_
#define POSENC_TESTS_SUPPORT_MATCHERS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "server/core/violations.h"

namespace posenc {

inline const absl::Status& StatusOf(const absl::Status& status) { return status; }
template <typename T>
const absl::Status& StatusOf(const absl::StatusOr<T>& result) {
  return result.status();
}

// Matches a Status or StatusOr that is OK.
MATCHER(IsOk, "is OK") {
  *result_listener << StatusOf(arg).ToString();
  return StatusOf(arg).ok();
}

// Matches a Status or StatusOr with the code and a message that `message` matches.
MATCHER_P2(StatusIs, code, message, "has the code and a message as told") {
  *result_listener << StatusOf(arg).ToString();
  const std::string text(StatusOf(arg).message());
  return StatusOf(arg).code() == code && ::testing::Value(text, message);
}

// Matches a Status or StatusOr that carries a violation of the field `field`.
MATCHER_P(ViolatesField, field, std::string("violates the field ") + std::string(field)) {
  *result_listener << StatusOf(arg).ToString();
  for (const FieldViolation& violation : FieldViolationsOf(StatusOf(arg))) {
    if (violation.field == field) return true;
  }
  return false;
}

}  // namespace posenc

#define ASSERT_OK(expression) ASSERT_THAT(expression, ::posenc::IsOk())
#define EXPECT_OK(expression) EXPECT_THAT(expression, ::posenc::IsOk())

#endif  // POSENC_TESTS_SUPPORT_MATCHERS_H_
