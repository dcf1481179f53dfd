#include "server/core/specs/alibi_spec.h"

#include "server/core/names.h"
#include "server/core/specs/field_checks.h"

namespace posenc {

absl::Status NormalizeFamily(AlibiSpec& spec) {
  Violations bad;
  if (spec.masked && spec.form != AlibiForm::kCausal) {
    bad.Add("alibi.masked", "true", absl::StrCat("false with form ", NameOf(spec.form)));
  }
  if (!bad.empty()) return bad.ToStatus();
  if (spec.form == AlibiForm::kSlopes) spec.max_len = AlibiSpec().max_len;
  const bool power_of_two = (spec.heads & (spec.heads - 1)) == 0;
  if (power_of_two) spec.slope_rule = AlibiSlopeRule::kPaper;
  return absl::OkStatus();
}

}  // namespace posenc
