#include "proto/spec_wire.h"

#include <string>

#include "gtest/gtest.h"
#include "proto/spec_codec.h"
#include "tests/support/text_proto.h"

namespace posenc {
namespace {

void ExpectTheBytesOf(const TableSpec& spec, const std::string& what) {
  v1::TableSpec parsed;
  ASSERT_TRUE(parsed.ParseFromString(EncodeSpecBytes(spec))) << what;
  EXPECT_EQ(parsed.DebugString(), EncodeSpec(spec).DebugString()) << what;
}

TEST(SpecWireTest, DefaultsOfEveryFamilyAreThoseOfTheMessage) {
  ForEachAlternative<FamilySpec>([]<typename Family>(const Family& family) {
    ExpectTheBytesOf({.family = family}, std::string(Family::kName));
  });
}

TEST(SpecWireTest, EveryKindOfFieldIsThatOfTheMessage) {
  for (const char* text :
       {"sinusoidal { d_model: 7 order: SINUSOIDAL_ORDER_COS_SIN zero_row: 0 first_position: -4 row_scale: -0.0 }"
        "element_type: ELEMENT_TYPE_BF16 arithmetic: ARITHMETIC_FLOAT32",
        "rope { head_dim: 128 max_len: 9007199254740992 llama3 { factor: 32 } effective_length: 70000 }",
        "rope { head_dim: 4 frequencies { inverse_frequencies: [1, 0.5] } layout: ROPE_LAYOUT_PAIRS }",
        "rope { head_dim: 128 yarn { factor: 4 original_max_len: 4096 } xpos { centre: 4 } dual_chunk { chunk_size: 8 local_size: 2 } }",
        "rope { head_dim: 8 longrope { original_max_len: 4096 short_factor: [1, 2, 3, 4] long_factor: [5, 6, 7, 8] } }",
        "alibi { heads: 12 form: ALIBI_FORM_SYMMETRIC masked: true }",
        "learned { name: 'wpe' }",
        "grid_sinusoidal { d_model: 64 grid { sizes: [300, 20] leading_rows: 1 } }"}) {
    const absl::StatusOr<TableSpec> spec = DecodeSpec(ParseText<v1::TableSpec>(text));
    ASSERT_TRUE(spec.ok()) << text << ": " << spec.status();
    ExpectTheBytesOf(*spec, text);
  }
}

}  // namespace
}  // namespace posenc
