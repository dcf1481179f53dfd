#include "server/core/length_remark.h"

#include <variant>

#include "absl/strings/str_cat.h"

namespace posenc {

std::string LengthRemark(const RopeSpec& spec, int64_t end_position) {
  const bool single = spec.layout == RopeLayout::kFrequencies || spec.layout == RopeLayout::kPeriods;
  if (spec.grid || spec.dual_chunk || single) return "";  // their rows are not at positions of a sequence
  const auto remark = [&](absl::string_view name, int64_t trained, absl::string_view have, absl::string_view use) {
    if (end_position <= trained || spec.effective_length.value_or(0) > trained) return std::string();
    return absl::StrCat(name, ": effective_length is not past the trained length ", trained,
                        ", so that rows from position ", trained, " on ", have, "; for sequences that long models ",
                        use);
  };
  if (const auto* longrope = std::get_if<LongRopeScaling>(&spec.scaling)) {
    return remark("longrope", longrope->original_max_len, "have short_factor", "take long_factor");
  }
  if (const auto* dynamic = std::get_if<DynamicScaling>(&spec.scaling)) {
    return remark("dynamic", dynamic->original_max_len, "keep the base", "raise it");
  }
  return "";
}

}  // namespace posenc
