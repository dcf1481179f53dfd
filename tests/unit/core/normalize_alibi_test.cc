#include <limits>

#include "gtest/gtest.h"
#include "server/core/limits.h"
#include "server/core/specs/normalize.h"
#include "tests/support/matchers.h"

namespace posenc {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

AlibiSpec Normalized(AlibiSpec spec) {
  const absl::StatusOr<TableSpec> normalized = Normalize({.family = spec});
  EXPECT_OK(normalized);
  return normalized.ok() ? std::get<AlibiSpec>(normalized->family) : AlibiSpec();
}

TEST(NormalizeAlibiTest, RefusesEveryFieldOutOfItsRange) {
  const std::vector<std::pair<const char*, AlibiSpec>> cases = {
      {"alibi.heads", {.heads = 0}},
      {"alibi.heads", {.heads = -12}},
      {"alibi.heads", {.heads = std::numeric_limits<int64_t>::min()}},
      {"alibi.heads", {.heads = limits::kMaxHeads + 1}},
      {"alibi.max_len", {.heads = 8, .max_len = 0}},
      {"alibi.max_len", {.heads = 8, .max_len = limits::kMaxBiasLen + 1}},
      {"alibi.bias_max", {.heads = 8, .bias_max = 0}},
      {"alibi.bias_max", {.heads = 8, .bias_max = -8}},
      {"alibi.bias_max", {.heads = 8, .bias_max = 101}},
      {"alibi.bias_max", {.heads = 8, .bias_max = kNaN}},
      {"alibi.masked", {.heads = 8, .form = AlibiForm::kSymmetric, .masked = true}},
      {"alibi.masked", {.heads = 8, .form = AlibiForm::kSlopes, .masked = true}},
  };
  for (const auto& [field, spec] : cases) {
    const absl::StatusOr<TableSpec> result = Normalize({.family = spec});
    EXPECT_THAT(result, ViolatesField(field));
    EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST(NormalizeAlibiTest, TakesTheEndsOfEveryRange) {
  const std::vector<AlibiSpec> cases = {
      {.heads = 1},
      {.heads = limits::kMaxHeads},
      {.heads = 8, .max_len = 1},
      {.heads = 8, .max_len = limits::kMaxBiasLen},
      {.heads = 8, .bias_max = 1e-3},
      {.heads = 8, .bias_max = limits::kMaxBiasMax},
      {.heads = 8, .masked = true},
  };
  for (const AlibiSpec& spec : cases) EXPECT_OK(Normalize({.family = spec}));
}

TEST(NormalizeAlibiTest, RulesAreOneForPowersOfTwo) {
  EXPECT_EQ(Normalized({.heads = 8, .slope_rule = AlibiSlopeRule::kGeometric}).slope_rule,
            AlibiSlopeRule::kPaper);
  EXPECT_EQ(Normalized({.heads = 12, .slope_rule = AlibiSlopeRule::kGeometric}).slope_rule,
            AlibiSlopeRule::kGeometric);
}

TEST(NormalizeAlibiTest, SlopesDoNotDependOnTheLength) {
  EXPECT_EQ(Normalized({.heads = 8, .max_len = 77, .form = AlibiForm::kSlopes}).max_len,
            AlibiSpec().max_len);
}

}  // namespace
}  // namespace posenc
