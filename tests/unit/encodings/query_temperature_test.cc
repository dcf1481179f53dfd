#include <cmath>

#include "tests/unit/encodings/bias_fixture.h"

namespace posenc {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

// The factor after `steps` whole floor_lens, scale = numerator / denominator.
uint64_t Expected(ElementType type, int64_t steps, int64_t numerator, int64_t denominator) {
  Number x;
  mpfr_set_sj(x.value, steps + 1, MPFR_RNDN);
  mpfr_log(x.value, x.value, MPFR_RNDN);
  mpfr_mul_si(x.value, x.value, numerator, MPFR_RNDN);
  mpfr_div_si(x.value, x.value, denominator, MPFR_RNDN);
  mpfr_add_ui(x.value, x.value, 1, MPFR_RNDN);
  return ReferenceRound(type, x.value);
}

TEST(QueryTemperatureTest, LlamasFactorStepsOnePositionEarly) {
  const auto table = *TryMake(QueryTemperatureSpec{.max_len = 20000, .position_offset = 1});
  EXPECT_EQ(table->shape().tensors[0].name, "scale");
  EXPECT_THAT(table->shape().tensors[0].row_shape, ElementsAre(1));
  EXPECT_THAT(NumbersOf(*table, 0, 8191), Each(1.0));
  EXPECT_EQ(BitsOf(*table, 8191, 1)[0], Expected(ElementType::kF32, 1, 1, 10));
  EXPECT_EQ(BitsOf(*table, 16382, 1)[0], Expected(ElementType::kF32, 1, 1, 10));
  EXPECT_EQ(BitsOf(*table, 16383, 1)[0], Expected(ElementType::kF32, 2, 1, 10));
}

TEST(QueryTemperatureTest, EveryStepIsCorrectlyRoundedInEveryType) {
  for (ElementType type : kEveryRealType) {
    const auto tenth = *TryMake(QueryTemperatureSpec{.max_len = 4000, .floor_len = 1}, type);
    const auto eighths = *TryMake(QueryTemperatureSpec{.max_len = 4000, .scale = 0.375, .floor_len = 1}, type);
    for (int64_t row = 0; row < 4000; row += 7) {
      EXPECT_EQ(BitsOf(*tenth, row, 1)[0], Expected(type, row, 1, 10)) << row;
      EXPECT_EQ(BitsOf(*eighths, row, 1)[0], Expected(type, row, 3, 8)) << row;
    }
  }
}

TEST(QueryTemperatureTest, PositionsAreRowsAndFarOnesAreExact) {
  const int64_t far = (int64_t{1} << 52) + 1;
  const auto table = *TryMake(QueryTemperatureSpec{.max_len = far + 1, .floor_len = 1}, ElementType::kF64);
  const Buffers buffers = GeneratePositions(*table, {far, 0, 5});
  EXPECT_EQ(ElementAt(buffers[0], ElementType::kF64, 0), Expected(ElementType::kF64, far, 1, 10));
  EXPECT_EQ(ElementAt(buffers[0], ElementType::kF64, 2), BitsOf(*table, 5, 1)[0]);
}

TEST(QueryTemperatureTest, ScaleOfZeroIsOne) {
  const auto table = *TryMake(QueryTemperatureSpec{.max_len = 9, .scale = 0, .floor_len = 2});
  EXPECT_THAT(NumbersOf(*table, 0, 9), Each(1.0));
}

}  // namespace
}  // namespace posenc
