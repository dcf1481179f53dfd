// Every rule against the formula in MPFR with 320 bits, written out once more.

#include <functional>
#include <random>

#include "tests/unit/encodings/bias_fixture.h"

namespace posenc {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

// Sets the number to the value at a head, query and distance.
using Formula = std::function<void(int64_t head, int64_t query, int64_t distance, mpfr_ptr out)>;

void Proximal(int64_t, int64_t, int64_t distance, mpfr_ptr out) {
  mpfr_set_si(out, 1 + distance, MPFR_RNDN);
  mpfr_log(out, out, MPFR_RNDN);
  mpfr_neg(out, out, MPFR_RNDN);
}

Formula Sandwich(int64_t head_dim, int64_t heads) {
  return [=](int64_t head, int64_t, int64_t distance, mpfr_ptr out) {
    Number angle, exponent;
    mpfr_set_si(out, -head_dim / 2, MPFR_RNDN);
    for (int64_t k = 1; k <= head_dim / 2; ++k) {
      mpfr_set_si(exponent.value, -2 * k, MPFR_RNDN);
      mpfr_div_si(exponent.value, exponent.value, head_dim, MPFR_RNDN);
      mpfr_set_si(angle.value, 10000, MPFR_RNDN);
      mpfr_pow(angle.value, angle.value, exponent.value, MPFR_RNDN);
      mpfr_mul_si(angle.value, angle.value, distance, MPFR_RNDN);
      mpfr_cos(angle.value, angle.value, MPFR_RNDN);
      mpfr_add(out, out, angle.value, MPFR_RNDN);
    }
    mpfr_mul_si(out, out, heads, MPFR_RNDN);
    mpfr_div_si(out, out, 8 * (head + 1), MPFR_RNDN);
  };
}

Formula Kerple(const KerpleBias& rule) {
  return [=](int64_t head, int64_t, int64_t distance, mpfr_ptr out) {
    mpfr_set_si(out, distance, MPFR_RNDN);
    if (rule.kind == KerpleKind::kLogarithmic) {
      mpfr_mul_d(out, out, rule.r2[head], MPFR_RNDN);
      mpfr_add_ui(out, out, 1, MPFR_RNDN);
      mpfr_log(out, out, MPFR_RNDN);
    } else if (distance > 0) {
      Number exponent;
      mpfr_set_d(exponent.value, rule.r2[head], MPFR_RNDN);
      mpfr_pow(out, out, exponent.value, MPFR_RNDN);
    }
    mpfr_mul_d(out, out, -rule.r1[head], MPFR_RNDN);
  };
}

Formula Fire(const FireBias& rule) {
  const auto psi = [=](double t, mpfr_ptr out) {
    mpfr_set_d(out, rule.c, MPFR_RNDN);
    mpfr_mul_d(out, out, t, MPFR_RNDN);
    mpfr_add_ui(out, out, 1, MPFR_RNDN);
    mpfr_log(out, out, MPFR_RNDN);
  };
  return [=](int64_t head, int64_t query, int64_t distance, mpfr_ptr out) {
    Number x, y;
    psi(static_cast<double>(distance), x.value);
    psi(std::max(static_cast<double>(query), rule.threshold), y.value);
    mpfr_div(x.value, x.value, y.value, MPFR_RNDN);
    mpfr_set_d(out, rule.output_bias[head], MPFR_RNDN);
    const size_t hidden = rule.input_weight.size();
    for (size_t j = 0; j < hidden; ++j) {
      mpfr_mul_d(y.value, x.value, rule.input_weight[j], MPFR_RNDN);
      mpfr_add_d(y.value, y.value, rule.input_bias[j], MPFR_RNDN);
      if (mpfr_sgn(y.value) < 0) continue;
      mpfr_mul_d(y.value, y.value, rule.output_weight[head * hidden + j], MPFR_RNDN);
      mpfr_add(out, out, y.value, MPFR_RNDN);
    }
  };
}

// Compares a random row of every head at random keys, in every element type and both forms.
void ExpectFormula(RelativeBiasSpec spec, const Formula& formula, int keys) {
  std::mt19937 random(7);
  for (ElementType type : kEveryRealType) {
    for (BiasForm form : {BiasForm::kCausal, BiasForm::kSymmetric}) {
      spec.form = form;
      const auto table = TryMake(spec, type);
      ASSERT_OK(table);
      for (int64_t head = 0; head < spec.heads; ++head) {
        const auto query = static_cast<int64_t>(random() % spec.max_len);
        const std::vector<uint64_t> row = BitsOf(**table, head * spec.max_len + query, 1);
        for (int i = 0; i < keys; ++i) {
          const auto key = static_cast<int64_t>(random() % spec.max_len);
          Number expected;
          mpfr_set_zero(expected.value, 1);
          if (key <= query || form == BiasForm::kSymmetric) formula(head, query, std::abs(query - key), expected.value);
          const uint64_t bits = mpfr_zero_p(expected.value) ? 0 : ReferenceRound(type, expected.value);
          ASSERT_EQ(row[key], bits) << ElementTypeName(type) << " " << head << " " << query << " " << key;
        }
      }
    }
  }
}

std::vector<double> RandomNumbers(size_t count, double low, double high) {
  std::mt19937 random(static_cast<unsigned>(count));
  std::uniform_real_distribution<double> numbers(low, high);
  std::vector<double> values(count);
  for (double& value : values) value = numbers(random);
  return values;
}

FireBias RandomFire(size_t hidden, size_t heads) {
  return {.c = 0.37,
          .threshold = 12.5,
          .input_weight = RandomNumbers(hidden, -2, 2),
          .input_bias = RandomNumbers(hidden + 1, -1, 1),
          .output_weight = RandomNumbers(hidden * heads, -1, 1),
          .output_bias = RandomNumbers(heads, -1, 1)};
}

FireBias Sized(FireBias fire) {
  fire.input_bias.resize(fire.input_weight.size());
  return fire;
}

TEST(RelativeBiasTest, ProximityIsCorrectlyRounded) {
  ExpectFormula({.rule = ProximalBias(), .heads = 2, .max_len = 3000}, Proximal, 500);
}

TEST(RelativeBiasTest, SandwichIsCorrectlyRounded) {
  ExpectFormula({.rule = SandwichBias{.head_dim = 64}, .heads = 12, .max_len = 500}, Sandwich(64, 12), 50);
  ExpectFormula({.rule = SandwichBias{.head_dim = 2}, .heads = 3, .max_len = 20000}, Sandwich(2, 3), 500);
}

TEST(RelativeBiasTest, KerpleIsCorrectlyRounded) {
  KerpleBias rule{.r1 = {0.01, 1.75, 3}, .r2 = {0.3, 1, 1e-6}};
  ExpectFormula({.rule = rule, .heads = 3, .max_len = 3000}, Kerple(rule), 1000);
  rule = {.kind = KerpleKind::kPower, .r1 = {0.01, 1.75, 3}, .r2 = {0.3, 2, 1.2345}};
  ExpectFormula({.rule = rule, .heads = 3, .max_len = 3000}, Kerple(rule), 1000);
}

TEST(RelativeBiasTest, FireIsCorrectlyRounded) {
  const FireBias rule = Sized(RandomFire(32, 4));
  ExpectFormula({.rule = rule, .heads = 4, .max_len = 400}, Fire(rule), 300);
}

// The ends of the parameters' ranges: F16 overflows and loses all, and products of weights are below every double.
TEST(RelativeBiasTest, ExtremesAreCorrectlyRounded) {
  KerpleBias kerple{.r1 = {1e-6, 1e6, 1e6}, .r2 = {1e-6, 1e6, 1e-6}};
  ExpectFormula({.rule = kerple, .heads = 3, .max_len = 3000}, Kerple(kerple), 200);
  kerple = {.kind = KerpleKind::kPower, .r1 = {1e-6, 1e6, 1e6}, .r2 = {1e-6, 2, 1e-6}};
  ExpectFormula({.rule = kerple, .heads = 3, .max_len = 3000}, Kerple(kerple), 200);
  const FireBias fire{.c = 1e-6, .threshold = 1e-6, .input_weight = {1e-200, 1e6, -1e-300},
                      .input_bias = {1e-310, 0, 1e-300}, .output_weight = {1e-200, 0, 1e-200, 1e-6, 1e6, -1e6},
                      .output_bias = {0, 1e-320}};
  ExpectFormula({.rule = fire, .heads = 2, .max_len = 300}, Fire(fire), 200);
}

// r^2 · 0.75 and r^0.5 · 0.75 of squares are exact, and some of them ties of BF16.
TEST(RelativeBiasTest, PowersThatAreWholeNumbersTieToEven) {
  const KerpleBias rule{.kind = KerpleKind::kPower, .r1 = {0.75, 0.75}, .r2 = {2, 0.5}};
  const auto table = *TryMake(RelativeBiasSpec{.rule = rule, .heads = 2, .max_len = 200}, ElementType::kBF16);
  const std::vector<double> squares = NumbersOf(*table, 199, 1), roots = NumbersOf(*table, 399, 1);
  EXPECT_EQ(squares[199 - 26], -508.0);  // 507 between 506 and 508
  EXPECT_EQ(squares[199 - 34], -868.0);  // 867 nearer to 868
  EXPECT_EQ(roots[199 - 144], -9.0);
}

// Units that are all at rest leave the output's bias as it is, and equal ends give an exact sum.
TEST(RelativeBiasTest, FireOfUnitsAtRestIsItsBias) {
  const FireBias rule{.c = 1, .threshold = 1, .input_weight = {-1}, .input_bias = {0},
                      .output_weight = {1}, .output_bias = {2049}};
  const auto table = *TryMake(RelativeBiasSpec{.rule = rule, .heads = 1, .max_len = 8}, ElementType::kF16);
  EXPECT_THAT(NumbersOf(*table, 7, 1), Each(2048.0));
  FireBias active = rule;
  active.input_weight = {2};
  active.output_bias = {2047};
  const auto sums = *TryMake(RelativeBiasSpec{.rule = active, .heads = 1, .max_len = 8}, ElementType::kF16);
  EXPECT_EQ(NumbersOf(*sums, 7, 1)[0], 2048.0);  // x = 1: 2049, a tie
  EXPECT_EQ(NumbersOf(*sums, 7, 1)[7], 2047.0);  // x = 0
}

TEST(RelativeBiasTest, KeysAfterTheQueryAreZeroOrMasked) {
  RelativeBiasSpec spec{.max_len = 3};
  EXPECT_THAT(NumbersOf(**TryMake(spec), 0, 1), Each(0.0));
  spec.masked = true;
  for (ElementType type : kEveryRealType) {
    EXPECT_THAT(NumbersOf(**TryMake(spec, type), 0, 1), ElementsAre(0, -INFINITY, -INFINITY));
  }
}

TEST(RelativeBiasTest, BytesDoNotDependOnTheSplitOfTheRows) {
  const FireBias fire = Sized(RandomFire(3, 2));
  for (const auto& rule : {RelativeBiasSpec{.rule = SandwichBias(), .heads = 2, .max_len = 40},
                           RelativeBiasSpec{.rule = fire, .heads = 2, .max_len = 40}}) {
    const auto table = *TryMake(rule);
    std::vector<uint64_t> rows;
    for (int64_t row = 0; row < 80; row += 16) {
      const std::vector<uint64_t> part = BitsOf(*table, row, 16);
      rows.insert(rows.end(), part.begin(), part.end());
    }
    EXPECT_EQ(rows, BitsOf(*table, 0, 80));
  }
}

TEST(RelativeBiasTest, SandwichThatWouldTakeMinutesIsRefused) {
  EXPECT_THAT(TryMake(RelativeBiasSpec{.rule = SandwichBias{.head_dim = 65536}, .max_len = 1 << 21}),
              ViolatesField("relative_bias.max_len"));
}

}  // namespace
}  // namespace posenc
