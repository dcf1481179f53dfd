#include "proto/spec_codec.h"

#include "gtest/gtest.h"
#include "server/core/names.h"
#include "server/core/specs/normalize.h"
#include "server/core/table_key.h"
#include "tests/support/matchers.h"
#include "tests/support/text_proto.h"

namespace posenc {
namespace {

absl::StatusOr<TableSpec> Decoded(const std::string& text) {
  return DecodeSpec(ParseText<v1::TableSpec>(text));
}

TEST(SpecCodecTest, AbsentFieldsHaveTheDefaultsOfTheStructs) {
  const std::vector<std::pair<const char*, TableSpec>> cases = {
      {"sinusoidal { d_model: 8 }", {.family = SinusoidalSpec{.d_model = 8}}},
      {"rope { head_dim: 8 }", {.family = RopeSpec{.head_dim = 8}}},
      {"rope { head_dim: 8 llama3 {} }",
       {.family = RopeSpec{.head_dim = 8, .scaling = Llama3Scaling()}}},
      {"alibi { heads: 8 }", {.family = AlibiSpec{.heads = 8}}}};
  for (const auto& [text, spec] : cases) {
    ASSERT_OK(Decoded(text)) << text;
    EXPECT_EQ(CanonicalText(*Decoded(text)), CanonicalText(spec));
  }
}

TEST(SpecCodecTest, EveryFieldIsRead) {
  const absl::StatusOr<TableSpec> spec = Decoded(R"pb(
    sinusoidal {
      d_model: 7 max_len: 9 base: 2.5 order: SINUSOIDAL_ORDER_COS_SIN frequency_shift: 0.5
      odd_width: ODD_WIDTH_DROP_COSINE clamp_denominator: true first_position: -4 zero_row: 0
      position_scale: 3 row_scale: 0.25
    }
    element_type: ELEMENT_TYPE_BF16)pb");
  ASSERT_OK(spec);
  const TableSpec expected{.family = SinusoidalSpec{.d_model = 7,
                                                    .max_len = 9,
                                                    .base = 2.5,
                                                    .order = SinusoidalOrder::kCosSin,
                                                    .frequency_shift = 0.5,
                                                    .odd_width = OddWidth::kDropCosine,
                                                    .clamp_denominator = true,
                                                    .first_position = -4,
                                                    .zero_row = 0,
                                                    .position_scale = 3,
                                                    .row_scale = 0.25},
                           .element_type = ElementType::kBF16};
  EXPECT_EQ(CanonicalText(*spec), CanonicalText(expected));
}

TEST(SpecCodecTest, NormalizedSpecsRoundTrip) {
  for (const char* text :
       {"sinusoidal { d_model: 512 zero_row: 1 row_scale: 2 } element_type: ELEMENT_TYPE_F64",
        "sinusoidal { d_model: 7 order: SINUSOIDAL_ORDER_SIN_COS frequency_shift: 1 }",
        "rope { head_dim: 128 rotary_dim: 64 base: 5e5 linear { factor: 4 } }",
        "rope { head_dim: 128 llama3 { factor: 32 low_freq_factor: 2 high_freq_factor: 5 } }",
        "rope { head_dim: 4 frequencies { inverse_frequencies: [1, 0.5] } first_position: 7 }",
        "alibi { heads: 12 max_len: 3 bias_max: 16 slope_rule: ALIBI_SLOPE_RULE_GEOMETRIC }",
        "alibi { heads: 12 masked: true } element_type: ELEMENT_TYPE_F16"}) {
    const absl::StatusOr<TableSpec> spec = DecodeNormalizedSpec(ParseText<v1::TableSpec>(text));
    ASSERT_OK(spec) << text;
    const absl::StatusOr<TableSpec> again = DecodeNormalizedSpec(EncodeSpec(*spec));
    ASSERT_OK(again) << text;
    EXPECT_EQ(CanonicalText(*again), CanonicalText(*spec));
  }
}

TEST(SpecCodecTest, EveryLayoutHasTheNumberOfItsEnum) {
  for (absl::string_view name : AllNames<RopeLayout>()) {
    const TableSpec spec{.family = RopeSpec{.head_dim = 8, .layout = *ParseName<RopeLayout>(name)}};
    const absl::StatusOr<TableSpec> again = DecodeSpec(EncodeSpec(spec));
    ASSERT_OK(again) << name;
    EXPECT_EQ(CanonicalText(*again), CanonicalText(spec));
  }
}

TEST(SpecCodecTest, UnknownEnumNumbersAreNamed) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"spec.sinusoidal.order", "sinusoidal { d_model: 8 order: 4 }"},
      {"spec.sinusoidal.order", "sinusoidal { d_model: 8 order: -1 }"},
      {"spec.sinusoidal.odd_width", "sinusoidal { d_model: 8 odd_width: 99 }"},
      {"spec.rope.layout", "rope { head_dim: 8 layout: 17 }"},
      {"spec.alibi.slope_rule", "alibi { heads: 8 slope_rule: 3 }"},
      {"spec.alibi.form", "alibi { heads: 8 form: 6 }"},
      {"spec.element_type", "alibi { heads: 8 } element_type: 8"},
      {"spec.arithmetic", "alibi { heads: 8 } arithmetic: 7"},
  };
  for (const auto& [field, text] : cases) {
    const absl::StatusOr<TableSpec> spec = Decoded(text);
    EXPECT_THAT(spec, ViolatesField(field)) << text;
    EXPECT_EQ(spec.status().code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST(SpecCodecTest, MissingFamilyAndFactorAreNamed) {
  EXPECT_THAT(Decoded(""), ViolatesField("spec.family"));
  EXPECT_THAT(Decoded("rope { head_dim: 8 linear {} }"), ViolatesField("spec.rope.linear.factor"));
}

TEST(SpecCodecTest, NormalizingPutsSpecBeforeThePaths) {
  EXPECT_THAT(DecodeNormalizedSpec(ParseText<v1::TableSpec>("rope { head_dim: 7 }")),
              ViolatesField("spec.rope.head_dim"));
  EXPECT_THAT(DecodeNormalizedSpec(
                  ParseText<v1::TableSpec>("rope { head_dim: 8 } element_type: ELEMENT_TYPE_C64")),
              ViolatesField("spec.element_type"));
}

TEST(SpecCodecTest, ElementTypesRoundTripAndUnspecifiedStaysSo) {
  for (int number = 1; number <= 7; ++number) {
    const absl::StatusOr<ElementType> type = DecodeElementType(static_cast<v1::ElementType>(number));
    ASSERT_OK(type);
    EXPECT_EQ(EncodeElementType(*type), number);
  }
  EXPECT_EQ(*DecodeElementType(v1::ELEMENT_TYPE_UNSPECIFIED), ElementType::kUnspecified);
  EXPECT_THAT(DecodeElementType(static_cast<v1::ElementType>(8)), ViolatesField("element_type"));
}

}  // namespace
}  // namespace posenc
