#include "server/encodings/kernels/cos_sin.h"

#include <mpfr.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "server/encodings/table_generator.h"
#include "tests/support/matchers.h"

namespace posenc {
namespace {

// MPFR's function of a float, rounded to 24 bits.
template <typename Function>
float Nearest(float angle, Function function) {
  mpfr_t value;
  mpfr_init2(value, 24);
  mpfr_set_flt(value, angle, MPFR_RNDN);
  function(value, value, MPFR_RNDN);
  const float result = mpfr_get_flt(value, MPFR_RNDN);
  mpfr_clear(value);
  return result;
}

// Normal floats of every size up to 2^26, and those next to multiples of a quarter turn.
std::vector<float> Angles() {
  std::mt19937_64 random(20261129);
  std::vector<float> angles = {0.0F, 1.0F, -1.0F, 0x1.921fb6p+0F, 0x1.921fb4p+0F, 0x1p26F};
  for (int i = 0; i < 4000; ++i) {
    const auto sign = static_cast<uint32_t>(random() & 1) << 31;
    angles.push_back(std::bit_cast<float>(static_cast<uint32_t>(0x00800000 + random() % 0x4BFFFFFF) | sign));
    angles.push_back(static_cast<float>(static_cast<double>(random() % (1 << 20)) * 1.5707963267948966));
  }
  return angles;
}

class CosSinTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { ASSERT_OK(ForceKernelTarget(GetParam())); }
  void TearDown() override { ASSERT_OK(ForceKernelTarget(SupportedKernelTargets().front())); }

  // Runs the kernel; returns how many are undecided, and marks them with NaN.
  size_t Run(std::vector<float> angles) {
    const size_t count = angles.size();
    for (auto* values : {&angles, &cos_, &sin_}) values->resize(count + kCosSinPadding);
    std::vector<uint32_t> undecided(count);
    const size_t listed = WriteCosSin(angles.data(), count, cos_.data(), sin_.data(), undecided.data());
    for (size_t i = 0; i < listed; ++i) cos_.at(undecided[i]) = NAN;
    return listed;
  }

  std::vector<float> cos_, sin_;
};

TEST_P(CosSinTest, DecidedCellsAreTheNearestFloats) {
  const std::vector<float> angles = Angles();
  const size_t undecided = Run(angles);
  EXPECT_LT(undecided, angles.size() / 50);
  for (size_t i = 0; i < angles.size(); ++i) {
    if (std::isnan(cos_[i])) continue;
    EXPECT_EQ(cos_[i], Nearest(angles[i], mpfr_cos)) << angles[i];
    EXPECT_EQ(sin_[i], Nearest(angles[i], mpfr_sin)) << angles[i];
  }
}

TEST_P(CosSinTest, AnglesBeyondItsRangeAreUndecided) {
  EXPECT_EQ(Run({0x1p27F, -0x1p60F, 3e38F, INFINITY}), 4u);
}

TEST_P(CosSinTest, IndicesOfPartialVectorsAreWithinTheCount) {
  for (size_t count = 1; count < 20; ++count) EXPECT_EQ(Run(std::vector<float>(count, 0x1p30F)), count);
}

INSTANTIATE_TEST_SUITE_P(Targets, CosSinTest, ::testing::ValuesIn(SupportedKernelTargets()));

}  // namespace
}  // namespace posenc
