#include "server/encodings/float32/float32_generator.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/core/specs/normalize.h"
#include "tests/support/matchers.h"

namespace posenc {
namespace {

using Bytes = std::vector<std::vector<std::byte>>;
using Generator = std::shared_ptr<const TableGenerator>;

Generator Make(const FamilySpec& family, Arithmetic arithmetic = Arithmetic::kFloat32,
               ElementType type = ElementType::kF32) {
  const auto spec = Normalize({.family = family, .element_type = type, .arithmetic = arithmetic});
  EXPECT_OK(spec);
  auto generator = MakeTableGenerator(*spec);
  EXPECT_OK(generator);
  return *generator;
}

template <typename Write>
Bytes Written(const TableGenerator& table, int64_t rows, Write&& write) {
  Bytes tensors;
  for (const TensorShape& tensor : table.shape().tensors) tensors.emplace_back(rows * tensor.row_bytes());
  std::vector<std::byte*> out;
  for (auto& tensor : tensors) out.push_back(tensor.data());
  write(out);
  return tensors;
}

Bytes Rows(const TableGenerator& table, int64_t first, int64_t count) {
  return Written(table, count, [&](auto& out) { table.Generate(first, count, out); });
}

Bytes At(const TableGenerator& table, const std::vector<double>& positions) {
  const auto count = static_cast<int64_t>(positions.size()) / table.shape().position_axes;
  return Written(table, count, [&](auto& out) { table.GenerateAt(positions, out); });
}

std::vector<float> Floats(const std::vector<std::byte>& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

constexpr Arithmetic kPipelines[] = {Arithmetic::kFloat32, Arithmetic::kFloat32Vllm, Arithmetic::kFloat32Ggml,
                                     Arithmetic::kFloat32Mlx, Arithmetic::kFloat32TensorRt};

TEST(Float32GeneratorTest, EveryTargetWritesTheSameBytes) {
  const RopeSpec spec{.head_dim = 42, .scaling = YarnScaling{.factor = 8, .original_max_len = 4096},
                      .first_position = 100000};
  for (Arithmetic arithmetic : kPipelines) {
    const Generator table = Make(spec, arithmetic);
    const Bytes expected = Rows(*table, 0, 300);
    for (const std::string& target : SupportedKernelTargets()) {
      ASSERT_OK(ForceKernelTarget(target));
      EXPECT_EQ(Rows(*table, 0, 300), expected) << target;
    }
    ASSERT_OK(ForceKernelTarget(SupportedKernelTargets().front()));
  }
}

TEST(Float32GeneratorTest, RowsAreTheSameByPositionAndInAnySplit) {
  const Generator table = Make(SinusoidalSpec{.d_model = 10, .first_position = -2, .zero_row = 3});
  const Bytes rows = Rows(*table, 0, 6);
  EXPECT_EQ(At(*table, {-2, -1, 0, 1, 2, 3}), rows);
  EXPECT_EQ(Rows(*table, 3, 1)[0], std::vector<std::byte>(40));
}

// torch.tensor([...], dtype=float32) first.
TEST(Float32GeneratorTest, RealPositionsAreRoundedToFloatFirst) {
  const Generator table = Make(SinusoidalSpec{.d_model = 64});
  EXPECT_EQ(At(*table, {0.1}), At(*table, {static_cast<double>(0.1F)}));
  EXPECT_NE(At(*table, {0.1}), At(*table, {0.1001}));
}

TEST(Float32GeneratorTest, LargePositionsAreRoundedToFloatToo) {
  const Generator table = Make(RopeSpec{.head_dim = 8, .max_len = 1 << 26});
  EXPECT_EQ(Rows(*table, (1 << 24) + 1, 1), Rows(*table, 1 << 24, 1));
}

TEST(Float32GeneratorTest, CosinesAreThoseOfTheAngles) {
  for (Arithmetic arithmetic : kPipelines) {
    const Generator angles = Make(RopeSpec{.head_dim = 8, .layout = RopeLayout::kAngles}, arithmetic);
    const Generator table = Make(RopeSpec{.head_dim = 8}, arithmetic);
    const std::vector<float> angle = Floats(Rows(*angles, 777, 1)[0]);
    const std::vector<float> cos = Floats(Rows(*table, 777, 1)[0]);
    for (size_t i = 0; i < 4; ++i) EXPECT_EQ(cos[i], static_cast<float>(std::cos(double{angle[i]}))) << i;
  }
}

TEST(Float32GeneratorTest, MagnitudeIsAProductInFloat) {
  const Generator plain = Make(RopeSpec{.head_dim = 8});
  const Generator table = Make(RopeSpec{.head_dim = 8, .attention_factor = 1.1});
  const std::vector<float> expected = Floats(Rows(*plain, 9, 1)[1]);
  const std::vector<float> sin = Floats(Rows(*table, 9, 1)[1]);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(sin[i], expected[i] * 1.1F);
  EXPECT_EQ(table->facts().magnitude, double{1.1F});
}

TEST(Float32GeneratorTest, NarrowElementsAreRoundedFromFloats) {
  const auto floats = Floats(Rows(*Make(RopeSpec{.head_dim = 64}), 5, 1)[0]);
  const auto bytes = Rows(*Make(RopeSpec{.head_dim = 64}, Arithmetic::kFloat32, ElementType::kBF16), 5, 1)[0];
  for (size_t i = 0; i < floats.size(); ++i) {
    uint16_t element;
    std::memcpy(&element, bytes.data() + 2 * i, 2);
    const float value = std::bit_cast<float>(static_cast<uint32_t>(element) << 16);
    EXPECT_LE(std::fabs(value - floats[i]), std::ldexp(std::fabs(floats[i]), -8)) << i;
  }
}

TEST(Float32GeneratorTest, PeriodsAreReciprocalsOfFrequencies) {
  const auto w = Floats(Rows(*Make(RopeSpec{.head_dim = 8, .layout = RopeLayout::kFrequencies}), 0, 1)[0]);
  const auto periods = Floats(Rows(*Make(RopeSpec{.head_dim = 8, .layout = RopeLayout::kPeriods}), 0, 1)[0]);
  for (size_t i = 0; i < w.size(); ++i) EXPECT_EQ(periods[i], 1 / w[i]);
}

TEST(Float32GeneratorTest, FactsHoldTheFrequenciesAndAnOwnBound) {
  const Generator table = Make(RopeSpec{.head_dim = 4});
  EXPECT_THAT(table->facts().inverse_frequencies, ::testing::ElementsAre(1, double{0.01F}));
  EXPECT_THAT(table->facts().error_bound, ::testing::StartsWith("float32 pipeline: "));
}

TEST(Float32GeneratorTest, CellsOfAGridAreRowsAtItsCoordinates) {
  const RopeAxes axes{.map = AxisMap::kSeparate, .sections = {3, 5}};
  for (Arithmetic arithmetic : kPipelines) {
    const RopeSpec cells{.head_dim = 16, .axes = axes, .grid = Grid{.sizes = {2, 3}}};
    const Generator grid = Make(cells, arithmetic);
    const Generator table = Make(RopeSpec{.head_dim = 16, .axes = axes}, arithmetic);
    EXPECT_EQ(Rows(*grid, 0, 6), At(*table, {0, 0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 2}));
  }
}

TEST(Float32GeneratorTest, DualChunkTakesRowsAtItsPositions) {
  const DualChunk chunk{.role = ChunkRole::kInter, .chunk_size = 16, .local_size = 4};
  const Generator table = Make(RopeSpec{.head_dim = 8, .dual_chunk = chunk});
  EXPECT_EQ(Rows(*table, 0, 3), Rows(*Make(RopeSpec{.head_dim = 8}), 16, 3));
}

TEST(Float32GeneratorTest, XPosScalesQueriesUpAndKeysDown) {
  const Generator table = Make(RopeSpec{.head_dim = 4, .xpos = XPos{.scale_base = 2, .centre = 5}});
  const Bytes rows = Rows(*table, 7, 1);  // z = 1; g = 1.6 / 5.6 and 3.6 / 5.6
  const auto plain = Floats(Rows(*Make(RopeSpec{.head_dim = 4}), 7, 1)[0]);
  const float growth[] = {1.6F / 5.6F, 3.6F / 5.6F};
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_FLOAT_EQ(Floats(rows[0])[i], plain[i] * growth[i]);
    EXPECT_FLOAT_EQ(Floats(rows[2])[i], plain[i] / growth[i]);
  }
}

}  // namespace
}  // namespace posenc
