#include "server/core/normalize.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "server/core/limits.h"
#include "server/core/names.h"
#include "server/core/violations.h"

namespace posenc {
namespace {

// Adds a violation unless low <= value <= high. NaN is outside of every range.
template <typename Number>
void CheckRange(absl::string_view field, Number value, Number low, Number high, Violations& bad) {
  if (value >= low && value <= high) return;
  bad.Add(field, value, absl::StrCat(low, " to ", high));
}

// The rows' positions must stay exact as doubles on both sides of 0.
void CheckRows(absl::string_view family, int64_t max_len, int64_t first_position, Violations& bad) {
  CheckRange(absl::StrCat(family, ".max_len"), max_len, int64_t{1}, limits::kMaxPosition, bad);
  CheckRange(absl::StrCat(family, ".first_position"), first_position, -limits::kMaxPosition,
             limits::kMaxPosition, bad);
  if (!bad.empty()) return;
  if (first_position + max_len > limits::kMaxPosition) {
    bad.Add(absl::StrCat(family, ".max_len"), max_len,
            absl::StrCat("at most ", limits::kMaxPosition - first_position, " from first_position ",
                         first_position));
  }
}

double WithoutNegativeZero(double value) { return value == 0 ? 0.0 : value; }

OddWidth DefaultOddWidth(const SinusoidalSpec& spec) {
  if (spec.order == SinusoidalOrder::kInterleaved) return OddWidth::kReject;
  const bool marian = spec.order == SinusoidalOrder::kSinCos && spec.frequency_shift == 0;
  return marian ? OddWidth::kExtraSine : OddWidth::kZeroColumn;
}

void CheckOddWidth(const SinusoidalSpec& spec, Violations& bad) {
  const OddWidth rule = *spec.odd_width;
  if (rule == OddWidth::kReject) {
    bad.Add("sinusoidal.d_model", spec.d_model,
            absl::StrCat("an even number; an odd one needs odd_width (zero-column, extra-sine or "
                         "drop-cosine) with order ", NameOf(spec.order)));
  }
  if (rule == OddWidth::kZeroColumn && spec.d_model < 2) {
    bad.Add("sinusoidal.d_model", spec.d_model, "at least 2 with odd_width zero-column");
  }
  const bool paper = spec.frequency_shift == 0;
  if ((rule == OddWidth::kExtraSine || rule == OddWidth::kDropCosine) && !paper) {
    bad.Add("sinusoidal.frequency_shift", spec.frequency_shift,
            absl::StrCat("0 with odd_width ", NameOf(rule)));
  }
  // What these rules add or drop stands last only where the sines come first.
  if (rule != OddWidth::kReject && rule != OddWidth::kZeroColumn &&
      spec.order == SinusoidalOrder::kCosSin) {
    bad.Add("sinusoidal.order", NameOf(spec.order),
            absl::StrCat("interleaved or sin-cos with odd_width ", NameOf(rule)));
  }
}

void CheckDenominator(const SinusoidalSpec& spec, Violations& bad) {
  if (spec.frequency_shift == 0 || spec.clamp_denominator) return;
  const auto pairs = static_cast<double>(spec.d_model / 2);
  if (pairs - spec.frequency_shift > 0) return;
  bad.Add("sinusoidal.frequency_shift", spec.frequency_shift,
          absl::StrCat("less than the ", pairs, " pairs of d_model ", spec.d_model,
                       ", or clamp_denominator (tensor2tensor's rule)"));
}

absl::Status NormalizeFamily(SinusoidalSpec& spec) {
  Violations bad;
  CheckRange("sinusoidal.d_model", spec.d_model, int64_t{1}, limits::kMaxWidth, bad);
  CheckRows("sinusoidal", spec.max_len, spec.first_position, bad);
  CheckRange("sinusoidal.base", spec.base, limits::kMinBase, limits::kMaxBase, bad);
  CheckRange("sinusoidal.frequency_shift", spec.frequency_shift, 0.0, 1024.0, bad);
  CheckRange("sinusoidal.position_scale", spec.position_scale, limits::kMinFrequency,
             limits::kMaxFrequency, bad);
  CheckRange("sinusoidal.row_scale", spec.row_scale, limits::kMinRowScale, limits::kMaxRowScale, bad);
  if (spec.zero_row && *spec.zero_row < 0) bad.Add("sinusoidal.zero_row", *spec.zero_row, "0 and up");
  if (!bad.empty()) return bad.ToStatus();

  spec.frequency_shift = WithoutNegativeZero(spec.frequency_shift);
  if (spec.zero_row && *spec.zero_row >= spec.max_len) spec.zero_row.reset();
  if (spec.frequency_shift == 0 || static_cast<double>(spec.d_model / 2) - spec.frequency_shift >= 1) {
    spec.clamp_denominator = false;
  }
  if (spec.d_model % 2 == 0) {
    spec.odd_width = OddWidth::kReject;
  } else {
    if (!spec.odd_width) spec.odd_width = DefaultOddWidth(spec);
    CheckOddWidth(spec, bad);
  }
  CheckDenominator(spec, bad);
  return bad.ToStatus();
}

void CheckScaling(const LinearScaling& scaling, const RopeSpec&, Violations& bad) {
  CheckRange("rope.linear.factor", scaling.factor, limits::kMinFactor, limits::kMaxFactor, bad);
}

void CheckScaling(const Llama3Scaling& scaling, const RopeSpec&, Violations& bad) {
  CheckRange("rope.llama3.factor", scaling.factor, limits::kMinFactor, limits::kMaxFactor, bad);
  CheckRange("rope.llama3.low_freq_factor", scaling.low_freq_factor, limits::kMinFactor,
             limits::kMaxFactor, bad);
  CheckRange("rope.llama3.high_freq_factor", scaling.high_freq_factor, limits::kMinFactor,
             limits::kMaxFactor, bad);
  CheckRange("rope.llama3.original_max_len", scaling.original_max_len, int64_t{1},
             limits::kMaxPosition, bad);
  if (scaling.high_freq_factor < scaling.low_freq_factor) {
    bad.Add("rope.llama3.high_freq_factor", scaling.high_freq_factor,
            absl::StrCat("at least low_freq_factor, ", scaling.low_freq_factor));
  }
}

void CheckScaling(const ExplicitFrequencies& scaling, const RopeSpec& spec, Violations& bad) {
  const int64_t pairs = spec.rotary_dim / 2;
  const auto count = static_cast<int64_t>(scaling.inverse_frequencies.size());
  if (count != pairs) {
    bad.AddText("rope.frequencies.inverse_frequencies",
                absl::StrCat("has ", count, " entries; allowed: ", pairs, ", one per rotated pair"));
  }
  for (int64_t i = 0; i < count; ++i) {
    const double frequency = scaling.inverse_frequencies[i];
    if (frequency == 0) continue;
    CheckRange(absl::StrCat("rope.frequencies.inverse_frequencies[", i, "]"), frequency,
               limits::kMinFrequency, limits::kMaxFrequency, bad);
  }
}

void CheckScaling(const std::monostate&, const RopeSpec&, Violations&) {}

// Removes a scaling that changes nothing, and a base that explicit frequencies replace.
void SimplifyScaling(RopeSpec& spec) {
  const auto* linear = std::get_if<LinearScaling>(&spec.scaling);
  const auto* llama3 = std::get_if<Llama3Scaling>(&spec.scaling);
  if ((linear && linear->factor == 1) || (llama3 && llama3->factor == 1)) spec.scaling = {};
  if (auto* given = std::get_if<ExplicitFrequencies>(&spec.scaling)) {
    spec.base = RopeSpec().base;
    for (double& frequency : given->inverse_frequencies) frequency = WithoutNegativeZero(frequency);
  }
}

void CheckPeriods(const RopeSpec& spec, Violations& bad) {
  const auto* given = std::get_if<ExplicitFrequencies>(&spec.scaling);
  if (spec.layout != RopeLayout::kPeriods || !given) return;
  for (double frequency : given->inverse_frequencies) {
    if (frequency != 0) continue;
    bad.AddText("rope.layout", "is periods, but a frequency is 0; allowed: any other layout");
    return;
  }
}

absl::Status NormalizeFamily(RopeSpec& spec) {
  Violations bad;
  CheckRange("rope.head_dim", spec.head_dim, int64_t{2}, limits::kMaxWidth, bad);
  if (spec.head_dim % 2 != 0) bad.Add("rope.head_dim", spec.head_dim, "an even number");
  if (spec.rotary_dim == 0) {
    spec.rotary_dim = spec.head_dim;
  } else if (spec.rotary_dim < 2 || spec.rotary_dim > spec.head_dim || spec.rotary_dim % 2 != 0) {
    bad.Add("rope.rotary_dim", spec.rotary_dim,
            absl::StrCat("an even number from 2 to head_dim, ", spec.head_dim, " (0: head_dim)"));
  }
  CheckRows("rope", spec.max_len, spec.first_position, bad);
  CheckRange("rope.base", spec.base, limits::kMinBase, limits::kMaxBase, bad);
  std::visit([&](const auto& scaling) { CheckScaling(scaling, spec, bad); }, spec.scaling);
  CheckPeriods(spec, bad);
  if (!bad.empty()) return bad.ToStatus();
  SimplifyScaling(spec);
  if (spec.layout == RopeLayout::kFrequencies || spec.layout == RopeLayout::kPeriods) {
    spec.max_len = RopeSpec().max_len;
    spec.first_position = 0;
  }
  return absl::OkStatus();
}

absl::Status NormalizeFamily(AlibiSpec& spec) {
  Violations bad;
  CheckRange("alibi.heads", spec.heads, int64_t{1}, limits::kMaxHeads, bad);
  CheckRange("alibi.max_len", spec.max_len, int64_t{1}, limits::kMaxAlibiLen, bad);
  if (!(spec.bias_max > 0 && spec.bias_max <= limits::kMaxBiasMax)) {
    bad.Add("alibi.bias_max", spec.bias_max,
            absl::StrCat("more than 0, at most ", limits::kMaxBiasMax));
  }
  if (spec.masked && spec.form != AlibiForm::kCausal) {
    bad.Add("alibi.masked", "true", absl::StrCat("false with form ", NameOf(spec.form)));
  }
  if (!bad.empty()) return bad.ToStatus();
  if (spec.form == AlibiForm::kSlopes) spec.max_len = AlibiSpec().max_len;
  const bool power_of_two = (spec.heads & (spec.heads - 1)) == 0;
  if (power_of_two) spec.slope_rule = AlibiSlopeRule::kPaper;
  return absl::OkStatus();
}

void CheckElementType(const TableSpec& spec, Violations& bad) {
  if (spec.element_type == ElementType::kComplex64 || spec.element_type == ElementType::kComplex128) {
    bad.Add("element_type", ElementTypeName(spec.element_type), "F64, F32, F16, BF16");
  }
  const auto* rope = std::get_if<RopeSpec>(&spec.family);
  const bool half_width = ElementSizeBytes(spec.element_type) == 2;
  if (rope && rope->layout == RopeLayout::kComplex && half_width) {
    bad.Add("element_type", ElementTypeName(spec.element_type), "F32 or F64 with layout complex");
  }
}

}  // namespace

absl::StatusOr<TableSpec> Normalize(const TableSpec& spec) {
  TableSpec normalized = spec;
  absl::Status status =
      std::visit([](auto& family) { return NormalizeFamily(family); }, normalized.family);
  if (!status.ok()) return status;
  Violations bad;
  CheckElementType(normalized, bad);
  if (!bad.empty()) return bad.ToStatus();
  return normalized;
}

}  // namespace posenc
