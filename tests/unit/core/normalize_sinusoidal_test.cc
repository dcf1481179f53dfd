#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "server/core/limits.h"
#include "server/core/specs/normalize.h"
#include "server/core/table_key.h"
#include "tests/support/matchers.h"

namespace posenc {
namespace {

constexpr int64_t kMaxPosition = limits::kMaxPosition;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

SinusoidalSpec Normalized(SinusoidalSpec spec) {
  const absl::StatusOr<TableSpec> normalized = Normalize({.family = spec});
  EXPECT_OK(normalized);
  return normalized.ok() ? std::get<SinusoidalSpec>(normalized->family) : SinusoidalSpec();
}

struct Refusal {
  const char* field;
  SinusoidalSpec spec;
};

TEST(NormalizeSinusoidalTest, RefusesEveryFieldOutOfItsRange) {
  const std::vector<Refusal> cases = {
      {"sinusoidal.d_model", {.d_model = 0}},
      {"sinusoidal.d_model", {.d_model = -2}},
      {"sinusoidal.d_model", {.d_model = limits::kMaxWidth + 2}},
      {"sinusoidal.d_model", {.d_model = std::numeric_limits<int64_t>::min()}},
      {"sinusoidal.d_model", {.d_model = 7}},
      {"sinusoidal.d_model", {.d_model = 1, .order = SinusoidalOrder::kCosSin}},
      {"sinusoidal.max_len", {.d_model = 8, .max_len = 0}},
      {"sinusoidal.max_len", {.d_model = 8, .max_len = -1}},
      {"sinusoidal.max_len", {.d_model = 8, .max_len = kMaxPosition + 1}},
      {"sinusoidal.max_len", {.d_model = 8, .max_len = 2, .first_position = kMaxPosition - 1}},
      {"sinusoidal.base", {.d_model = 8, .base = 0.5}},
      {"sinusoidal.base", {.d_model = 8, .base = 0}},
      {"sinusoidal.base", {.d_model = 8, .base = -10000}},
      {"sinusoidal.base", {.d_model = 8, .base = 2e30}},
      {"sinusoidal.base", {.d_model = 8, .base = kNaN}},
      {"sinusoidal.base", {.d_model = 8, .base = kInf}},
      {"sinusoidal.frequency_shift", {.d_model = 8, .frequency_shift = -1}},
      {"sinusoidal.frequency_shift", {.d_model = 8, .frequency_shift = 2000}},
      {"sinusoidal.frequency_shift", {.d_model = 8, .frequency_shift = kNaN}},
      {"sinusoidal.frequency_shift", {.d_model = 8, .frequency_shift = 4}},
      {"sinusoidal.frequency_shift", {.d_model = 2, .frequency_shift = 1}},
      {"sinusoidal.first_position", {.d_model = 8, .first_position = -kMaxPosition - 1}},
      {"sinusoidal.first_position", {.d_model = 8, .first_position = kMaxPosition + 1}},
      {"sinusoidal.zero_row", {.d_model = 8, .zero_row = -1}},
      {"sinusoidal.position_scale", {.d_model = 8, .position_scale = 0}},
      {"sinusoidal.position_scale", {.d_model = 8, .position_scale = -1}},
      {"sinusoidal.position_scale", {.d_model = 8, .position_scale = 1e10}},
      {"sinusoidal.position_scale", {.d_model = 8, .position_scale = kNaN}},
      {"sinusoidal.row_scale", {.d_model = 8, .row_scale = 0}},
      {"sinusoidal.row_scale", {.d_model = 8, .row_scale = 1e7}},
      {"sinusoidal.row_scale", {.d_model = 8, .row_scale = kNaN}},
  };
  for (const Refusal& refusal : cases) {
    const absl::StatusOr<TableSpec> result = Normalize({.family = refusal.spec});
    EXPECT_THAT(result, ViolatesField(refusal.field));
    EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST(NormalizeSinusoidalTest, TakesTheEndsOfEveryRange) {
  const std::vector<SinusoidalSpec> cases = {
      {.d_model = 2},
      {.d_model = limits::kMaxWidth},
      {.d_model = 8, .max_len = 1},
      {.d_model = 8, .max_len = kMaxPosition},
      {.d_model = 8, .max_len = 2 * 1000, .first_position = kMaxPosition - 2000},
      {.d_model = 8, .first_position = -kMaxPosition},
      {.d_model = 8, .base = 1},
      {.d_model = 8, .base = 1e30},
      {.d_model = 8, .frequency_shift = 3.5},
      {.d_model = 8, .position_scale = limits::kMinFrequency},
      {.d_model = 8, .row_scale = limits::kMinRowScale},
      {.d_model = 8, .row_scale = limits::kMaxRowScale},
      {.d_model = 2, .frequency_shift = 1, .clamp_denominator = true},
  };
  for (const SinusoidalSpec& spec : cases) EXPECT_OK(Normalize({.family = spec}));
}

TEST(NormalizeSinusoidalTest, RefusesOddWidthRulesThatDoNotApply) {
  const std::vector<Refusal> cases = {
      {"sinusoidal.d_model", {.d_model = 7, .odd_width = OddWidth::kReject}},
      {"sinusoidal.d_model", {.d_model = 1, .odd_width = OddWidth::kZeroColumn}},
      {"sinusoidal.frequency_shift",
       {.d_model = 7, .frequency_shift = 1, .odd_width = OddWidth::kExtraSine}},
      {"sinusoidal.frequency_shift",
       {.d_model = 7, .frequency_shift = 1, .odd_width = OddWidth::kDropCosine}},
      {"sinusoidal.order",
       {.d_model = 7, .order = SinusoidalOrder::kCosSin, .odd_width = OddWidth::kExtraSine}},
      {"sinusoidal.order",
       {.d_model = 7, .order = SinusoidalOrder::kCosSin, .odd_width = OddWidth::kDropCosine}},
  };
  for (const Refusal& refusal : cases) {
    EXPECT_THAT(Normalize({.family = refusal.spec}), ViolatesField(refusal.field));
  }
}

TEST(NormalizeSinusoidalTest, OddWidthFollowsOrderAndShift) {
  const SinusoidalSpec marian{.d_model = 7, .order = SinusoidalOrder::kSinCos};
  const SinusoidalSpec fairseq{
      .d_model = 7, .order = SinusoidalOrder::kSinCos, .frequency_shift = 1};
  const SinusoidalSpec diffusers{.d_model = 7, .order = SinusoidalOrder::kCosSin};
  EXPECT_EQ(Normalized(marian).odd_width, OddWidth::kExtraSine);
  EXPECT_EQ(Normalized(fairseq).odd_width, OddWidth::kZeroColumn);
  EXPECT_EQ(Normalized(diffusers).odd_width, OddWidth::kZeroColumn);
}

TEST(NormalizeSinusoidalTest, RemovesWhatChangesNothing) {
  EXPECT_EQ(Normalized({.d_model = 8, .odd_width = OddWidth::kExtraSine}).odd_width,
            OddWidth::kReject);
  EXPECT_FALSE(Normalized({.d_model = 8, .clamp_denominator = true}).clamp_denominator);
  EXPECT_FALSE(Normalized({.d_model = 8, .max_len = 4, .zero_row = 4}).zero_row.has_value());
  EXPECT_EQ(Normalized({.d_model = 8, .max_len = 4, .zero_row = 3}).zero_row, 3);
  EXPECT_FALSE(std::signbit(Normalized({.d_model = 8, .frequency_shift = -0.0}).frequency_shift));
}

TEST(NormalizeSinusoidalTest, ReportsEveryWrongFieldAtOnce) {
  const absl::StatusOr<TableSpec> result =
      Normalize({.family = SinusoidalSpec{.d_model = 0, .max_len = 0, .base = 0, .row_scale = 0}});
  for (const char* field : {"d_model", "max_len", "base", "row_scale"}) {
    EXPECT_THAT(result, ViolatesField(absl::StrCat("sinusoidal.", field)));
  }
}

TEST(NormalizeSinusoidalTest, TwiceIsOnce) {
  const TableSpec odd{.family = SinusoidalSpec{.d_model = 7, .order = SinusoidalOrder::kCosSin}};
  const absl::StatusOr<TableSpec> once = Normalize(odd);
  ASSERT_OK(once);
  ASSERT_OK(Normalize(*once));
  EXPECT_EQ(CanonicalText(*Normalize(*once)), CanonicalText(*once));
}

TEST(NormalizeSinusoidalTest, RefusesComplexElements) {
  for (ElementType type : {ElementType::kComplex64, ElementType::kComplex128}) {
    EXPECT_THAT(Normalize({.family = SinusoidalSpec{.d_model = 8}, .element_type = type}),
                ViolatesField("element_type"));
  }
}

}  // namespace
}  // namespace posenc
