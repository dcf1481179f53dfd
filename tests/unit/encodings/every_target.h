// A fixture that runs its tests on every kernel target and in every element type.

#ifndef POSENC_TESTS_UNIT_ENCODINGS_EVERY_TARGET_H_
#define POSENC_TESTS_UNIT_ENCODINGS_EVERY_TARGET_H_

#include <memory>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/core/specs/normalize.h"
#include "server/encodings/table_generator.h"
#include "tests/support/matchers.h"
#include "tests/unit/encodings/reference.h"

namespace posenc {

inline std::vector<int64_t> Positions(int64_t first, int64_t count) {
  std::vector<int64_t> result(count);
  std::iota(result.begin(), result.end(), first);
  return result;
}

class EveryTargetTest : public ::testing::TestWithParam<std::tuple<std::string, ElementType>> {
 public:
  static std::string CaseName(const ::testing::TestParamInfo<ParamType>& info) {
    return absl::StrCat(std::get<0>(info.param), "_",
                        std::string(ElementTypeName(std::get<1>(info.param))));
  }

 protected:
  void SetUp() override { ASSERT_OK(ForceKernelTarget(std::get<0>(GetParam()))); }
  void TearDown() override { ASSERT_OK(ForceKernelTarget(SupportedKernelTargets().front())); }

  ElementType type() const { return std::get<1>(GetParam()); }

  // The normalised spec of a family in this test's element type; its generator.
  TableSpec Spec(const FamilySpec& family) const {
    const auto spec = Normalize({.family = family, .element_type = type()});
    EXPECT_OK(spec);
    return spec.ok() ? *spec : TableSpec();
  }
  std::shared_ptr<const TableGenerator> Table(const FamilySpec& family) const {
    const auto generator = MakeTableGenerator(Spec(family));
    EXPECT_OK(generator);
    return generator.ok() ? *generator : nullptr;
  }

  // Compares rows of the table, and the same positions one by one, with the reference.
  void ExpectCorrect(const FamilySpec& family, int64_t first_row, int64_t rows) const {
    const auto table = Table(family);
    ASSERT_NE(table, nullptr);
    const TableShape& shape = table->shape();
    std::vector<int64_t> positions = Positions(shape.first_position + first_row, rows);
    if (shape.descending) {
      for (int64_t& position : positions) position = 2 * shape.first_position - position;
    }
    const Buffers generated = GenerateRows(*table, first_row, rows);
    EXPECT_EQ(FirstDifference(Spec(family), *table, positions, generated), "");
    if (shape.row_kind != RowKind::kPositions) return;
    EXPECT_EQ(GeneratePositions(*table, positions), generated);
  }

  // Compares rows at real positions, or at one position for each axis, with the reference.
  void ExpectCorrectAt(const FamilySpec& family, const std::vector<std::vector<double>>& positions) const {
    const auto table = Table(family);
    ASSERT_NE(table, nullptr);
    std::vector<double> coordinates;
    for (const auto& position : positions) {
      coordinates.insert(coordinates.end(), position.begin(), position.end());
    }
    EXPECT_EQ(FirstDifferenceAt(Spec(family), *table, positions, GenerateReal(*table, coordinates)), "");
  }
};

inline auto EveryTarget() {
  return ::testing::Combine(
      ::testing::ValuesIn(SupportedKernelTargets()),
      ::testing::Values(ElementType::kF64, ElementType::kF32, ElementType::kF16, ElementType::kBF16));
}

}  // namespace posenc

#endif  // POSENC_TESTS_UNIT_ENCODINGS_EVERY_TARGET_H_
