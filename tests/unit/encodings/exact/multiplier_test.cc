#include "server/encodings/exact/multiplier.h"

#include <bit>
#include <cmath>
#include <cstdint>

#include "gtest/gtest.h"
#include "server/encodings/exact/quick_product.h"
#include "tests/unit/encodings/reference.h"

namespace posenc {
namespace {

constexpr ElementType kTypes[] = {ElementType::kF64, ElementType::kF32, ElementType::kF16,
                                  ElementType::kBF16};

Real Tenth() {
  Real value(400, 1.0);
  mpfr_div_ui(value.get(), value.get(), 10, MPFR_RNDN);
  return value;
}

TEST(MultiplierTest, DoublesAreKnownToBeExact) {
  EXPECT_TRUE(Multiplier(Real(400, 0.1)).exact());
  EXPECT_FALSE(Multiplier(Tenth()).exact());
  EXPECT_EQ(Multiplier(Tenth()).high(), 0.1);
}

TEST(MultiplierTest, ProductsAreDecidedAndNearest) {
  const Multiplier tenth((Tenth()));
  for (int64_t factor = 1; factor < 20'000; factor += 7) {
    Real truth = Tenth();
    mpfr_mul_si(truth.get(), truth.get(), factor, MPFR_RNDN);
    for (ElementType type : kTypes) {
      const uint64_t expected = ReferenceRound(type, truth.get());
      const auto decided = RoundTo(type, tenth.Times(factor));
      if (factor % 5 != 0) {
        ASSERT_EQ(decided, expected) << factor;
      }
      if (const auto quick = QuickProduct(type, tenth, factor)) {
        ASSERT_EQ(*quick, expected) << factor;
      }
    }
  }
}

TEST(MultiplierTest, ExactProductsRoundTiesToEven) {
  const Multiplier one(Real(400, 1.0));
  for (int64_t factor = 1; factor < (1 << 14); ++factor) {
    Real truth(400, static_cast<double>(factor));
    for (ElementType type : kTypes) {
      const uint64_t expected = ReferenceRound(type, truth.get());
      ASSERT_EQ(RoundTo(type, one.Times(factor)), expected);
      ASSERT_EQ(QuickProduct(type, one, factor), expected) << factor;
    }
  }
}

TEST(MultiplierTest, ExactProductsAroundEveryF16MidpointAreNearest) {
  // Subnormal and smallest normal ones; above them the pattern of the mantissa repeats.
  for (int step = 0; step < 4096; ++step) {
    const float midpoint = std::ldexp(static_cast<float>(2 * step + 1), -25);
    for (float value : {std::nextafterf(midpoint, 0.0f), midpoint, std::nextafterf(midpoint, 1.0f)}) {
      const Real truth(400, static_cast<double>(value));
      const uint64_t expected = ReferenceRound(ElementType::kF16, truth.get());
      ASSERT_EQ(QuickProduct(ElementType::kF16, Multiplier(truth), 1), expected) << value;
    }
  }
}

TEST(MultiplierTest, NegativeFactorsNegate) {
  const Multiplier tenth((Tenth()));
  EXPECT_EQ(RoundTo(ElementType::kF64, tenth.Times(-1)), std::bit_cast<uint64_t>(-0.1));
  EXPECT_EQ(RoundTo(ElementType::kF64, tenth.Times(0)), 0u);
}

}  // namespace
}  // namespace posenc
