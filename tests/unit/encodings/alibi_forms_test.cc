// The forms of ALiBi that have one row for all queries, the divisor, and what was reported of slopes.

#include <cmath>
#include <random>

#include "tests/unit/encodings/bias_fixture.h"

namespace posenc {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::Each;
using ::testing::Le;

std::vector<double> Slopes(int64_t heads) {
  return NumbersOf(**TryMake(AlibiSpec{.heads = heads, .form = AlibiForm::kSlopes}, ElementType::kF64), 0, 1);
}

TEST(AlibiFormsTest, SlopesOfReportedHeadCounts) {
  EXPECT_THAT(Slopes(1), ElementsAre(0.00390625));
  EXPECT_THAT(Slopes(6), ElementsAre(0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125));
  EXPECT_THAT(Slopes(8), ElementsAre(0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625));
  const std::vector<double> twelve = Slopes(12);
  EXPECT_THAT(twelve[8], DoubleNear(0.707106781, 1e-9));
  EXPECT_THAT(twelve[11], DoubleNear(0.088388348, 1e-9));
}

TEST(AlibiFormsTest, HeadCountsFromOneUpHaveSlopesBetweenZeroAndOne) {
  for (int64_t heads = 1; heads <= 128; ++heads) {
    const std::vector<double> slopes = Slopes(heads);
    ASSERT_EQ(slopes.size(), static_cast<size_t>(heads));
    EXPECT_THAT(slopes, Each(testing::AllOf(testing::Gt(0.0), testing::Lt(1.0)))) << heads;
  }
  EXPECT_THAT(TryMake(AlibiSpec{.heads = 0}), ViolatesField("alibi.heads"));
  EXPECT_THAT(TryMake(AlibiSpec{.heads = -1}), ViolatesField("alibi.heads"));
}

TEST(AlibiFormsTest, RowOfMptIsTheLastQuerysCausalBias) {
  const AlibiSpec spec{.heads = 1, .max_len = 5, .form = AlibiForm::kRow};
  const auto row = *TryMake(spec);
  EXPECT_EQ(row->shape().row_kind, RowKind::kHeads);
  EXPECT_THAT(row->shape().row_dims, ElementsAre(1));
  EXPECT_THAT(NumbersOf(*row, 0, 1), ElementsAre(-0.015625, -0.01171875, -0.0078125, -0.00390625, 0.0));
  const auto causal = *TryMake(AlibiSpec{.heads = 1, .max_len = 5});
  EXPECT_THAT(NumbersOf(*row, 0, 1), ElementsAreArray(NumbersOf(*causal, 4, 1)));
  EXPECT_THAT(NumbersOf(*causal, 0, 1), Each(Le(0.0)));
}

TEST(AlibiFormsTest, KeyIndexRowsGrowFromZero) {
  const auto table = *TryMake(AlibiSpec{.heads = 2, .max_len = 4, .form = AlibiForm::kKeyIndex});
  EXPECT_THAT(NumbersOf(*table, 0, 2),
              ElementsAre(0, 0.0625, 0.125, 0.1875, 0, 0.00390625, 0.0078125, 0.01171875));
}

TEST(AlibiFormsTest, RowsOfOneQueryAreRowsOfTheWholeBias) {
  const auto table = *TryMake(AlibiSpec{.heads = 2, .max_len = 20});
  const std::vector<double> all = NumbersOf(*table, 0, 40);
  for (int64_t row = 0; row < 40; ++row) {
    EXPECT_THAT(NumbersOf(*table, row, 1), ElementsAreArray(all.begin() + row * 20, all.begin() + row * 20 + 20));
  }
  EXPECT_EQ(all[19 * 20], -1.1875);
}

TEST(AlibiFormsTest, DivisorOfFalconIsRoundedWithTheProduct) {
  const double divisor = std::sqrt(96.0);
  const AlibiSpec spec{.heads = 12, .max_len = 300, .form = AlibiForm::kKeyIndex, .score_divisor = divisor};
  for (ElementType type : kEveryRealType) {
    const auto table = *TryMake(spec, type);
    const std::vector<uint64_t> row = BitsOf(*table, 9, 1);
    Number x;
    for (int64_t key = 0; key < 300; ++key) {
      mpfr_set_d(x.value, -4.0 * 3 / 8, MPFR_RNDN);  // head 9 is the second odd one of 16
      mpfr_exp2(x.value, x.value, MPFR_RNDN);
      mpfr_mul_si(x.value, x.value, key, MPFR_RNDN);
      mpfr_div_d(x.value, x.value, divisor, MPFR_RNDN);
      EXPECT_EQ(row[key], ReferenceRound(type, x.value)) << key;
    }
  }
}

// The ends of the ranges: 2^-100 over 10^6, and over 10^-6.
TEST(AlibiFormsTest, ExtremeSlopesAreCorrectlyRounded) {
  for (const double divisor : {1e6, 1e-6}) {
    for (const double bias_max : {100.0, 1e-6}) {
      const AlibiSpec spec{.heads = 1, .max_len = 1 << 18, .bias_max = bias_max, .form = AlibiForm::kKeyIndex,
                           .score_divisor = divisor};
      for (ElementType type : kEveryRealType) {
        const std::vector<uint64_t> row = BitsOf(**TryMake(spec, type), 0, 1);
        Number x;
        for (int64_t key = 1; key < 1 << 18; key += 997) {
          mpfr_set_d(x.value, -bias_max, MPFR_RNDN);
          mpfr_exp2(x.value, x.value, MPFR_RNDN);
          mpfr_mul_si(x.value, x.value, key, MPFR_RNDN);
          mpfr_div_d(x.value, x.value, divisor, MPFR_RNDN);
          EXPECT_EQ(row[key], ReferenceRound(type, x.value)) << key;
        }
      }
    }
  }
}

// 3k · 2^-1 / 3 is a whole number of halves: a tie of F16 from 2^11 on, which goes to even.
TEST(AlibiFormsTest, TiesBehindADivisorGoToEven) {
  const AlibiSpec spec{.heads = 8, .max_len = 12300, .form = AlibiForm::kKeyIndex, .score_divisor = 3};
  const std::vector<double> row = NumbersOf(**TryMake(spec, ElementType::kF16), 0, 1);
  EXPECT_EQ(row[3 * 4098], 2048.0);  // 2049 lies between 2048 and 2050
  EXPECT_EQ(row[3 * 4099 + 1], 2050.0);
}

}  // namespace
}  // namespace posenc
