#include "server/core/violations.h"

#include "gtest/gtest.h"
#include "server/core/limits.h"
#include "tests/support/matchers.h"

namespace posenc {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(ViolationsTest, NoneIsOk) { EXPECT_OK(Violations().ToStatus()); }

TEST(ViolationsTest, StatusNamesFieldValueAndWhatIsAllowed) {
  Violations bad;
  bad.Add("rope.head_dim", 7, "an even number");
  EXPECT_THAT(bad.ToStatus(), StatusIs(absl::StatusCode::kInvalidArgument,
                                       "rope.head_dim is 7; allowed: an even number"));
}

TEST(ViolationsTest, DoublesHaveAllTheirDigits) {
  Violations bad;
  bad.Add("base", 0.9999999999999999, "1 and up");
  bad.Add("factor", 1234567.5, "less");
  bad.Add("shift", 1e22, "less");
  bad.Add("centre", -0x1p53, "more");
  EXPECT_THAT(bad.ToStatus(), StatusIs(absl::StatusCode::kInvalidArgument,
                                       "base is 0.9999999999999999; allowed: 1 and up; "
                                       "factor is 1234567.5; allowed: less; shift is 1e+22; allowed: less; "
                                       "centre is -9007199254740992; allowed: more"));
}

TEST(ViolationsTest, StatusCarriesEveryViolation) {
  Violations bad;
  bad.Add("a", 1, "2");
  bad.AddText("b.c[3]", "is missing");
  const std::vector<FieldViolation> carried = FieldViolationsOf(bad.ToStatus());
  ASSERT_THAT(carried, SizeIs(2));
  EXPECT_EQ(carried[0].field, "a");
  EXPECT_EQ(carried[0].description, "is 1; allowed: 2");
  EXPECT_EQ(carried[1].field, "b.c[3]");
  EXPECT_EQ(carried[1].description, "is missing");
}

TEST(ViolationsTest, TakesTheCodeGiven) {
  Violations bad;
  bad.Add("a", 1, "2");
  EXPECT_EQ(bad.ToStatus(absl::StatusCode::kOutOfRange).code(), absl::StatusCode::kOutOfRange);
}

TEST(ViolationsTest, ReportsTheFirstOnesAndCountsTheRest) {
  Violations bad;
  for (int i = 0; i < 1000; ++i) bad.Add(absl::StrCat("f", i), i, "none");
  const absl::Status status = bad.ToStatus();
  EXPECT_THAT(FieldViolationsOf(status), SizeIs(limits::kMaxReportedViolations));
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("and 990 more")));
}

TEST(ViolationsTest, PrefixGoesBeforeEveryPath) {
  Violations bad;
  bad.Add("rope.base", 0.5, "1 and up");
  bad.Add("rope.max_len", 0, "1 and up");
  const absl::Status status = PrefixFields(bad.ToStatus(), "spec");
  EXPECT_THAT(status, ViolatesField("spec.rope.base"));
  EXPECT_THAT(status, ViolatesField("spec.rope.max_len"));
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("spec.rope.base is 0.5")));
}

TEST(ViolationsTest, PrefixLeavesOtherStatusesAlone) {
  const absl::Status status = absl::InternalError("x");
  EXPECT_EQ(PrefixFields(status, "spec"), status);
  EXPECT_OK(PrefixFields(absl::OkStatus(), "spec"));
  EXPECT_THAT(FieldViolationsOf(status), SizeIs(0));
}

}  // namespace
}  // namespace posenc
