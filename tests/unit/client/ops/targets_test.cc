// The instruction sets that this CPU has, forced one after another: the same bits from each, and
// 16-bit elements rounded as they must be.

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posenc/ops.h"
#include "tests/support/matchers.h"
#include "tests/unit/client/ops/numbers.h"

namespace posenc {
namespace {

class OpsTargetsTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { ASSERT_OK(ForceKernelTarget(GetParam())); }
  void TearDown() override { ASSERT_OK(ForceKernelTarget(SupportedKernelTargets().front())); }
};

INSTANTIATE_TEST_SUITE_P(All, OpsTargetsTest, ::testing::ValuesIn(SupportedKernelTargets()),
                         [](const auto& info) { return info.param; });

// Everything that the functions do, at widths that are no multiple of any vector.
template <typename T>
std::vector<T> AllResults() {
  std::vector<T> all;
  for (int64_t width : {1, 2, 7, 16, 31, 33, 62}) {
    std::vector<T> x = Random<T>(2 * width, width), scores = Random<T>(2 * width, width + 1);
    const std::vector<T> table = Random<T>(width, width + 2);
    EXPECT_OK(AddEncoding(x, table,
                          {.batch = 2,
                           .seq_len = 1,
                           .d_model = width,
                           .x_scale = 1.7,
                           .dropout = Dropout{.seed = 1}}));
    for (Pairing pairing : {Pairing::kHalfSplit, Pairing::kInterleaved}) {
      EXPECT_OK(Rotate(x, table, table, {.seq_len = 1, .head_dim = 2 * width, .pairing = pairing}));
    }
    for (AlibiForm form : {AlibiForm::kCausal, AlibiForm::kSymmetric, AlibiForm::kRow}) {
      EXPECT_OK(
          AddAlibi(scores, std::vector{0.7f, 0.3f},
                   {.heads = 2, .q_len = 1, .kv_len = width, .score_scale = 0.3, .form = form}));
    }
    all.insert(all.end(), x.begin(), x.end());
    all.insert(all.end(), scores.begin(), scores.end());
  }
  return all;
}

template <typename T>
void ExpectSameAsScalar(const std::string& target) {
  const std::vector<T> here = AllResults<T>();
  ASSERT_OK(ForceKernelTarget("SCALAR"));
  EXPECT_TRUE(here == AllResults<T>());
  ASSERT_OK(ForceKernelTarget(target));
}

TEST_P(OpsTargetsTest, GivesTheBitsOfTheScalarTarget) {
  ExpectSameAsScalar<float>(GetParam());
  ExpectSameAsScalar<Half>(GetParam());
  ExpectSameAsScalar<BFloat16>(GetParam());
}

// x + 0 as T, where the sum is a float of any kind.
template <typename T>
std::vector<T> Narrowed(const std::vector<float>& values) {
  std::vector<T> x(values.size());
  EXPECT_OK(AddEncoding(x, values, {.seq_len = 1, .d_model = static_cast<int64_t>(x.size())}));
  return x;
}

// All finite elements, what lies half-way to the next one, and the floats next to that.
template <typename T>
std::vector<float> Midpoints() {
  std::vector<float> values;
  const int last = std::is_same_v<T, Half> ? 0x7bff : 0x7f7e;
  for (int bits = 0; bits <= last; ++bits) {
    const auto low = static_cast<float>(T{static_cast<uint16_t>(bits)});
    const double next = low + std::ldexp(1.0, bits == 0 ? kLeastStep<T>
                                                        : std::max(std::ilogb(low) - kDigits<T> + 1,
                                                                   kLeastStep<T>));
    const auto middle = static_cast<float>((low + next) / 2);
    for (float value :
         {low, std::nextafter(middle, low), middle, std::nextafter(middle, INFINITY)}) {
      values.push_back(value);
      values.push_back(-value);
    }
  }
  return values;
}

template <typename T>
void ExpectRoundsMidpoints() {
  const std::vector<float> values = Midpoints<T>();
  const std::vector<T> narrowed = Narrowed<T>(values);
  for (size_t i = 0; i < values.size(); ++i) {
    double expected = RoundTo<T>(values[i]);
    if (std::is_same_v<T, Half> && std::fabs(expected) >= 65536)
      expected = std::copysign(INFINITY, expected);
    ASSERT_EQ(static_cast<float>(narrowed[i]), expected) << values[i];
  }
}

TEST_P(OpsTargetsTest, RoundsToNearestEvenAtEveryElement) {
  ExpectRoundsMidpoints<Half>();
  ExpectRoundsMidpoints<BFloat16>();
}

TEST_P(OpsTargetsTest, WidensEveryElementExactly) {
  std::vector<Half> halves(65536);
  std::vector<BFloat16> brains(65536);
  for (int i = 0; i < 65536; ++i) halves[i].bits = brains[i].bits = static_cast<uint16_t>(i);
  std::vector<float> from_halves(65536), from_brains(65536);
  ASSERT_OK(AddEncoding(from_halves, halves, {.seq_len = 1, .d_model = 65536}));
  ASSERT_OK(AddEncoding(from_brains, brains, {.seq_len = 1, .d_model = 65536}));
  for (int i = 0; i < 65536; ++i) {
    const auto half = static_cast<float>(halves[i]), brain = static_cast<float>(brains[i]);
    ASSERT_TRUE(from_halves[i] == half || (std::isnan(half) && std::isnan(from_halves[i]))) << i;
    ASSERT_TRUE(from_brains[i] == brain || (std::isnan(brain) && std::isnan(from_brains[i]))) << i;
  }
}

// Pairs go another way than rows do.
TEST_P(OpsTargetsTest, PairsKeepEveryElement) {
  std::vector<Half> halves(0x7c00);
  std::vector<BFloat16> brains(0x7f80);
  for (size_t i = 0; i < halves.size(); ++i) halves[i].bits = static_cast<uint16_t>(i);
  for (size_t i = 0; i < brains.size(); ++i) brains[i].bits = static_cast<uint16_t>(i);
  const auto kept = [](auto x) {
    const std::vector<float> one(x.size() / 2, 1.0f), zero(x.size() / 2, 0.0f);
    auto rotated = x;
    EXPECT_OK(
        Rotate(rotated, one, zero,
               {.seq_len = 1, .head_dim = int64_t(x.size()), .pairing = Pairing::kInterleaved}));
    return rotated == x;
  };
  EXPECT_TRUE(kept(halves));
  EXPECT_TRUE(kept(brains));
}

TEST_P(OpsTargetsTest, OverflowIsInfiniteAndNaNStaysNaN) {
  const std::vector<Half> halves = Narrowed<Half>({65519.0f, 65520.0f, -1e9f, INFINITY, NAN});
  EXPECT_EQ(halves[0].bits, 0x7bff);
  EXPECT_EQ(halves[1].bits, 0x7c00);
  EXPECT_EQ(halves[2].bits, 0xfc00);
  EXPECT_EQ(halves[3].bits, 0x7c00);
  EXPECT_TRUE(std::isnan(static_cast<float>(halves[4])));
  const float most = std::numeric_limits<float>::max();
  const std::vector<BFloat16> brains = Narrowed<BFloat16>({most, -INFINITY, NAN});
  EXPECT_EQ(brains[0].bits, 0x7f80);
  EXPECT_EQ(brains[1].bits, 0xff80);
  EXPECT_TRUE(std::isnan(static_cast<float>(brains[2])));
}

}  // namespace
}  // namespace posenc
