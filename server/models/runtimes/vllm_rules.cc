#include <string>

#include "absl/strings/str_cat.h"
#include "server/models/runtimes/rule_tools.h"

namespace posenc {
namespace {

void VllmYarn(RopeDraft& rope, absl::string_view source) {
  auto* yarn = ScalingOf<YarnScaling>(rope);
  if (yarn == nullptr || IsDeepSeek(rope)) return;
  yarn->extrapolation_factor = NumberOr(rope, "extrapolation_factor", yarn->extrapolation_factor);
  const double factor = NumberOr(rope, "attn_factor", 1.0);
  const auto scaled = rope.block().Flag("apply_yarn_scaling", rope.bad());
  const double own = scaled && !scaled->value ? 1.0 : YarnMagnitude(yarn->factor, 1);
  SetMagnitude(rope, own * factor, source, "(0.1 * ln(factor) + 1) * attn_factor");
  if (rope.block().Find("attention_factor") || rope.block().Find("mscale")) {
    Say(rope, source, "attention_factor and mscale are not read; later versions read them (#46280, #48351)");
  }
}

void VllmDeepSeekYarn(RopeDraft& rope, absl::string_view source) {
  auto* yarn = ScalingOf<YarnScaling>(rope);
  if (yarn == nullptr || !IsDeepSeek(rope)) return;
  AlwaysTruncates(rope, *yarn, source);
  const double all = YarnMagnitude(yarn->factor, NumberOr(rope, "mscale_all_dim", 0));
  const double own = YarnMagnitude(yarn->factor, NumberOr(rope, "mscale", 1));
  SetMagnitude(rope, own / all * NumberOr(rope, "attn_factor", 1.0), source,
               "g(mscale) / g(mscale_all_dim) * attn_factor");
}

void VllmDynamic(RopeDraft& rope, absl::string_view source) {
  const auto* dynamic = ScalingOf<DynamicScaling>(rope);
  if (dynamic == nullptr) return;
  const double length = dynamic->factor * static_cast<double>(dynamic->original_max_len);
  if (!(length >= 1 && length <= static_cast<double>(limits::kMaxPosition))) return;
  rope.spec.effective_length = static_cast<int64_t>(length);
  rope.draft.Rule("rope.effective_length", absl::StrCat(*rope.spec.effective_length),
                  absl::StrCat("trained length * factor (", source, ")"));
  Say(rope, source, "one table for all lengths, with the base of trained length * factor, short prompts "
                    "included (#3488); since #41277 the table at that length is plain");
}

void VllmLongRope(RopeDraft& rope, absl::string_view source) {
  auto* scaling = ScalingOf<LongRopeScaling>(rope);
  if (scaling == nullptr) return;
  const bool is_long = ServedLength(rope) > scaling->original_max_len;
  ChooseList(rope, is_long, source, "max_model_len, which effective_length stands for");
  const double usual = LongRopeMagnitude(RatioOf(rope.spec.max_len, *scaling), scaling->original_max_len);
  const double own = NumberOr(rope, is_long ? "long_mscale" : "short_mscale", usual);
  SetMagnitude(rope, own, source, "short_mscale, long_mscale, else by max_position_embeddings");
}

void VllmNtk(RopeDraft& rope, absl::string_view source) {
  auto* ntk = ScalingOf<NtkScaling>(rope);
  if (ntk == nullptr || ntk->rule != NtkRule::kExponent) return;
  ntk->rule = NtkRule::kVllm;
  rope.draft.Rule("rope.ntk.rule", "vllm", std::string(source));
}

void VllmProportional(RopeDraft& rope, absl::string_view source) {
  auto* scaling = ScalingOf<ProportionalScaling>(rope);
  if (scaling == nullptr || scaling->factor == 1) return;
  scaling->factor = 1;
  rope.draft.Rule("rope.proportional.factor", "1", absl::StrCat("factor is not read (", source, ")"));
}

void VllmLinear(RopeDraft& rope, absl::string_view source) {
  if (ScalingOf<LinearScaling>(rope) == nullptr) return;
  Say(rope, source,
      "divides positions and not frequencies: other roundings in float32 unless the factor is a "
      "power of two (arithmetic float32-vllm)");
}

void VllmLayout(RopeDraft& rope, absl::string_view source) {
  Say(rope, source, "stores one table of cosines, then sines (layout cos-sin), in the model's element type");
}

}  // namespace

std::span<const RuntimeRule> VllmRules() {
  static constexpr RuntimeRule kRules[] = {VllmYarn,
                                           VllmDeepSeekYarn,
                                           VllmDynamic,
                                           VllmLongRope,
                                           VllmNtk,
                                           VllmProportional,
                                           VllmLinear,
                                           VllmLayout};
  return kRules;
}

}  // namespace posenc
