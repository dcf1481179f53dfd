#include "server/models/runtimes/rule_tools.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/core/shortest_decimal.h"
#include "server/models/config/config_json.h"

namespace posenc {

double NumberOr(RopeDraft& rope, absl::string_view key, double otherwise) {
  const auto found = rope.block().Number(key, rope.bad());
  return found ? found->value : otherwise;
}

void Say(RopeDraft& rope, absl::string_view source, absl::string_view what) {
  rope.reading.Note(absl::StrCat(source, ": ", what));
}

void SetMagnitude(RopeDraft& rope, double magnitude, absl::string_view source, absl::string_view formula) {
  constexpr double kSame = 1e-14;
  const double usual = MagnitudeOf(rope.spec);
  if (std::abs(magnitude - usual) <= kSame * usual) return;
  rope.spec.attention_factor = magnitude;
  rope.draft.Rule("rope.attention_factor", ShortestDecimal(magnitude), absl::StrCat(formula, " (", source, ")"));
  Say(rope, source, absl::StrCat("cosines and sines times ", ShortestDecimal(magnitude), " and not ",
                                 ShortestDecimal(usual)));
}

void AlwaysTruncates(RopeDraft& rope, YarnScaling& yarn, absl::string_view source) {
  if (yarn.truncate) return;
  yarn.truncate = true;
  rope.draft.Rule("rope.yarn.truncate", "true", std::string(source));
  Say(rope, source, "yarn's ramp always ends at whole pairs");
}

bool IsDeepSeek(const RopeDraft& rope) {
  return rope.family().mla || rope.scaling_type == "deepseek_yarn" ||
         rope.scaling_type == "deepseek_llama_scaling";
}

double LongRopeMagnitude(double ratio, int64_t trained) {
  return ratio <= 1 ? 1.0 : std::sqrt(1 + std::log(ratio) / std::log(static_cast<double>(trained)));
}

double RatioOf(int64_t length, const LongRopeScaling& scaling) {
  return static_cast<double>(length) / static_cast<double>(std::max<int64_t>(scaling.original_max_len, 1));
}

void ChooseList(RopeDraft& rope, bool is_long, absl::string_view source, absl::string_view why) {
  const LongRopeScaling& scaling = *ScalingOf<LongRopeScaling>(rope);
  const int64_t trained = std::min(scaling.original_max_len, limits::kMaxPosition - 1);
  rope.spec.effective_length = trained + (is_long ? 1 : 0);
  rope.draft.Rule("rope.effective_length", is_long ? "above the trained length" : "the trained length",
                  absl::StrCat(why, " (", source, ")"));
  Say(rope, source, absl::StrCat("the ", is_long ? "long" : "short", " list for every sequence, by ", why));
}

int64_t ServedLength(const RopeDraft& rope) {
  return rope.scope.effective_length.value_or(rope.spec.max_len);
}

void DropScaling(RopeDraft& rope, absl::string_view source) {
  Say(rope, source, absl::StrCat("no scaling of type ", Quote(rope.scaling_type), ": the table is plain"));
  rope.draft.Rule("rope.scaling", "none", std::string(source));
  rope.spec.scaling = std::monostate();
}

}  // namespace posenc
