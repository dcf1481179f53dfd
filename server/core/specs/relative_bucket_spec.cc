#include "server/core/specs/relative_bucket_spec.h"

#include "absl/strings/ascii.h"
#include "server/core/specs/field_checks.h"

namespace posenc {
namespace {

// Some buckets hold one distance each, and max_distance lies beyond them.
void CheckRule(const T5Buckets& rule, Violations& bad) {
  const int64_t per_sign = rule.bidirectional ? rule.buckets / 2 : rule.buckets;
  const int64_t single = per_sign / 2;
  if (rule.buckets % 2 != 0 || single < 1) {
    bad.Add("relative_bucket.t5.buckets", rule.buckets,
            rule.bidirectional ? "an even number, 4 and up, when bidirectional" : "an even number, 2 and up");
    return;
  }
  if (rule.max_distance <= single) {
    bad.Add("relative_bucket.t5.max_distance", rule.max_distance,
            absl::StrCat("more than the ", single, " buckets of one distance"));
  }
}

void CheckRule(const DebertaBuckets& rule, Violations& bad) {
  if (rule.max_distance - 1 > rule.buckets / 2) return;
  bad.Add("relative_bucket.deberta.max_distance", rule.max_distance,
          absl::StrCat("more than ", rule.buckets / 2 + 1, " with ", rule.buckets, " buckets"));
}

}  // namespace

absl::Status NormalizeFamily(RelativeBucketSpec& spec) {
  Violations bad;
  std::visit([&](const auto& rule) { CheckRule(rule, bad); }, spec.rule);
  // Its buckets are signed numbers that a model looks up in its own way, not rows of a weight.
  if (spec.weight.empty()) {
    spec.scale = 1.0;
    spec.weight_sha256.clear();
  }
  if (!spec.weight_sha256.empty() && spec.weight_sha256.size() != 64) {
    bad.AddText("relative_bucket.weight_sha256", "is no SHA-256; allowed: 64 hex digits");
  }
  spec.weight_sha256 = absl::AsciiStrToLower(spec.weight_sha256);
  return bad.ToStatus();
}

}  // namespace posenc
