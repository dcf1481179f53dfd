#include "server/core/specs/relative_bias_spec.h"

#include "server/core/names.h"
#include "server/core/specs/field_checks.h"

namespace posenc {
namespace {

void CheckRule(const ProximalBias&, const RelativeBiasSpec&, Violations&) {}

// The generator begins with head_dim / 2 sines for each distance: a few seconds of them at most.
constexpr int64_t kMaxSandwichCells = int64_t{1} << 24;

void CheckRule(const SandwichBias& rule, const RelativeBiasSpec& spec, Violations& bad) {
  if (rule.head_dim * spec.max_len > kMaxSandwichCells) {
    bad.Add("relative_bias.max_len", spec.max_len,
            absl::StrCat("at most ", kMaxSandwichCells / rule.head_dim, " with head_dim ", rule.head_dim));
  }
}

void CheckRule(const KerpleBias& rule, const RelativeBiasSpec& spec, Violations& bad) {
  CheckCount("relative_bias.kerple.r1", rule.r1, spec.heads, "head", bad);
  CheckCount("relative_bias.kerple.r2", rule.r2, spec.heads, "head", bad);
  if (rule.kind != KerpleKind::kPower) return;
  for (size_t i = 0; i < rule.r2.size(); ++i) {
    CheckRange(absl::StrCat("relative_bias.kerple.r2[", i, "]"), rule.r2[i], limits::kMinRowScale, 2.0, bad);
  }
}

// A block of F64 cells costs as many products of big numbers as it has cells and hidden units, and cannot be
// stopped: about a second at the most. FIRE has 32 units.
constexpr int64_t kMaxFireHidden = 64;
constexpr int64_t kMaxFireRowTerms = int64_t{1} << 22;

void CheckRule(const FireBias& rule, const RelativeBiasSpec& spec, Violations& bad) {
  const auto hidden = static_cast<int64_t>(rule.input_weight.size());
  if (hidden < 1 || hidden > kMaxFireHidden) {
    bad.AddText("relative_bias.fire.input_weight",
                absl::StrCat("has ", hidden, " entries; allowed: 1 to ", kMaxFireHidden));
  }
  if (hidden * spec.max_len > kMaxFireRowTerms) {
    bad.Add("relative_bias.max_len", spec.max_len,
            absl::StrCat("at most ", kMaxFireRowTerms / hidden, " with ", hidden, " hidden units"));
  }
  CheckCount("relative_bias.fire.input_bias", rule.input_bias, hidden, "hidden unit", bad);
  CheckCount("relative_bias.fire.output_weight", rule.output_weight, hidden * spec.heads,
             "head and hidden unit", bad);
  CheckCount("relative_bias.fire.output_bias", rule.output_bias, spec.heads, "head", bad);
}

}  // namespace

absl::Status NormalizeFamily(RelativeBiasSpec& spec) {
  Violations bad;
  std::visit([&](const auto& rule) { CheckRule(rule, spec, bad); }, spec.rule);
  if (spec.masked && spec.form != BiasForm::kCausal) {
    bad.Add("relative_bias.masked", "true", absl::StrCat("false with form ", NameOf(spec.form)));
  }
  return bad.ToStatus();
}

}  // namespace posenc
