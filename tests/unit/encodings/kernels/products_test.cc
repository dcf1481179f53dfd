#include "server/encodings/kernels/products.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "gtest/gtest.h"
#include "server/encodings/exact/multiplier.h"
#include "server/encodings/exact/ziv.h"
#include "server/encodings/kernels/tile.h"
#include "tests/unit/encodings/every_target.h"

namespace posenc {
namespace {

Real Constant(double numerator, double denominator) {
  Real value(Multiplier::kMultiplierBits + 16, numerator);
  mpfr_div_d(value.get(), value.get(), denominator, MPFR_RNDN);
  return value;
}

struct Factors {
  int64_t first;
  int64_t step;
  int64_t count;
  bool exact = false;
};

class ProductsTest : public EveryTargetTest {
 protected:
  // Writes a run of products, compares the decided ones with the accurate path, and returns how many are not.
  size_t ExpectNearest(const Real& constant, const Factors& run) const {
    const Multiplier multiplier(constant);
    const double high = multiplier.high(), low = multiplier.low();
    const size_t size = ElementSizeBytes(type());
    std::vector<std::byte> out(run.count * size);
    std::vector<uint32_t> undecided(run.count);
    const size_t listed = WriteProducts(type(), {.first = static_cast<double>(run.first),
                                                 .step = static_cast<double>(run.step),
                                                 .high = &high,
                                                 .low = &low,
                                                 .one_constant = true,
                                                 .exact = run.exact,
                                                 .count = run.count,
                                                 .to = out.data(),
                                                 .undecided = undecided.data()});
    undecided.resize(listed);
    for (int64_t i = 0; i < run.count; ++i) {
      if (std::binary_search(undecided.begin(), undecided.end(), i)) continue;
      uint64_t bits = 0;
      std::memcpy(&bits, &out[i * size], size);
      EXPECT_EQ(bits, RoundTo(type(), multiplier.Times(run.first + i * run.step))) << "element " << i;
    }
    return listed;
  }
};

TEST_P(ProductsTest, AreNearestForConstantsOfAnySize) {
  for (double numerator : {1.0, 0.7, 1e-6, 1e-30, 1e30, 5e-324}) {
    for (double denominator : {1.0, 3.0, 7.0, 1e10}) {
      ExpectNearest(Constant(numerator, denominator), {.first = -700, .step = 1, .count = 1000});
      ExpectNearest(Constant(numerator, denominator), {.first = 4503599627370496, .step = -1, .count = 37});
    }
  }
}

TEST_P(ProductsTest, LeaveFewUndecided) {
  EXPECT_LT(ExpectNearest(TwoPi(Multiplier::kMultiplierBits + 16), {.first = 1, .step = 1, .count = 9999}), 20);
}

// 2^-8 · 2049 lies between two F16, 2^-8 · 257 between two BF16.
TEST_P(ProductsTest, GoToEvenFromTiesOfExactProducts) {
  for (double constant : {0.00390625, 0.5, 3.0}) {
    const Factors run{.first = -5000, .step = 1, .count = 5000, .exact = true};
    EXPECT_EQ(ExpectNearest(Constant(constant, 1), run), 0);
  }
}

TEST_P(ProductsTest, LeaveTiesUndecidedUnlessExact) {
  const size_t undecided = ExpectNearest(Constant(0.00390625, 1), {.first = 2048, .step = 1, .count = 2048});
  EXPECT_EQ(undecided > 0, ElementSizeBytes(type()) == 2);
}

TEST_P(ProductsTest, MayHaveAConstantEach) {
  std::vector<double> high, low;
  std::vector<Multiplier> multipliers;
  for (int k = 0; k < 45; ++k) {
    multipliers.emplace_back(Constant(1.0, k + 3));
    high.push_back(multipliers.back().high());
    low.push_back(multipliers.back().low());
  }
  high.resize(45 + kPairPadding);
  low.resize(45 + kPairPadding);
  std::vector<uint64_t> out(45);
  std::vector<uint32_t> undecided(45);
  auto* const to = reinterpret_cast<std::byte*>(out.data());
  const size_t listed = WriteProducts(type(), {.first = 1001, .high = high.data(), .low = low.data(), .count = 45,
                                               .to = to, .undecided = undecided.data()});
  undecided.resize(listed);
  const size_t size = ElementSizeBytes(type());
  for (uint32_t k = 0; k < 45; ++k) {
    uint64_t bits = 0;
    std::memcpy(&bits, to + k * size, size);
    if (std::binary_search(undecided.begin(), undecided.end(), k)) continue;
    EXPECT_EQ(bits, RoundTo(type(), multipliers[k].Times(1001))) << "constant " << k;
  }
}

TEST_P(ProductsTest, ListTheOneThatIsUndecidedInEveryLane) {
  const double half_step = std::ldexp(1.0, type() == ElementType::kF64   ? -53
                                           : type() == ElementType::kF32 ? -24
                                           : type() == ElementType::kF16 ? -11
                                                                         : -8);
  for (uint32_t k = 0; k < 40; ++k) {
    std::vector<double> high(40 + kPairPadding, 0.7), low(high.size());
    high[k] = 1;
    (type() == ElementType::kF64 ? low : high)[k] += half_step;
    std::vector<uint64_t> out(40);
    std::vector<uint32_t> undecided(40);
    const size_t listed = WriteProducts(type(), {.first = 1, .high = high.data(), .low = low.data(), .count = 40,
                                                 .to = reinterpret_cast<std::byte*>(out.data()),
                                                 .undecided = undecided.data()});
    ASSERT_EQ(listed, 1);
    EXPECT_EQ(undecided[0], k);
  }
}

INSTANTIATE_TEST_SUITE_P(AllTargets, ProductsTest, EveryTarget(), EveryTargetTest::CaseName);

}  // namespace
}  // namespace posenc
