#include "server/encodings/exact/ziv.h"

#include "gtest/gtest.h"
#include "server/core/specs/normalize.h"
#include "server/encodings/exact/frequency_rule.h"
#include "server/encodings/exact/phasor_cells.h"
#include "tests/unit/encodings/reference.h"

namespace posenc {
namespace {

TEST(RoundByZivTest, RaisesThePrecisionUntilDecided) {
  int rounds = 0;
  const uint64_t bits = RoundByZiv(ElementType::kF32, [&](int64_t precision, Real& value) {
    ++rounds;
    mpfr_set_ui_2exp(value.get(), 1, -1500, MPFR_RNDN);
    mpfr_add_d(value.get(), value.get(), 1 + 0x1p-24, MPFR_RNDN);
    return -precision + 4;
  });
  EXPECT_EQ(bits, 0x3F800001u);
  EXPECT_EQ(rounds, 3);
}

TEST(RoundByZivTest, ValuesOnAMidpointGoToEven) {
  const auto on_midpoint = [](int64_t precision, Real& value) {
    mpfr_set_d(value.get(), 1 + 0x1.8p-23, MPFR_RNDN);
    return -precision;
  };
  EXPECT_EQ(RoundByZiv(ElementType::kF32, on_midpoint), 0x3F800002u);
}

TEST(RoundByZivTest, AgreesWithTurnsOnPhasors) {
  for (ElementType type : {ElementType::kF64, ElementType::kF32, ElementType::kBF16}) {
    const PhasorCells cells(MakeFrequencies({.count = 32, .twice_pairs = 64}), Magnitude(0.7), type);
    for (int64_t k = 0; k < 32; ++k) {
      const int64_t position = 1 + k * k * k * 7919;
      EXPECT_EQ(cells.RoundedAt(position, k).cos, cells.RoundedByZiv(Coordinate(position), k).cos);
      EXPECT_EQ(cells.RoundedAt(-position, k).sin, cells.RoundedByZiv(Coordinate(-position), k).sin);
    }
  }
}

// 25680 · 10000^(-2/8) = 2568 lies in the middle between the BF16 numbers 2560 and 2576.
TEST(RoundByZivTest, DecidesRationalAnglesThatAreTies) {
  const auto spec =
      Normalize({.family = RopeSpec{.head_dim = 8, .max_len = 30000, .layout = RopeLayout::kAngles},
                 .element_type = ElementType::kBF16});
  const auto generator = *MakeTableGenerator(*spec);
  const int64_t before = ZivCount();
  const Buffers row = GeneratePositions(*generator, {25680});
  EXPECT_EQ(ElementAt(row[0], ElementType::kBF16, 1), 0x4520u);
  EXPECT_EQ(ZivCount(), before + 1);
}

}  // namespace
}  // namespace posenc
