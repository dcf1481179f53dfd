#include "server/core/element_type.h"

#include "gtest/gtest.h"
#include "tests/support/matchers.h"

namespace posenc {
namespace {

using ::testing::HasSubstr;

TEST(ElementTypeTest, SizesAreThoseOfTheFormats) {
  EXPECT_EQ(ElementSizeBytes(ElementType::kF64), 8u);
  EXPECT_EQ(ElementSizeBytes(ElementType::kF32), 4u);
  EXPECT_EQ(ElementSizeBytes(ElementType::kF16), 2u);
  EXPECT_EQ(ElementSizeBytes(ElementType::kBF16), 2u);
  EXPECT_EQ(ElementSizeBytes(ElementType::kComplex64), 8u);
  EXPECT_EQ(ElementSizeBytes(ElementType::kComplex128), 16u);
}

TEST(ElementTypeTest, NamesRoundTrip) {
  for (ElementType type : {ElementType::kF64, ElementType::kF32, ElementType::kF16,
                           ElementType::kBF16, ElementType::kComplex64, ElementType::kComplex128}) {
    const absl::StatusOr<ElementType> parsed = ParseElementType(ElementTypeName(type));
    ASSERT_OK(parsed);
    EXPECT_EQ(*parsed, type);
  }
}

TEST(ElementTypeTest, TakesTheSpellingsOfOtherTools) {
  const std::vector<std::pair<const char*, ElementType>> cases = {
      {"float64", ElementType::kF64},   {"double", ElementType::kF64},
      {"float32", ElementType::kF32},   {"Float", ElementType::kF32},
      {"FP16", ElementType::kF16},      {"half", ElementType::kF16},
      {"BFLOAT16", ElementType::kBF16}, {"complex64", ElementType::kComplex64}};
  for (const auto& [name, type] : cases) {
    ASSERT_OK(ParseElementType(name)) << name;
    EXPECT_EQ(*ParseElementType(name), type) << name;
  }
}

TEST(ElementTypeTest, RefusesOtherNamesAndListsTheRightOnes) {
  for (const char* name : {"", "f8", "int64", "f32 "}) {
    EXPECT_THAT(ParseElementType(name), StatusIs(absl::StatusCode::kInvalidArgument,
                                                 HasSubstr("F64, F32, F16, BF16")))
        << name;
  }
}

}  // namespace
}  // namespace posenc
