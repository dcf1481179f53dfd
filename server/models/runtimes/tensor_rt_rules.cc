#include <string>
#include <variant>

#include "absl/strings/str_cat.h"
#include "server/models/config/config_json.h"
#include "server/models/runtimes/rule_tools.h"

namespace posenc {
namespace {

// The trained length of a file that has none.
void TensorRtLength(RopeDraft& rope, absl::string_view field, int64_t& length, absl::string_view source) {
  constexpr int64_t kBuiltIn = 1024;
  constexpr absl::string_view kOriginal = "original_max_position_embeddings";
  const bool written = rope.block().Find(kOriginal) != nullptr || rope.scope.object.Find(kOriginal) != nullptr;
  if (written || length == kBuiltIn) return;
  length = kBuiltIn;
  rope.draft.Rule(field, "1024", absl::StrCat("default of ", source));
  Say(rope, source, "1024 where the file has no trained length");
}

void TensorRtYarn(RopeDraft& rope, absl::string_view source) {
  auto* yarn = ScalingOf<YarnScaling>(rope);
  if (yarn == nullptr) return;
  AlwaysTruncates(rope, *yarn, source);
  const double own = YarnMagnitude(yarn->factor, NumberOr(rope, "mscale", 1));
  const double all = YarnMagnitude(yarn->factor, NumberOr(rope, "mscale_all_dim", 0));
  TensorRtLength(rope, "rope.yarn.original_max_len", yarn->original_max_len, source);
  SetMagnitude(rope, own / all, source, "g(mscale) / g(mscale_all_dim), 1 and 0 when missing");
}

void TensorRtLongRope(RopeDraft& rope, absl::string_view source) {
  auto* scaling = ScalingOf<LongRopeScaling>(rope);
  if (scaling == nullptr) return;
  TensorRtLength(rope, "rope.longrope.original_max_len", scaling->original_max_len, source);
  const int64_t rows = ServedLength(rope);
  ChooseList(rope, rows > scaling->original_max_len, source, "max_seq_len");
  SetMagnitude(rope, LongRopeMagnitude(RatioOf(rows, *scaling), scaling->original_max_len), source,
               "sqrt(1 + ln(rows / trained length) / ln(trained length))");
  rope.short_mscale.reset();
  rope.long_mscale.reset();
  Say(rope, source, "the magnitude depends on the table's number of rows, effective_length");
}

void TensorRtRefuses(RopeDraft& rope, absl::string_view source) {
  if (ScalingOf<DynamicScaling>(rope) == nullptr && ScalingOf<NtkScaling>(rope) == nullptr) return;
  rope.reading.unserved.AddText(
      rope.block().PathOf("rope_type"),
      absl::StrCat("is ", Quote(rope.scaling_type), ", which ", source,
                   " refuses; allowed: dynamic with alpha, linear, yarn, longrope"));
}

void TensorRtLayout(RopeDraft& rope, absl::string_view source) {
  Say(rope, source,
      "stores pairs (cos, sin) for its plugin (layout pairs), sines then cosines otherwise; the "
      "frequency's power is float64 (arithmetic float32-tensor-rt)");
}

}  // namespace

std::span<const RuntimeRule> TensorRtRules() {
  static constexpr RuntimeRule kRules[] = {TensorRtYarn,
                                           TensorRtLongRope,
                                           TensorRtRefuses,
                                           TensorRtLayout};
  return kRules;
}

}  // namespace posenc
