#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posenc/ops.h"
#include "tests/support/matchers.h"
#include "tests/unit/client/ops/numbers.h"

namespace posenc {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <typename T>
class AddEncodingTest : public ::testing::Test {};
TYPED_TEST_SUITE(AddEncodingTest, NumberTypes, NumberTypeNames);

// What the sum must be: rounded to F32, then to the type.
template <typename T>
double Sum(double x, double addend) {
  return RoundTo<T>(RoundTo<float>(x + addend));
}

TYPED_TEST(AddEncodingTest, AddsRowsFromTheFirstOnToEveryBatch) {
  for (int64_t width = 1; width <= 40; ++width) {
    const std::vector<TypeParam> x = Random<TypeParam>(2 * 3 * width, width);
    const std::vector<float> table = Random<float>(5 * width, width + 1);
    std::vector<TypeParam> sum = x;
    ASSERT_OK(
        AddEncoding(sum, table, {.batch = 2, .seq_len = 3, .d_model = width, .first_row = 2}));
    for (int64_t i = 0; i < 6 * width; ++i) {
      const double addend = table[2 * width + i % (3 * width)];
      ASSERT_EQ(static_cast<float>(sum[i]), Sum<TypeParam>(static_cast<float>(x[i]), addend))
          << width;
    }
  }
}

TYPED_TEST(AddEncodingTest, TakesATableOfItsOwnType) {
  const std::vector<TypeParam> x = Random<TypeParam>(37, 1), table = Random<TypeParam>(37, 2);
  std::vector<TypeParam> sum(37);
  ASSERT_OK(AddEncoding(x, table, {.seq_len = 1, .d_model = 37}, sum));
  for (int i = 0; i < 37; ++i) {
    const double expected = Sum<TypeParam>(static_cast<float>(x[i]), static_cast<float>(table[i]));
    EXPECT_EQ(static_cast<float>(sum[i]), expected);
  }
}

TYPED_TEST(AddEncodingTest, KeepsInfinitiesAndNaNs) {
  const auto infinity = std::is_same_v<TypeParam, Half> ? 0x7c00 : 0x7f80;
  std::vector<TypeParam> x(20);
  if constexpr (std::is_same_v<TypeParam, float>) {
    x[3] = std::numeric_limits<float>::infinity();
    x[18] = std::numeric_limits<float>::quiet_NaN();
  } else {
    x[3].bits = infinity;
    x[18].bits = infinity + 1;
  }
  const TypeParam before = x[3];
  ASSERT_OK(AddEncoding(x, std::vector<float>(20, 1.0f), {.seq_len = 1, .d_model = 20}));
  EXPECT_EQ(x[3], before);
  EXPECT_TRUE(std::isnan(static_cast<float>(x[18])));
  EXPECT_EQ(static_cast<float>(x[19]), 1.0f);
}

TEST(AddEncodingRowsTest, TakesARowForEachToken) {
  std::vector<float> x(6, 0.0f);
  const std::vector<int64_t> rows = {2, 0, 1, 1, 2, 2};
  ASSERT_OK(AddEncoding(x, std::vector{10.0f, 11.0f, 12.0f},
                        {.batch = 2, .seq_len = 3, .d_model = 1, .rows = rows}));
  EXPECT_THAT(x, ElementsAre(12, 10, 11, 11, 12, 12));
}

TEST(AddEncodingRowsTest, ListOfOneSequenceIsForEveryBatch) {
  std::vector<float> x(4, 0.0f);
  const std::vector<int64_t> rows = {1, 0};
  ASSERT_OK(AddEncoding(x, std::vector{10.0f, 11.0f},
                        {.batch = 2, .seq_len = 2, .d_model = 1, .rows = rows}));
  EXPECT_THAT(x, ElementsAre(11, 10, 11, 10));
}

TEST(AddEncodingRowsTest, ScalesXBeforeAdding) {
  std::vector<float> x = {1.0f, 2.0f};
  ASSERT_OK(AddEncoding(x, std::vector{0.5f, 0.25f}, {.seq_len = 1, .d_model = 2, .x_scale = 3.0}));
  EXPECT_THAT(x, ElementsAre(3.5f, 6.25f));
}

TEST(AddEncodingRowsTest, EmptySequencesAreFine) {
  std::vector<float> x;
  EXPECT_OK(AddEncoding(x, std::vector{0.5f, 0.25f}, {.seq_len = 0, .d_model = 2}));
  EXPECT_OK(AddEncoding(x, std::vector{0.5f, 0.25f}, {.batch = 0, .seq_len = 3, .d_model = 2}));
}

std::vector<float> DropOnes(size_t size, const Dropout& dropout) {
  std::vector<float> x(size, 1.0f);
  const std::vector<float> zeros(size, 0.0f);
  EXPECT_OK(AddEncoding(x, zeros, {.seq_len = 1, .d_model = int64_t(size), .dropout = dropout}));
  return x;
}

// SplitMix64 of the seed 1234567 begins 6457827717110365317, 3203168211198807973,
// 9817491932198370423, 4593380528125082431, 16408922859458223821: 0.350, 0.174, 0.532, 0.249, 0.890
// of 2^64.
TEST(DropoutTest, DropsBySplitMix64OfTheElement) {
  const float kept = 1 / 0.7f;
  EXPECT_THAT(DropOnes(5, {.probability = 0.3, .seed = 1234567}),
              ElementsAre(kept, 0, kept, 0, kept));
  EXPECT_THAT(DropOnes(5, {.probability = 0.5, .seed = 1234567}), ElementsAre(0, 0, 2, 0, 2));
}

TEST(DropoutTest, GoesOnAtTheFirstElement) {
  const std::vector<float> whole = DropOnes(100, {.probability = 0.4, .seed = 7});
  const std::vector<float> rest =
      DropOnes(60, {.probability = 0.4, .seed = 7, .first_element = 40});
  EXPECT_EQ(std::vector<float>(whole.begin() + 40, whole.end()), rest);
}

TEST(DropoutTest, CountsElementsOverBatchesAndTokens) {
  std::vector<float> x(24, 1.0f);
  ASSERT_OK(AddEncoding(
      x, std::vector<float>(12, 0.0f),
      {.batch = 2, .seq_len = 3, .d_model = 4, .dropout = Dropout{.probability = 0.5, .seed = 3}}));
  EXPECT_EQ(x, DropOnes(24, {.probability = 0.5, .seed = 3}));
}

// Five standard deviations of the count are 5 · sqrt(10^6 · 0.1 · 0.9) = 1500.
TEST(DropoutTest, DropsItsShare) {
  const std::vector<float> x = DropOnes(1000000, {.probability = 0.1, .seed = 99});
  EXPECT_NEAR(static_cast<double>(std::count(x.begin(), x.end(), 0.0f)), 100000, 1500);
}

TEST(DropoutTest, DropsNothingOutsideOfTrainingAndEverythingAtOne) {
  EXPECT_THAT(DropOnes(50, {.probability = 0.9, .training = false}), Each(1.0f));
  EXPECT_THAT(DropOnes(50, {.probability = 0.0}), Each(1.0f));
  EXPECT_THAT(DropOnes(50, {.probability = 1.0}), Each(0.0f));
}

TEST(DropoutTest, RefusesWhatIsNoProbability) {
  for (double probability : {-0.1, 1.1, std::nan("")}) {
    std::vector<float> x(2);
    EXPECT_THAT(
        AddEncoding(x, x,
                    {.seq_len = 1, .d_model = 2, .dropout = Dropout{.probability = probability}}),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("dropout.probability")));
  }
}

TEST(AddEncodingErrorsTest, NamesTheArgumentItsSizeAndWhatIsAllowed) {
  std::vector<float> x(6), table(4);
  EXPECT_THAT(AddEncoding(x, table, {.seq_len = 2, .d_model = 2}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("x has 6 elements"), HasSubstr("allowed: 4"))));
  EXPECT_THAT(AddEncoding(x, std::vector<float>(5), {.seq_len = 3, .d_model = 2}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("table has 5 elements"), HasSubstr("multiple of 2"))));
  EXPECT_THAT(AddEncoding(x, table, {.seq_len = -3, .d_model = -2}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("seq_len is -3")));
  EXPECT_THAT(AddEncoding(x, table, {.batch = 1l << 40, .seq_len = 1l << 40, .d_model = 2}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("more than 2^62 elements")));
}

TEST(AddEncodingErrorsTest, RefusesOtherTypes) {
  std::vector<float> x(4);
  std::vector<Half> out(4);
  const double doubles[4] = {};
  EXPECT_THAT(AddEncoding(x, x, {.seq_len = 2, .d_model = 2}, out),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("out has elements of type")));
  EXPECT_THAT(
      AddEncoding(x, ConstNumbers(ElementType::kF64, doubles, 4), {.seq_len = 2, .d_model = 2}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("table has elements of type")));
}

TEST(AddEncodingErrorsTest, RowsPastTheTableAreOutOfRangeAndNothingIsWritten) {
  std::vector<float> x(6, 1.0f);
  const std::vector<float> table(4, 1.0f);
  const std::vector<int64_t> past = {0, 1, 2}, before = {0, -1, 1};
  EXPECT_THAT(AddEncoding(x, table, {.seq_len = 3, .d_model = 2}),
              StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("rows 0 to 1")));
  EXPECT_THAT(AddEncoding(x, table, {.seq_len = 3, .d_model = 2, .rows = past}),
              StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("rows[2] is row 2")));
  EXPECT_THAT(AddEncoding(x, table, {.seq_len = 3, .d_model = 2, .rows = before}),
              StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("rows[1] is row -1")));
  EXPECT_THAT(AddEncoding(x, table, {.seq_len = 3, .d_model = 2, .first_row = -1}),
              StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("first_row is row -1")));
  EXPECT_THAT(x, Each(1.0f));
}

TEST(AddEncodingErrorsTest, RowListsHaveOneEntryForEachToken) {
  std::vector<float> x(6);
  const std::vector<int64_t> rows = {0, 1};
  EXPECT_THAT(AddEncoding(x, x, {.seq_len = 3, .d_model = 2, .rows = rows}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("rows has 2 elements")));
  EXPECT_THAT(AddEncoding(x, x, {.seq_len = 3, .d_model = 2, .first_row = 1, .rows = rows}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("first_row and rows")));
}

TEST(AddBiasTest, AddsOneBiasForEachHead) {
  std::vector<float> scores(8, 1.0f);  // [batch 1, heads 2, queries 2, keys 2]
  const std::vector<float> bias = {0, 1, 2, 3, 4, 5, 6, 7};
  ASSERT_OK(AddBias(scores, bias, {.heads = 2, .q_len = 2, .kv_len = 2, .score_scale = 0.5}));
  EXPECT_THAT(scores, ElementsAre(0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5));
}

TEST(AddBiasTest, OneBiasServesAllHeadsAndBatches) {
  std::vector<float> scores(8, 0.0f);  // [batch 2, heads 2, queries 1, keys 2]
  ASSERT_OK(
      AddBias(scores, std::vector{1.0f, 2.0f}, {.batch = 2, .heads = 2, .q_len = 1, .kv_len = 2}));
  EXPECT_THAT(scores, ElementsAre(1, 2, 1, 2, 1, 2, 1, 2));
}

TEST(AddBiasTest, RowFormServesAllQueries) {
  std::vector<float> scores(8, 0.0f);  // [heads 2, queries 2, keys 2]
  ASSERT_OK(AddBias(scores, std::vector{1.0f, 2.0f, 3.0f, 4.0f},
                    {.heads = 2, .q_len = 2, .kv_len = 2, .form = AlibiForm::kRow}));
  EXPECT_THAT(scores, ElementsAre(1, 2, 1, 2, 3, 4, 3, 4));
}

TEST(AddBiasTest, RefusesABiasOfAnotherSize) {
  std::vector<float> scores(8);
  EXPECT_THAT(
      AddBias(scores, std::vector<float>(6), {.heads = 2, .q_len = 2, .kv_len = 2}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("bias has 6 elements; allowed: 8")));
  EXPECT_THAT(AddBias(scores, scores, {.heads = 2, .q_len = 2, .kv_len = 2, .masked = true}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("masked")));
}

}  // namespace
}  // namespace posenc
