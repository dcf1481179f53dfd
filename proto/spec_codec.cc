#include "proto/spec_codec.h"

#include <variant>

#include "absl/strings/str_cat.h"
#include "server/core/normalize.h"
#include "server/core/violations.h"

namespace posenc {
namespace {

// Core enums have the numbers of the proto enums; 0 is the default, `last` the highest number.
template <typename Enum>
Enum DecodeEnum(absl::string_view field, int value, Enum default_value, Enum last, Violations& bad) {
  if (value == 0) return default_value;
  if (value >= 1 && value <= static_cast<int>(last)) return static_cast<Enum>(value);
  bad.Add(field, value, absl::StrCat("0 to ", static_cast<int>(last), ", see the proto"));
  return default_value;
}

TableSpec Decode(const v1::SinusoidalSpec& message, Violations& bad) {
  SinusoidalSpec spec;
  spec.d_model = message.d_model();
  if (message.has_max_len()) spec.max_len = message.max_len();
  if (message.has_base()) spec.base = message.base();
  spec.order = DecodeEnum("spec.sinusoidal.order", message.order(), spec.order,
                          SinusoidalOrder::kCosSin, bad);
  spec.frequency_shift = message.frequency_shift();
  if (message.odd_width() != v1::ODD_WIDTH_UNSPECIFIED) {
    spec.odd_width = DecodeEnum("spec.sinusoidal.odd_width", message.odd_width(), OddWidth::kReject,
                                OddWidth::kDropCosine, bad);
  }
  spec.clamp_denominator = message.clamp_denominator();
  spec.first_position = message.first_position();
  if (message.has_zero_row()) spec.zero_row = message.zero_row();
  if (message.has_position_scale()) spec.position_scale = message.position_scale();
  if (message.has_row_scale()) spec.row_scale = message.row_scale();
  return {.family = spec};
}

RopeScaling DecodeScaling(const v1::RopeSpec& message, Violations& bad) {
  switch (message.scaling_case()) {
    case v1::RopeSpec::kLinear:
      if (!message.linear().has_factor()) {
        bad.AddText("spec.rope.linear.factor", "is missing; allowed: a number more than 0");
      }
      return LinearScaling{message.linear().factor()};
    case v1::RopeSpec::kLlama3: {
      Llama3Scaling scaling;
      const v1::Llama3Scaling& from = message.llama3();
      if (from.has_factor()) scaling.factor = from.factor();
      if (from.has_low_freq_factor()) scaling.low_freq_factor = from.low_freq_factor();
      if (from.has_high_freq_factor()) scaling.high_freq_factor = from.high_freq_factor();
      if (from.has_original_max_len()) scaling.original_max_len = from.original_max_len();
      return scaling;
    }
    case v1::RopeSpec::kFrequencies: {
      const auto& values = message.frequencies().inverse_frequencies();
      return ExplicitFrequencies{{values.begin(), values.end()}};
    }
    case v1::RopeSpec::SCALING_NOT_SET:
      break;
  }
  return std::monostate();
}

TableSpec Decode(const v1::RopeSpec& message, Violations& bad) {
  RopeSpec spec;
  spec.head_dim = message.head_dim();
  spec.rotary_dim = message.rotary_dim();
  if (message.has_max_len()) spec.max_len = message.max_len();
  if (message.has_base()) spec.base = message.base();
  spec.scaling = DecodeScaling(message, bad);
  spec.layout =
      DecodeEnum("spec.rope.layout", message.layout(), spec.layout, RopeLayout::kPeriods, bad);
  spec.first_position = message.first_position();
  return {.family = spec};
}

TableSpec Decode(const v1::AlibiSpec& message, Violations& bad) {
  AlibiSpec spec;
  spec.heads = message.heads();
  if (message.has_max_len()) spec.max_len = message.max_len();
  if (message.has_bias_max()) spec.bias_max = message.bias_max();
  spec.slope_rule = DecodeEnum("spec.alibi.slope_rule", message.slope_rule(), spec.slope_rule,
                               AlibiSlopeRule::kGeometric, bad);
  spec.form = DecodeEnum("spec.alibi.form", message.form(), spec.form, AlibiForm::kSlopes, bad);
  spec.masked = message.masked();
  return {.family = spec};
}

TableSpec DecodeFamily(const v1::TableSpec& message, Violations& bad) {
  switch (message.family_case()) {
    case v1::TableSpec::kSinusoidal:
      return Decode(message.sinusoidal(), bad);
    case v1::TableSpec::kRope:
      return Decode(message.rope(), bad);
    case v1::TableSpec::kAlibi:
      return Decode(message.alibi(), bad);
    case v1::TableSpec::FAMILY_NOT_SET:
      break;
  }
  bad.AddText("spec.family", "is missing; allowed: one of sinusoidal, rope, alibi");
  return {};
}

void Encode(const SinusoidalSpec& spec, v1::TableSpec& message) {
  v1::SinusoidalSpec& to = *message.mutable_sinusoidal();
  to.set_d_model(spec.d_model);
  to.set_max_len(spec.max_len);
  to.set_base(spec.base);
  to.set_order(static_cast<v1::SinusoidalOrder>(spec.order));
  to.set_frequency_shift(spec.frequency_shift);
  if (spec.odd_width) to.set_odd_width(static_cast<v1::OddWidth>(*spec.odd_width));
  to.set_clamp_denominator(spec.clamp_denominator);
  to.set_first_position(spec.first_position);
  if (spec.zero_row) to.set_zero_row(*spec.zero_row);
  to.set_position_scale(spec.position_scale);
  to.set_row_scale(spec.row_scale);
}

void EncodeScaling(const std::monostate&, v1::RopeSpec&) {}

void EncodeScaling(const LinearScaling& scaling, v1::RopeSpec& to) {
  to.mutable_linear()->set_factor(scaling.factor);
}

void EncodeScaling(const Llama3Scaling& scaling, v1::RopeSpec& to) {
  to.mutable_llama3()->set_factor(scaling.factor);
  to.mutable_llama3()->set_low_freq_factor(scaling.low_freq_factor);
  to.mutable_llama3()->set_high_freq_factor(scaling.high_freq_factor);
  to.mutable_llama3()->set_original_max_len(scaling.original_max_len);
}

void EncodeScaling(const ExplicitFrequencies& scaling, v1::RopeSpec& to) {
  const std::vector<double>& values = scaling.inverse_frequencies;
  to.mutable_frequencies()->mutable_inverse_frequencies()->Add(values.begin(), values.end());
}

void Encode(const RopeSpec& spec, v1::TableSpec& message) {
  v1::RopeSpec& to = *message.mutable_rope();
  to.set_head_dim(spec.head_dim);
  to.set_rotary_dim(spec.rotary_dim);
  to.set_max_len(spec.max_len);
  to.set_base(spec.base);
  std::visit([&](const auto& scaling) { EncodeScaling(scaling, to); }, spec.scaling);
  to.set_layout(static_cast<v1::RopeLayout>(spec.layout));
  to.set_first_position(spec.first_position);
}

void Encode(const AlibiSpec& spec, v1::TableSpec& message) {
  v1::AlibiSpec& to = *message.mutable_alibi();
  to.set_heads(spec.heads);
  to.set_max_len(spec.max_len);
  to.set_bias_max(spec.bias_max);
  to.set_slope_rule(static_cast<v1::AlibiSlopeRule>(spec.slope_rule));
  to.set_form(static_cast<v1::AlibiForm>(spec.form));
  to.set_masked(spec.masked);
}

}  // namespace

v1::ElementType EncodeElementType(ElementType type) { return static_cast<v1::ElementType>(type); }

absl::StatusOr<ElementType> DecodeElementType(v1::ElementType type) {
  Violations bad;
  const ElementType decoded =
      DecodeEnum("element_type", type, ElementType::kF32, ElementType::kComplex128, bad);
  if (!bad.empty()) return bad.ToStatus();
  return decoded;
}

absl::StatusOr<TableSpec> DecodeSpec(const v1::TableSpec& message) {
  Violations bad;
  TableSpec spec = DecodeFamily(message, bad);
  spec.element_type = DecodeEnum("spec.element_type", message.element_type(), spec.element_type,
                                 ElementType::kComplex128, bad);
  spec.arithmetic = DecodeEnum("spec.arithmetic", message.arithmetic(), spec.arithmetic,
                               Arithmetic::kExact, bad);
  if (!bad.empty()) return bad.ToStatus();
  return spec;
}

absl::StatusOr<TableSpec> DecodeNormalizedSpec(const v1::TableSpec& message) {
  absl::StatusOr<TableSpec> spec = DecodeSpec(message);
  if (!spec.ok()) return spec.status();
  absl::StatusOr<TableSpec> normalized = Normalize(*spec);
  if (!normalized.ok()) return PrefixFields(normalized.status(), "spec");
  return normalized;
}

v1::TableSpec EncodeSpec(const TableSpec& spec) {
  v1::TableSpec message;
  std::visit([&](const auto& family) { Encode(family, message); }, spec.family);
  message.set_element_type(EncodeElementType(spec.element_type));
  message.set_arithmetic(static_cast<v1::Arithmetic>(spec.arithmetic));
  return message;
}

}  // namespace posenc
