#include "server/core/names.h"

#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/support/matchers.h"

namespace posenc {
namespace {

using ::testing::HasSubstr;

template <typename Enum>
class NamesTest : public ::testing::Test {};

using Enums = ::testing::Types<SinusoidalOrder, OddWidth, RopeLayout, AlibiSlopeRule, AlibiForm,
                               Arithmetic, NtkRule, AxisMap, FrequencyBands, ChunkRole, GridCoordinates,
                               GridNormalize, GridOrder, KerpleKind, BiasForm>;
TYPED_TEST_SUITE(NamesTest, Enums);

TYPED_TEST(NamesTest, RoundTripInTheOrderOfTheValues) {
  int value = 0;
  for (absl::string_view name : AllNames<TypeParam>()) {
    const absl::StatusOr<TypeParam> parsed = ParseName<TypeParam>(name);
    ASSERT_OK(parsed);
    EXPECT_EQ(static_cast<int>(*parsed), ++value);
    EXPECT_EQ(NameOf(*parsed), name);
  }
}

TYPED_TEST(NamesTest, AreUniqueAndLowerCaseWithDashes) {
  std::set<absl::string_view> seen;
  for (absl::string_view name : AllNames<TypeParam>()) {
    EXPECT_TRUE(seen.insert(name).second) << name;
    for (char c : name) EXPECT_TRUE(absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '-') << name;
  }
}

TYPED_TEST(NamesTest, TakeAnyCaseAndUnderscores) {
  for (absl::string_view name : AllNames<TypeParam>()) {
    const std::string shouted = absl::StrReplaceAll(absl::AsciiStrToUpper(name), {{"-", "_"}});
    ASSERT_OK(ParseName<TypeParam>(shouted));
    EXPECT_EQ(NameOf(*ParseName<TypeParam>(shouted)), name);
  }
}

TYPED_TEST(NamesTest, UnknownNameIsRefusedWithTheWholeList) {
  const absl::StatusOr<TypeParam> parsed = ParseName<TypeParam>("wrong");
  for (absl::string_view name : AllNames<TypeParam>()) {
    EXPECT_THAT(parsed,
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(std::string(name))));
  }
}

TEST(FamilyNameTest, NamesEveryFamily) {
  EXPECT_EQ(FamilyName(SinusoidalSpec()), "sinusoidal");
  EXPECT_EQ(FamilyName(RopeSpec()), "rope");
  EXPECT_EQ(FamilyName(AlibiSpec()), "alibi");
}

}  // namespace
}  // namespace posenc
