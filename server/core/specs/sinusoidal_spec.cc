#include "server/core/specs/sinusoidal_spec.h"

#include "server/core/names.h"
#include "server/core/specs/field_checks.h"

namespace posenc {
namespace {

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
  const bool extra = rule == OddWidth::kExtraSine || rule == OddWidth::kDropCosine;
  if (extra && spec.frequency_shift != 0) {
    bad.Add("sinusoidal.frequency_shift", spec.frequency_shift,
            absl::StrCat("0 with odd_width ", NameOf(rule)));
  }
  // What these rules add or drop stands last only where the sines come first.
  if (extra && spec.order == SinusoidalOrder::kCosSin) {
    bad.Add("sinusoidal.order", NameOf(spec.order),
            absl::StrCat("interleaved or sin-cos with odd_width ", NameOf(rule)));
  }
}

void CheckDenominator(const SinusoidalSpec& spec, Violations& bad) {
  if (spec.frequency_shift == 0 || spec.clamp_denominator) return;
  const int64_t pairs = spec.d_model / 2;
  if (static_cast<double>(pairs) - spec.frequency_shift > 0) return;
  bad.Add("sinusoidal.frequency_shift", spec.frequency_shift,
          absl::StrCat("less than the ", pairs, " pairs of d_model ", spec.d_model,
                       ", or clamp_denominator (tensor2tensor's rule)"));
}

int64_t PairsOf(const SinusoidalSpec& spec) {
  const bool extra = spec.odd_width == OddWidth::kExtraSine || spec.odd_width == OddWidth::kDropCosine;
  return spec.d_model / 2 + (spec.d_model % 2 != 0 && extra ? 1 : 0);
}

// The caller's own frequencies replace the base and all that is made of it.
void NormalizeFrequencies(SinusoidalSpec& spec, Violations& bad) {
  if (spec.inverse_frequencies.empty()) return CheckDenominator(spec, bad);
  const char* const path = "sinusoidal.inverse_frequencies";
  CheckCount(path, spec.inverse_frequencies, PairsOf(spec), "pair", bad);
  CheckFrequencies(path, spec.inverse_frequencies, bad);
  for (double& frequency : spec.inverse_frequencies) frequency = WithoutNegativeZero(frequency);
  spec.base = SinusoidalSpec().base;
  spec.frequency_shift = 0;
  spec.clamp_denominator = false;
}

}  // namespace

absl::Status NormalizeFamily(SinusoidalSpec& spec) {
  Violations bad;
  CheckRows("sinusoidal", spec.max_len, spec.first_position, bad);
  if (spec.descending && spec.first_position - spec.max_len < -limits::kMaxPosition) {
    bad.Add("sinusoidal.first_position", spec.first_position, "such that all rows are above -2^53");
  }
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
  NormalizeFrequencies(spec, bad);
  return bad.ToStatus();
}

}  // namespace posenc
