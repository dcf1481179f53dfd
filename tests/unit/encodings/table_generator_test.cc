#include "server/encodings/table_generator.h"

#include <malloc.h>

#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/core/names.h"
#include "server/core/specs/normalize.h"
#include "tests/support/matchers.h"
#include "tests/unit/encodings/every_target.h"
#include "tests/unit/encodings/reference.h"

namespace posenc {
namespace {

class TableGeneratorTest : public EveryTargetTest {};

TEST_P(TableGeneratorTest, RotaryCellsAreCorrectlyRoundedInEveryLayout) {
  for (RopeLayout layout :
       {RopeLayout::kSplitHalf, RopeLayout::kSplitDuplicated, RopeLayout::kSplitRepeated,
        RopeLayout::kCosSin, RopeLayout::kCosSinDuplicated, RopeLayout::kSinCos,
        RopeLayout::kSinCosRepeated, RopeLayout::kPairs, RopeLayout::kPairsDuplicated,
        RopeLayout::kAngles, RopeLayout::kAnglesDuplicated, RopeLayout::kAnglesRepeated}) {
    SCOPED_TRACE(NameOf(layout));
    for (int64_t width : {2, 32, 42}) {
      ExpectCorrect(RopeSpec{.head_dim = width, .layout = layout, .first_position = -3}, 0, 37);
    }
  }
}

TEST_P(TableGeneratorTest, ComplexCellsAreCorrectlyRounded) {
  const RopeSpec spec{.head_dim = 64, .layout = RopeLayout::kComplex};
  const ElementType type = std::get<1>(GetParam());
  if (ElementSizeBytes(type) == 2) {  // there is no complex number of two 16-bit floats
    EXPECT_THAT(MakeTableGenerator({.family = spec, .element_type = type}),
                ViolatesField("element_type"));
  } else {
    ExpectCorrect(spec, 0, 20);
  }
}

TEST_P(TableGeneratorTest, FrequenciesAndPeriodsAreCorrectlyRounded) {
  for (RopeLayout layout : {RopeLayout::kFrequencies, RopeLayout::kPeriods}) {
    ExpectCorrect(RopeSpec{.head_dim = 128, .scaling = Llama3Scaling{}, .layout = layout}, 0, 1);
    ExpectCorrect(RopeSpec{.head_dim = 4, .base = 1024, .layout = layout}, 0, 1);
  }
}

TEST_P(TableGeneratorTest, ScaledFrequenciesAreCorrectlyRounded) {
  const ExplicitFrequencies given{{1.0, 0.0, 1e-36, 1e9, 0.1, 3.141592653589793}};
  for (const RopeScaling& scaling :
       {RopeScaling(LinearScaling{3.0}), RopeScaling(Llama3Scaling{}),
        RopeScaling(Llama3Scaling{.low_freq_factor = 1, .high_freq_factor = 1}),
        RopeScaling(given)}) {
    ExpectCorrect(RopeSpec{.head_dim = 12, .max_len = 1 << 20, .base = 5e5, .scaling = scaling},
                  123456, 33);
    ExpectCorrect(RopeSpec{.head_dim = 12, .scaling = scaling}, 0, 33);
  }
}

TEST_P(TableGeneratorTest, FarPositionsAreCorrectlyRounded) {
  constexpr int64_t kMost = int64_t{1} << 53;
  ExpectCorrect(RopeSpec{.head_dim = 64, .max_len = 100, .first_position = kMost - 100}, 60, 40);
  ExpectCorrect(RopeSpec{.head_dim = 64, .max_len = 100, .first_position = -kMost}, 0, 40);
}

TEST_P(TableGeneratorTest, SinusoidalCellsAreCorrectlyRoundedInEveryOrder) {
  for (SinusoidalOrder order :
       {SinusoidalOrder::kInterleaved, SinusoidalOrder::kSinCos, SinusoidalOrder::kCosSin}) {
    SCOPED_TRACE(NameOf(order));
    for (double shift : {0.0, 1.0, 0.5}) {
      ExpectCorrect(
          SinusoidalSpec{.d_model = 34, .order = order, .frequency_shift = shift, .zero_row = 1}, 0,
          20);
      ExpectCorrect(SinusoidalSpec{.d_model = 48,
                                   .order = order,
                                   .frequency_shift = shift,
                                   .position_scale = 1000.0,
                                   .row_scale = 0.1},
                    40, 20);
    }
  }
}

TEST_P(TableGeneratorTest, OddWidthsAreCorrectlyRoundedUnderEveryRule) {
  for (SinusoidalOrder order :
       {SinusoidalOrder::kInterleaved, SinusoidalOrder::kSinCos, SinusoidalOrder::kCosSin}) {
    for (OddWidth rule : {OddWidth::kZeroColumn, OddWidth::kExtraSine, OddWidth::kDropCosine}) {
      const bool last_column_is_cosine = order != SinusoidalOrder::kCosSin;
      if (rule != OddWidth::kZeroColumn && !last_column_is_cosine) continue;
      SCOPED_TRACE(absl::StrCat(NameOf(order).data(), " ", NameOf(rule).data()));
      for (int64_t width : {3, 17, 33, 35}) {
        ExpectCorrect(SinusoidalSpec{.d_model = width, .order = order, .odd_width = rule}, 0, 18);
      }
    }
  }
}

TEST_P(TableGeneratorTest, ExtremeParametersAreCorrectlyRounded) {
  ExpectCorrect(SinusoidalSpec{.d_model = 32, .base = 1e30}, 0, 20);
  ExpectCorrect(SinusoidalSpec{.d_model = 32, .base = 1.0, .row_scale = 1e6}, 0, 20);
  ExpectCorrect(SinusoidalSpec{.d_model = 32, .base = 1e30, .frequency_shift = 15.99}, 0, 20);
  ExpectCorrect(SinusoidalSpec{.d_model = 32, .position_scale = 1e-36, .row_scale = 1e-6}, 0, 20);
  ExpectCorrect(SinusoidalSpec{.d_model = 2, .frequency_shift = 1, .clamp_denominator = true}, 0,
                20);
  ExpectCorrect(SinusoidalSpec{.d_model = 1, .order = SinusoidalOrder::kSinCos}, 0, 20);
  // Angles and cosines that leave F16, 65520 being the first to be infinite.
  ExpectCorrect(RopeSpec{.head_dim = 24, .max_len = 70000, .layout = RopeLayout::kAngles}, 65500, 40);
  ExpectCorrect(RopeSpec{.head_dim = 24, .max_len = 70000, .attention_factor = 65536.0}, 0, 40);
  // 10^18 and 10^-45 radians a position, at the last positions that there are.
  const int64_t most = int64_t{1} << 53;
  for (const double scale : {1e9, 1e-9}) {
    const SinusoidalSpec spec{
        .d_model = 4, .max_len = most, .position_scale = scale, .inverse_frequencies = {1e9, 1e-36}};
    ExpectCorrect(spec, most - 20, 20);
  }
}

TEST_P(TableGeneratorTest, AlibiCellsAreCorrectlyRounded) {
  for (int64_t heads : {1, 3, 8, 12}) {
    for (AlibiForm form : {AlibiForm::kCausal, AlibiForm::kSymmetric}) {
      ExpectCorrect(AlibiSpec{.heads = heads, .max_len = 19, .form = form}, 0, heads * 19);
    }
    ExpectCorrect(AlibiSpec{.heads = heads, .form = AlibiForm::kSlopes}, 0, 1);
    ExpectCorrect(AlibiSpec{.heads = heads, .max_len = 5000, .bias_max = 7.3, .masked = true}, 2500,
                  2);
    ExpectCorrect(
        AlibiSpec{
            .heads = heads, .slope_rule = AlibiSlopeRule::kGeometric, .form = AlibiForm::kSlopes},
        0, 1);
  }
}

TEST_P(TableGeneratorTest, AnySplitOfTheRowsGivesTheSameBytes) {
  const auto spec = Normalize({.family = RopeSpec{.head_dim = 74, .first_position = 777},
                               .element_type = std::get<1>(GetParam())});
  const auto generator = *MakeTableGenerator(*spec);
  const Buffers whole = GenerateRows(*generator, 0, 4400);
  for (int64_t step : {1, 7, 16, 33, 1000}) {
    Buffers joined(2);
    for (int64_t row = 0; row < 4400; row += step) {
      const Buffers part = GenerateRows(*generator, row, std::min(step, 4400 - row));
      for (int t : {0, 1}) joined[t].insert(joined[t].end(), part[t].begin(), part[t].end());
    }
    EXPECT_EQ(joined, whole) << "step " << step;
  }
}

TEST_P(TableGeneratorTest, LongRunsAgreeWithSinglePositions) {
  const auto spec = Normalize({.family = SinusoidalSpec{.d_model = 600, .max_len = 1 << 20},
                               .element_type = std::get<1>(GetParam())});
  const auto generator = *MakeTableGenerator(*spec);
  EXPECT_EQ(GenerateRows(*generator, 1000, 4200),
            GeneratePositions(*generator, Positions(1000, 4200)));
}

INSTANTIATE_TEST_SUITE_P(AllTargets, TableGeneratorTest, EveryTarget(), EveryTargetTest::CaseName);

TEST(KernelTargetTest, ScalarIsTheLastOne) { EXPECT_EQ(SupportedKernelTargets().back(), "SCALAR"); }

TEST(KernelTargetTest, ForcingSwitchesTheKernels) {
  ASSERT_OK(ForceKernelTarget("scalar"));
  EXPECT_EQ(KernelTarget(), "SCALAR");
  ASSERT_OK(ForceKernelTarget(SupportedKernelTargets().front()));
}

TEST(KernelTargetTest, UnknownNameIsRefusedWithTheList) {
  EXPECT_THAT(ForceKernelTarget("MMX"),
              StatusIs(absl::StatusCode::kInvalidArgument, ::testing::HasSubstr("SCALAR")));
}

TEST(MakeTableGeneratorTest, RefusesWhatIsNotValid) {
  EXPECT_THAT(MakeTableGenerator({.family = RopeSpec{.head_dim = 7}}),
              ViolatesField("rope.head_dim"));
}

TEST(MakeTableGeneratorTest, ThreadsThatEndLeaveNothingBehind) {
  constexpr int kThreads = 50;
  const auto make_in_threads = [] {
    for (int i = 0; i < kThreads; ++i) {
      std::thread([] { EXPECT_OK(MakeTableGenerator({.family = RopeSpec{.head_dim = 128}})); }).join();
    }
    return static_cast<double>(mallinfo2().uordblks);
  };
  const double before = make_in_threads();  // and whatever is made once
  EXPECT_LT(make_in_threads() - before, kThreads * 512.0);
}

}  // namespace
}  // namespace posenc
