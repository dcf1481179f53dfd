#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posenc/ops.h"
#include "tests/support/matchers.h"
#include "tests/unit/client/ops/numbers.h"

namespace posenc {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

// cos and sin of position · base^(−2i/dim), rows 0 to `rows` − 1, half width.
struct Cache {
  std::vector<float> cos, sin;
};
Cache MakeCache(int64_t rows, int64_t dim) {
  Cache cache;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < dim / 2; ++i) {
      const double angle = static_cast<double>(row) * std::pow(10000.0, -2.0 * i / dim);
      cache.cos.push_back(static_cast<float>(std::cos(angle)));
      cache.sin.push_back(static_cast<float>(std::sin(angle)));
    }
  }
  return cache;
}

template <typename T>
class RotateTest : public ::testing::Test {
 protected:
  // Rotates `heads` vectors of a token at row 3 and compares each channel with the formula in
  // double.
  void ExpectRotates(const RotateParams& params, int64_t dim) {
    const Cache cache = MakeCache(4, dim);
    const std::vector<T> before = Random<T>(params.heads * params.head_dim, dim);
    std::vector<T> x = before;
    ASSERT_OK(Rotate(x, cache.cos, cache.sin, params));
    const bool half = params.pairing == Pairing::kHalfSplit;
    std::vector<bool> rotated(x.size(), false);
    for (int64_t i = 0; i < params.heads * dim / 2; ++i) {
      const int64_t pair = i % (dim / 2),
                    window = i / (dim / 2) * params.head_dim + params.rotary_begin;
      const int64_t first = window + (half ? pair : 2 * pair),
                    second = first + (half ? dim / 2 : 1);
      const double a = Number(before[first]), b = Number(before[second]);
      const double cos = cache.cos[3 * dim / 2 + pair], sin = cache.sin[3 * dim / 2 + pair];
      ExpectNear(x[first], a * cos, -b * sin);
      ExpectNear(x[second], b * cos, a * sin);
      rotated[first] = rotated[second] = true;
    }
    for (size_t i = 0; i < x.size(); ++i) EXPECT_TRUE(rotated[i] || x[i] == before[i]) << i;
  }

 private:
  static double Number(T value) { return static_cast<float>(value); }

  // Two products and a sum rounded to F32 each, then the type's own rounding.
  static void ExpectNear(T value, double first, double second) {
    const double steps =
        0x1p-24 * (std::fabs(first) + std::fabs(second) + std::fabs(first + second));
    const double last =
        std::is_same_v<T, float> ? 0 : std::ldexp(std::fabs(first + second), -kDigits<T>);
    ASSERT_NEAR(Number(value), first + second, (steps + last) * (1 + 0x1p-7) + 0x1p-25);
  }
};
TYPED_TEST_SUITE(RotateTest, NumberTypes, NumberTypeNames);

TYPED_TEST(RotateTest, FollowsTheFormulaAtEveryWidth) {
  for (int64_t dim = 2; dim <= 80; dim += 2) {
    for (Pairing pairing : {Pairing::kHalfSplit, Pairing::kInterleaved}) {
      this->ExpectRotates(
          {.seq_len = 1, .heads = 3, .head_dim = dim, .first_row = 3, .pairing = pairing}, dim);
    }
  }
}

TYPED_TEST(RotateTest, LeavesTheOtherChannelsAsTheyAre) {
  for (Pairing pairing : {Pairing::kHalfSplit, Pairing::kInterleaved}) {
    const RotateParams params = {.seq_len = 1,
                                 .heads = 2,
                                 .head_dim = 96,
                                 .first_row = 3,
                                 .pairing = pairing,
                                 .rotary_dim = 24};
    RotateParams trailing = params;
    trailing.rotary_begin = 72;
    trailing.rotary_dim = 0;
    RotateParams middle = params;
    middle.rotary_begin = 7;
    for (const RotateParams& window : {params, trailing, middle}) this->ExpectRotates(window, 24);
  }
}

// [1, 2, 3, 4] at position 1 (vllm-project/vllm#941).
TEST(RotatePairingTest, HalfSplitAndInterleavedAreDifferentRotations) {
  const Cache cache = MakeCache(2, 4);
  std::vector<float> half = {1, 2, 3, 4}, interleaved = half;
  ASSERT_OK(Rotate(half, cache.cos, cache.sin, {.seq_len = 1, .head_dim = 4, .first_row = 1}));
  ASSERT_OK(
      Rotate(interleaved, cache.cos, cache.sin,
             {.seq_len = 1, .head_dim = 4, .first_row = 1, .pairing = Pairing::kInterleaved}));
  EXPECT_THAT(
      half, Pointwise(FloatNear(1e-6f), {-1.984110649f, 1.959900667f, 2.462377903f, 4.019799668f}));
  EXPECT_THAT(interleaved, Pointwise(FloatNear(1e-6f),
                                     {-1.142639664f, 1.922075597f, 2.959850668f, 4.029799502f}));
}

TEST(RotatePairingTest, PositionZeroIsTheIdentity) {
  std::vector<float> expected(8);
  std::iota(expected.begin(), expected.end(), 0.0f);
  const Cache cache = MakeCache(1, 8);
  for (Pairing pairing : {Pairing::kHalfSplit, Pairing::kInterleaved}) {
    std::vector<float> q = expected;
    ASSERT_OK(Rotate(q, cache.cos, cache.sin, {.seq_len = 1, .head_dim = 8, .pairing = pairing}));
    EXPECT_EQ(q, expected);
  }
}

double Dot(const std::vector<float>& a, const std::vector<float>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

TEST(RotatePropertyTest, ScoresDependOnTheOffsetOnly) {
  const Cache cache = MakeCache(2000, 64);
  const std::vector<float> q = Random<float>(64, 1), k = Random<float>(64, 2);
  for (Pairing pairing : {Pairing::kHalfSplit, Pairing::kInterleaved}) {
    const auto score = [&](int64_t query, int64_t key) {
      std::vector<float> rotated_q = q, rotated_k = k;
      RotateParams params = {.seq_len = 1, .head_dim = 64, .first_row = query, .pairing = pairing};
      EXPECT_OK(Rotate(rotated_q, cache.cos, cache.sin, params));
      params.first_row = key;
      EXPECT_OK(Rotate(rotated_k, cache.cos, cache.sin, params));
      return Dot(rotated_q, rotated_k);
    };
    EXPECT_NEAR(score(10, 3), score(1999, 1992), 2e-5);
    EXPECT_NEAR(score(500, 500), Dot(q, k), 2e-5);
    EXPECT_GT(std::fabs(score(10, 3) - score(10, 4)), 1e-2);
  }
}

TEST(RotatePropertyTest, InverseTurnsBack) {
  const Cache cache = MakeCache(100, 64);
  const std::vector<float> before = Random<float>(64, 5);
  std::vector<float> x = before;
  RotateParams params = {.seq_len = 1, .head_dim = 64, .first_row = 99};
  ASSERT_OK(Rotate(x, cache.cos, cache.sin, params));
  params.inverse = true;
  ASSERT_OK(Rotate(x, cache.cos, cache.sin, params));
  EXPECT_THAT(x, Pointwise(FloatNear(2e-6f), before));
}

TEST(RotateShapeTest, HeadsFirstIsTheTransposedResult) {
  const Cache cache = MakeCache(7, 4);
  const std::vector<float> x = Random<float>(2 * 5 * 3 * 4, 8);  // [2, 5, 3, 4]
  std::vector<float> tokens_first = x, heads_first(x.size());
  const auto transposed = [](size_t i) {  // [b, s, h, d] → [b, h, s, d]
    const size_t d = i % 4, h = i / 4 % 3, s = i / 12 % 5, b = i / 60;
    return ((b * 3 + h) * 5 + s) * 4 + d;
  };
  for (size_t i = 0; i < x.size(); ++i) heads_first[transposed(i)] = x[i];
  RotateParams params = {.batch = 2, .seq_len = 5, .heads = 3, .head_dim = 4, .first_row = 2};
  ASSERT_OK(Rotate(tokens_first, cache.cos, cache.sin, params));
  params.heads_first = true;
  ASSERT_OK(Rotate(heads_first, cache.cos, cache.sin, params));
  for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(heads_first[transposed(i)], tokens_first[i]);
}

TEST(RotateShapeTest, TakesARowForEachToken) {
  const Cache cache = MakeCache(9, 2);
  std::vector<float> x = {1, 0, 1, 0};
  const std::vector<int64_t> rows = {8, 2};
  ASSERT_OK(Rotate(x, cache.cos, cache.sin, {.seq_len = 2, .head_dim = 2, .rows = rows}));
  EXPECT_THAT(x, ElementsAre(cache.cos[8], cache.sin[8], cache.cos[2], cache.sin[2]));
}

TEST(RotateShapeTest, TableMayHaveFewerBitsThanX) {
  const std::vector<Half> cos = {Make<Half>(0.5)}, sin = {Make<Half>(0.25)};
  std::vector<float> x = {1, 2};
  ASSERT_OK(Rotate(x, cos, sin, {.seq_len = 1, .head_dim = 2}));
  EXPECT_THAT(x, ElementsAre(0, 1.25));
}

TEST(RotateErrorsTest, NamesTheArgument) {
  const auto invalid = [](auto text) {
    return StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(text));
  };
  std::vector<float> x(8), two(2), three(3);
  EXPECT_THAT(Rotate(x, two, two, {.seq_len = 1, .head_dim = 4}),
              invalid("x has 8 elements; allowed: 4"));
  EXPECT_THAT(Rotate(x, three, three, {.seq_len = 2, .head_dim = 4}),
              invalid("cos has 3 elements"));
  EXPECT_THAT(Rotate(x, two, three, {.seq_len = 1, .head_dim = 4}), invalid("x has 8"));
  EXPECT_THAT(Rotate(x, two, three, {.seq_len = 2, .head_dim = 4}),
              invalid("sin has 3 elements; allowed: 2"));
  EXPECT_THAT(Rotate(x, two, two, {.seq_len = 2, .head_dim = 4, .rotary_dim = 3}),
              invalid("rotary_dim is 3"));
  EXPECT_THAT(
      Rotate(x, two, two, {.seq_len = 2, .head_dim = 4, .rotary_begin = 2, .rotary_dim = 4}),
      invalid("rotary_dim is 4; allowed: 2 to 2"));
  EXPECT_THAT(Rotate(x, two, two, {.seq_len = 2, .head_dim = 4, .rotary_begin = -2}),
              invalid("rotary_begin is -2"));
  EXPECT_THAT(Rotate(x, two, two, {.seq_len = 2, .head_dim = 4, .pairing = Pairing::kNone}),
              invalid("pairing"));
  EXPECT_THAT(Rotate(x, two, two, {.seq_len = 2, .head_dim = 4, .layout = RopeLayout::kCosSin}),
              invalid("layout is cos-sin"));
}

TEST(RotateErrorsTest, RowsPastTheTableAreOutOfRange) {
  std::vector<float> x(4), two(2);
  EXPECT_THAT(
      Rotate(x, two, two, {.seq_len = 1, .head_dim = 4, .first_row = 1}),
      StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("first_row is row 1 of the table")));
}

}  // namespace
}  // namespace posenc
