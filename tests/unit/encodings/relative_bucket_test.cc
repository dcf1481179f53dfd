#include "server/encodings/bias/relative_bucket.h"

#include <cmath>
#include <map>

#include "server/encodings/exact/log_ratio.h"
#include "tests/unit/encodings/bias_fixture.h"

namespace posenc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(RelativeBucketTest, T5BucketsOfThePublishedExamples) {
  const std::map<int64_t, int64_t> by_key_minus_query = {{-200, 15}, {-64, 14}, {-16, 10}, {-8, 8}, {-7, 7},
                                                         {0, 0},     {1, 17},   {8, 24},   {128, 31}};
  for (const auto& [delta, bucket] : by_key_minus_query) {
    EXPECT_EQ(BucketOf(T5Buckets(), -delta), bucket) << delta;
  }
  const T5Buckets causal{.bidirectional = false};
  for (const auto& [distance, bucket] :
       std::map<int64_t, int64_t>{{-1, 0}, {0, 0}, {15, 15}, {16, 16}, {32, 21}, {64, 26}, {128, 31}, {5000, 31}}) {
    EXPECT_EQ(BucketOf(causal, distance), bucket) << distance;
  }
}

// 2^k has the logarithm k: from 8 to 128 in 8 steps, two for each doubling.
TEST(RelativeBucketTest, ExactPowersBeginTheirBucket) {
  for (int64_t k = 0; k <= 4; ++k) {
    const WholePart part = LogRatio(int64_t{8} << k, 8, 128, 8);
    EXPECT_EQ(part.floor, 2 * k);
    EXPECT_TRUE(part.exact);
  }
  EXPECT_EQ(LogRatio(27, 8, 18, 6).floor, 9);  // (3/2)^(9/3) of (3/2)^2
  EXPECT_TRUE(LogRatio(27, 8, 18, 6).exact);
  EXPECT_FALSE(LogRatio(26, 8, 18, 6).exact);
}

// floor(n·ln(v/f)/ln(l/f)) = j exactly when l^j·f^(n−j) ≤ v^n < l^(j+1)·f^(n−j−1), in whole numbers.
TEST(RelativeBucketTest, LogRatioAgreesWithWholePowers) {
  for (const auto& [first, last, n] : std::vector<std::array<int64_t, 3>>{{8, 128, 8}, {3, 17, 5}, {5, 6, 3}}) {
    for (int64_t value = first; value < 2 * last; ++value) {
      const auto j = LogRatio(value, first, last, n).floor;
      const auto power = [](int64_t x, int64_t y) { return std::pow(static_cast<long double>(x), y); };
      EXPECT_LE(power(last, j) * power(first, n - j), power(value, n)) << value;
      EXPECT_GT(power(last, j + 1) * power(first, n - j - 1), power(value, n)) << value;
    }
  }
}

// By the formula, with mid = 128 and M = 512: ⌈ln(256/128) / ln(511/128) · 127⌉ + 128 = 64 + 128.
TEST(RelativeBucketTest, DebertaBucketsAreSignedAndGrow) {
  const DebertaBuckets rule;
  for (int64_t distance : {0, 1, 127, 128}) EXPECT_EQ(BucketOf(rule, -distance), -distance);
  EXPECT_EQ(BucketOf(rule, 129), 129);
  EXPECT_EQ(BucketOf(rule, 256), 192);
  EXPECT_EQ(BucketOf(rule, -256), -192);
  EXPECT_EQ(BucketOf(rule, 511), 255);  // the ratio itself: exactly 127 steps
  EXPECT_EQ(BucketOf(rule, 512), 256);
}

TEST(RelativeBucketTest, MapIsIntegersByQueryAndKey) {
  const auto map = *TryMake(RelativeBucketSpec{.max_len = 3});
  EXPECT_EQ(map->shape().tensors[0].name, "buckets");
  EXPECT_EQ(map->shape().tensors[0].element_type, ElementType::kI32);
  EXPECT_THAT(NumbersOf(*map, 0, 3), ElementsAre(0, 17, 18, 1, 0, 17, 2, 1, 0));
  EXPECT_THAT(NumbersOf(*map, 2, 1), ElementsAre(2, 1, 0));
  const auto deberta = *TryMake(RelativeBucketSpec{.rule = DebertaBuckets(), .max_len = 2});
  EXPECT_THAT(NumbersOf(*deberta, 0, 2), ElementsAre(0, -1, 1, 0));
}

class BucketWeightTest : public testing::Test {
 protected:
  BucketWeightTest() {
    std::vector<float> weight;  // [4 buckets, 2 heads]: bucket + head / 3
    for (int bucket = 0; bucket < 4; ++bucket) {
      for (int head = 0; head < 2; ++head) weight.push_back(static_cast<float>(bucket) + static_cast<float>(head) / 3);
    }
    EXPECT_OK(catalog_.Add("w", StoredF32({4, 2}, weight)));
  }
  RelativeBucketSpec Spec() const {
    return {.rule = T5Buckets{.buckets = 4, .max_distance = 3}, .max_len = 2, .weight = "w"};
  }
  TensorCatalog catalog_;
};

TEST_F(BucketWeightTest, BiasIsTheWeightOfEachBucket) {
  const auto bias = *TryMake(Spec(), ElementType::kF32, catalog_);
  EXPECT_EQ(bias->shape().row_kind, RowKind::kHeadQueries);
  EXPECT_THAT(bias->shape().row_dims, ElementsAre(2, 2));
  const double third = 1.0f / 3;
  const double third_and_1 = 1.0f + 1.0f / 3, third_and_3 = 3.0f + 1.0f / 3;
  EXPECT_THAT(NumbersOf(*bias, 0, 4), ElementsAre(0, 3, 1, 0, third, third_and_3, third_and_1, third));
}

TEST_F(BucketWeightTest, ScaleIsRoundedOnceWithTheWeight) {
  RelativeBucketSpec spec = Spec();
  spec.scale = std::sqrt(64.0) * 1.1;
  for (ElementType type : kEveryRealType) {
    const std::vector<uint64_t> bias = BitsOf(**TryMake(spec, type, catalog_), 2, 1);
    Number x;
    mpfr_set_d(x.value, static_cast<double>(3.0f + 1.0f / 3), MPFR_RNDN);
    mpfr_mul_d(x.value, x.value, spec.scale, MPFR_RNDN);
    EXPECT_EQ(bias[1], ReferenceRound(type, x.value)) << ElementTypeName(type);
  }
}

// Row r of the weight is bucket r − 4; buckets beyond −4 … 3 take the nearest row.
TEST(DebertaWeightTest, BucketZeroIsTheMiddleRow) {
  const std::vector<float> rows = {-4, -3, -2, -1, 0, 1, 2, 3};
  TensorCatalog catalog;
  ASSERT_OK(catalog.Add("w", {.element_type = ElementType::kF32,
                              .shape = {8, 1},
                              .data = std::as_bytes(std::span(rows)),
                              .content_sha256 = std::string(64, '0')}));
  const RelativeBucketSpec spec{
      .rule = DebertaBuckets{.buckets = 4, .max_distance = 64}, .max_len = 64, .weight = "w"};
  const auto table = TryMake(spec, ElementType::kF32, catalog);
  ASSERT_OK(table);
  const std::vector<double> last = NumbersOf(**table, 63, 1);
  for (int64_t key = 0; key < 64; ++key) {
    const auto bucket = static_cast<double>(BucketOf(std::get<DebertaBuckets>(spec.rule), 63 - key));
    EXPECT_EQ(last[key], std::min(bucket, 3.0)) << key;
  }
  EXPECT_EQ(NumbersOf(**table, 0, 1)[2], BucketOf(std::get<DebertaBuckets>(spec.rule), -2));
}

TEST_F(BucketWeightTest, WeightsThatDoNotFitAreRefused) {
  RelativeBucketSpec spec = Spec();
  spec.rule = T5Buckets();
  EXPECT_THAT(TryMake(spec, ElementType::kF32, catalog_),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("[4, 2]; allowed: [32, heads]")));
  spec.weight = "v";
  EXPECT_THAT(TryMake(spec, ElementType::kF32, catalog_), StatusIs(absl::StatusCode::kNotFound, HasSubstr("w")));
  spec = Spec();
  spec.rule = DebertaBuckets();
  EXPECT_THAT(TryMake(spec, ElementType::kF32, catalog_), ViolatesField("relative_bucket.weight"));
}

}  // namespace
}  // namespace posenc
