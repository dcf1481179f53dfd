// Every field of a spec and of a selection with a value that is not allowed, one case for each: the answer
// names the field, and the server serves the next request.

#include <cctype>
#include <string>

#include "tests/unit/rpc/rpc_fixture.h"

namespace posenc {
namespace {

struct BadField {
  const char* text;   // the spec, or the selection of a request
  const char* field;  // that the violation names
  absl::StatusCode code = absl::StatusCode::kInvalidArgument;
};

// Names a case by its field, e.g. "spec_rope_head_dim_3".
std::string CaseName(const ::testing::TestParamInfo<BadField>& info) {
  std::string name = info.param.field;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name + "_" + std::to_string(info.index);
}

class BadFieldTest : public RpcTest, public ::testing::WithParamInterface<BadField> {
 protected:
  void ExpectRefused(const absl::Status& status) {
    EXPECT_EQ(status.code(), GetParam().code) << status;
    EXPECT_THAT(status, ViolatesField(GetParam().field));
    EXPECT_OK(GetSlice("spec { rope { head_dim: 4 max_len: 2 } }"));
  }
};

class BadSpecTest : public BadFieldTest {};

TEST_P(BadSpecTest, IsRefusedByEveryRpc) {
  const std::string spec = std::string("spec {") + GetParam().text + "}";
  ExpectRefused(GetSlice(spec).status());
  ExpectRefused(StreamSlice(spec).status);
  ExpectRefused(DescribeTable(spec).status());
}

INSTANTIATE_TEST_SUITE_P(
    Fields, BadSpecTest,
    ::testing::Values(
        BadField{"", "spec.family"},
        BadField{"rope { head_dim: 8 } element_type: ELEMENT_TYPE_C64", "spec.element_type"},
        BadField{"rope { head_dim: 8 layout: ROPE_LAYOUT_COMPLEX } element_type: ELEMENT_TYPE_F16",
                 "spec.element_type"},
        BadField{"sinusoidal { }", "spec.sinusoidal.d_model"},
        BadField{"sinusoidal { d_model: -1 }", "spec.sinusoidal.d_model"},
        BadField{"sinusoidal { d_model: 65538 }", "spec.sinusoidal.d_model"},
        BadField{"sinusoidal { d_model: 7 }", "spec.sinusoidal.d_model"},
        BadField{"sinusoidal { d_model: 8 max_len: 0 }", "spec.sinusoidal.max_len"},
        BadField{"sinusoidal { d_model: 8 base: 0.5 }", "spec.sinusoidal.base"},
        BadField{"sinusoidal { d_model: 8 base: nan }", "spec.sinusoidal.base"},
        BadField{"sinusoidal { d_model: 8 base: inf }", "spec.sinusoidal.base"},
        BadField{"sinusoidal { d_model: 8 frequency_shift: -1 }", "spec.sinusoidal.frequency_shift"},
        BadField{"sinusoidal { d_model: 8 frequency_shift: 4 }", "spec.sinusoidal.frequency_shift"},
        BadField{"sinusoidal { d_model: 7 odd_width: ODD_WIDTH_REJECT }", "spec.sinusoidal.d_model"},
        BadField{"sinusoidal { d_model: 7 order: SINUSOIDAL_ORDER_COS_SIN odd_width: ODD_WIDTH_EXTRA_SINE }",
                 "spec.sinusoidal.order"},
        BadField{"sinusoidal { d_model: 8 first_position: -9007199254740993 }",
                 "spec.sinusoidal.first_position"},
        BadField{"sinusoidal { d_model: 8 zero_row: -1 }", "spec.sinusoidal.zero_row"},
        BadField{"sinusoidal { d_model: 8 position_scale: 0 }", "spec.sinusoidal.position_scale"},
        BadField{"sinusoidal { d_model: 8 row_scale: 1e9 }", "spec.sinusoidal.row_scale"},
        BadField{"rope { }", "spec.rope.head_dim"},
        BadField{"rope { head_dim: 7 }", "spec.rope.head_dim"},
        BadField{"rope { head_dim: 8 rotary_dim: 10 }", "spec.rope.rotary_dim"},
        BadField{"rope { head_dim: 8 rotary_dim: 3 }", "spec.rope.rotary_dim"},
        BadField{"rope { head_dim: 8 max_len: -5 }", "spec.rope.max_len"},
        BadField{"rope { head_dim: 8 max_len: 10 first_position: 9007199254740990 }", "spec.rope.max_len"},
        BadField{"rope { head_dim: 8 base: -1 }", "spec.rope.base"},
        BadField{"rope { head_dim: 8 linear { } }", "spec.rope.linear.factor"},
        BadField{"rope { head_dim: 8 linear { factor: 0 } }", "spec.rope.linear.factor"},
        BadField{"rope { head_dim: 8 llama3 { factor: nan } }", "spec.rope.llama3.factor"},
        BadField{"rope { head_dim: 8 llama3 { low_freq_factor: 0 } }", "spec.rope.llama3.low_freq_factor"},
        BadField{"rope { head_dim: 8 llama3 { high_freq_factor: 0.5 } }", "spec.rope.llama3.high_freq_factor"},
        BadField{"rope { head_dim: 8 llama3 { original_max_len: 0 } }", "spec.rope.llama3.original_max_len"},
        BadField{"rope { head_dim: 8 frequencies { inverse_frequencies: 1 } }",
                 "spec.rope.frequencies.inverse_frequencies"},
        BadField{"rope { head_dim: 4 frequencies { inverse_frequencies: [1, nan] } }",
                 "spec.rope.frequencies.inverse_frequencies[1]"},
        BadField{"alibi { }", "spec.alibi.heads"},
        BadField{"alibi { heads: 65537 }", "spec.alibi.heads"},
        BadField{"alibi { heads: 8 max_len: 2097153 }", "spec.alibi.max_len"},
        BadField{"alibi { heads: 8 bias_max: -8 }", "spec.alibi.bias_max"},
        BadField{"alibi { heads: 8 form: ALIBI_FORM_SYMMETRIC masked: true }", "spec.alibi.masked"}),
    CaseName);

// Enum numbers that the proto does not have; text protos cannot hold them.
TEST_F(RpcTest, UnknownEnumNumbersAreRefused) {
  const auto refuse = [this](const std::string& spec, const std::string& field) {
    v1::GetSliceRequest request;
    ASSERT_TRUE(request.mutable_spec()->ParseFromString(spec));
    const RawAnswer raw = CallRaw("PositionalEncodingService/GetSlice", request.SerializeAsString());
    EXPECT_EQ(raw.status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(raw.status, ViolatesField(field));
  };
  const std::string rope = "\x12\x02\x08\x08";  // rope { head_dim: 8 }
  refuse("\x0a\x04\x08\x08\x20\x63", "spec.sinusoidal.order");
  refuse("\x0a\x04\x08\x07\x30\x63", "spec.sinusoidal.odd_width");
  refuse("\x12\x04\x08\x08\x70\x63", "spec.rope.layout");
  refuse("\x1a\x04\x08\x08\x20\x63", "spec.alibi.slope_rule");
  refuse("\x1a\x04\x08\x08\x28\x63", "spec.alibi.form");
  refuse(rope + "\x70\x63", "spec.element_type");
  refuse(rope + "\x78\x63", "spec.arithmetic");
}

class BadSelectionTest : public BadFieldTest {
 protected:
  // A selection of the table it is about; the text is "family | selection".
  static std::string Request() {
    const std::string text = GetParam().text;
    const size_t bar = text.find('|');
    return "spec {" + text.substr(0, bar) + "} selection {" + text.substr(bar + 1) + "}";
  }
};

TEST_P(BadSelectionTest, IsRefusedByBothRpcs) {
  ExpectRefused(GetSlice(Request()).status());
  ExpectRefused(StreamSlice(Request()).status);
}

constexpr absl::StatusCode kOutOfRange = absl::StatusCode::kOutOfRange;

INSTANTIATE_TEST_SUITE_P(
    Fields, BadSelectionTest,
    ::testing::Values(
        BadField{"rope { head_dim: 8 max_len: 9 } | rows { begin: 10 }", "selection.rows.begin", kOutOfRange},
        BadField{"rope { head_dim: 8 max_len: 9 } | rows { begin: -1 }", "selection.rows.begin", kOutOfRange},
        BadField{"rope { head_dim: 8 max_len: 9 } | rows { end: 10 }", "selection.rows.end", kOutOfRange},
        BadField{"rope { head_dim: 8 max_len: 9 } | rows { begin: 5 end: 4 }", "selection.rows.end"},
        BadField{"rope { head_dim: 8 max_len: 9 } | positions { }", "selection.positions"},
        BadField{"rope { head_dim: 8 max_len: 9 } | positions { values: [1, 9] }", "selection.positions[1]",
                 kOutOfRange},
        BadField{"rope { head_dim: 8 max_len: 9 } | positions { values: -9 }", "selection.positions[0]",
                 kOutOfRange},
        BadField{"alibi { heads: 8 } | positions { values: 1 }", "selection.positions"},
        BadField{"rope { head_dim: 8 } | columns { end: 5 }", "selection.columns.end", kOutOfRange},
        BadField{"rope { head_dim: 8 } | columns { begin: 5 }", "selection.columns.begin", kOutOfRange},
        BadField{"alibi { heads: 8 } | columns { end: 5 }", "selection.columns"},
        BadField{"alibi { heads: 8 } | heads { end: 9 }", "selection.heads.end", kOutOfRange},
        BadField{"rope { head_dim: 8 } | heads { end: 1 }", "selection.heads"},
        BadField{"alibi { heads: 8 max_len: 9 } | keys { begin: 10 }", "selection.keys.begin", kOutOfRange},
        BadField{"rope { head_dim: 8 } | keys { end: 1 }", "selection.keys"}),
    CaseName);

TEST_F(RpcTest, SpecAndSelectionAreReportedTogether) {
  const auto refused = GetSlice("spec { rope { head_dim: 7 base: 0 } } selection { positions { } }");
  EXPECT_THAT(refused, ViolatesField("spec.rope.head_dim"));
  EXPECT_THAT(refused, ViolatesField("spec.rope.base"));
  EXPECT_THAT(refused, ViolatesField("selection.positions"));
}

TEST_F(RpcTest, TooManyPositionsAreRefused) {
  std::string request = "spec { rope { head_dim: 8 } } selection { positions {";
  for (int i = 0; i <= limits::kMaxPositionsPerRequest; ++i) request += " values: 1";
  EXPECT_THAT(GetSlice(request + "} }"), ViolatesField("selection.positions"));
}

}  // namespace
}  // namespace posenc
