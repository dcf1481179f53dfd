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

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<float> BiasOf(const std::vector<float>& slopes, ScoreParams params) {
  params.heads = static_cast<int64_t>(slopes.size());
  std::vector<float> scores(params.heads * params.q_len * params.kv_len, 0.0f);
  EXPECT_OK(AddAlibi(scores, slopes, params));
  return scores;
}

TEST(AddAlibiTest, CausalBiasIsMinusSlopeTimesDistance) {
  EXPECT_THAT(BiasOf({0.5f}, {.q_len = 3, .kv_len = 3}),
              ElementsAre(0, 0, 0, -0.5, 0, 0, -1, -0.5, 0));
}

TEST(AddAlibiTest, MaskedKeysAfterTheQueryAreMinusInfinity) {
  EXPECT_THAT(BiasOf({0.5f}, {.q_len = 2, .kv_len = 2, .masked = true}),
              ElementsAre(0, -kInfinity, -0.5, 0));
}

TEST(AddAlibiTest, SymmetricBiasFallsOnBothSides) {
  EXPECT_THAT(
      BiasOf({0.5f}, {.q_len = 2, .kv_len = 3, .form = AlibiForm::kSymmetric, .query_offset = 0}),
      ElementsAre(0, -0.5, -1, -0.5, 0, -0.5));
}

TEST(AddAlibiTest, RowAndKeyIndexFormsAreTheSameForAllQueries) {
  EXPECT_THAT(BiasOf({0.5f}, {.q_len = 2, .kv_len = 3, .form = AlibiForm::kRow}),
              ElementsAre(-1, -0.5, 0, -1, -0.5, 0));
  EXPECT_THAT(BiasOf({0.5f}, {.q_len = 2, .kv_len = 3, .form = AlibiForm::kKeyIndex}),
              ElementsAre(0, 0.5, 1, 0, 0.5, 1));
}

TEST(AddAlibiTest, OneNewTokenSeesTheWholeCache) {
  const std::vector<float> bias = BiasOf({0.0625f, 0.00390625f}, {.q_len = 1, .kv_len = 20});
  for (int key = 0; key < 20; ++key) {
    EXPECT_EQ(bias[key], 0.0625f * static_cast<float>(key - 19));
    EXPECT_EQ(bias[20 + key], 0.00390625f * static_cast<float>(key - 19));
  }
}

TEST(AddAlibiTest, EveryHeadAndBatchHasItsSlope) {
  std::vector<float> scores(2 * 2 * 1 * 2, 1.0f);
  ASSERT_OK(AddAlibi(scores, std::vector{0.5f, 0.25f},
                     {.batch = 2, .heads = 2, .q_len = 1, .kv_len = 2}));
  EXPECT_THAT(scores, ElementsAre(0.5, 1, 0.75, 1, 0.5, 1, 0.75, 1));
}

TEST(AddAlibiTest, BiasIsAddedBehindTheScaling) {
  std::vector<float> scores = {8.0f, 8.0f};
  ASSERT_OK(AddAlibi(scores, std::vector{0.5f},
                     {.heads = 1, .q_len = 1, .kv_len = 2, .score_scale = 0.125}));
  EXPECT_THAT(scores, ElementsAre(0.5, 1));
}

template <typename T>
class AddAlibiTypesTest : public ::testing::Test {};
TYPED_TEST_SUITE(AddAlibiTypesTest, NumberTypes, NumberTypeNames);

TYPED_TEST(AddAlibiTypesTest, IsRoundedOnceAtAnyKeyCount) {
  const float slope = 0.70710678f, scale = 0.125f;
  for (int64_t keys = 1; keys <= 40; ++keys) {
    const std::vector<TypeParam> before = Random<TypeParam>(keys, keys);
    std::vector<TypeParam> scores = before;
    ASSERT_OK(AddAlibi(
        scores, std::vector{slope},
        {.heads = 1, .q_len = 1, .kv_len = keys, .score_scale = scale, .query_offset = 5}));
    for (int64_t key = 0; key < keys; ++key) {
      const double bias = RoundTo<float>(slope * std::min(static_cast<double>(key - 5), 0.0));
      const double scaled = static_cast<float>(before[key]) * static_cast<double>(scale);
      ASSERT_EQ(static_cast<float>(scores[key]), RoundTo<TypeParam>(RoundTo<float>(scaled + bias)));
    }
  }
}

TEST(AddAlibiErrorsTest, NamesTheArgument) {
  std::vector<float> scores(8);
  const auto invalid = [](auto text) {
    return StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(text));
  };
  const std::vector<float> two(2);
  EXPECT_THAT(AddAlibi(scores, std::vector<float>(3), {.heads = 2, .q_len = 2, .kv_len = 2}),
              invalid("slopes has 3 elements; allowed: 2"));
  EXPECT_THAT(AddAlibi(scores, two, {.heads = 2, .q_len = 1, .kv_len = 2}),
              invalid("scores has 8"));
  EXPECT_THAT(AddAlibi(scores, two, {.heads = 2, .q_len = 4, .kv_len = 1}), invalid("q_len is 4"));
  EXPECT_THAT(
      AddAlibi(scores, two, {.heads = 2, .q_len = 2, .kv_len = 2, .form = AlibiForm::kSlopes}),
      invalid("form is slopes"));
  EXPECT_THAT(
      AddAlibi(scores, two,
               {.heads = 2, .q_len = 2, .kv_len = 2, .form = AlibiForm::kRow, .masked = true}),
      invalid("masked is true"));
  EXPECT_THAT(AddAlibi(scores, two, {.heads = 2, .q_len = 2, .kv_len = 2, .query_offset = -1}),
              invalid("query_offset is -1"));
  EXPECT_THAT(
      AddAlibi(scores, two, {.heads = 2, .q_len = 2, .kv_len = 2, .score_scale = std::nan("")}),
      invalid("score_scale"));
}

}  // namespace
}  // namespace posenc
