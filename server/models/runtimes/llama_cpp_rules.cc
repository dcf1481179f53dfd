#include <string>

#include "absl/strings/str_cat.h"
#include "server/core/shortest_decimal.h"
#include "server/models/config/config_json.h"
#include "server/models/runtimes/llama_cpp_names.h"
#include "server/models/runtimes/rule_tools.h"

namespace posenc {
namespace {

// The base that the file leaves out is not in the GGUF file of a converter that copies keys.
void LlamaCppBase(RopeDraft& rope, absl::string_view source) {
  constexpr double kBuiltIn = 10000.0;
  for (const ValueOrigin& origin : rope.draft.table().origins) {
    if (origin.field != "rope.base" || !origin.defaulted || rope.spec.base == kBuiltIn) continue;
    Say(rope, source, absl::StrCat("base 10000 and not ", ShortestDecimal(rope.spec.base), ": the file has no "
                                   "rope_theta to copy (converters that fill in class defaults have it)"));
    rope.spec.base = kBuiltIn;
    rope.draft.Rule("rope.base", "10000", std::string(source));
    return;
  }
}

void LlamaCppYarn(RopeDraft& rope, absl::string_view source) {
  auto* yarn = ScalingOf<YarnScaling>(rope);
  if (yarn == nullptr) return;
  AlwaysTruncates(rope, *yarn, source);
  const double all = yarn->mscale_all_dim;
  const double divisor = all == 0 ? 1.0 : YarnMagnitude(yarn->factor, all);
  const bool deepseek = rope.family().mla && all != 0;
  SetMagnitude(rope, deepseek ? 1.0 : YarnMagnitude(yarn->factor, 1) / divisor, source,
               "g(1) / g(mscale_all_dim), mscale taken as 1; 1 for DeepSeek");
}

void LlamaCppDynamic(RopeDraft& rope, absl::string_view source) {
  if (ScalingOf<DynamicScaling>(rope) != nullptr || ScalingOf<NtkScaling>(rope) != nullptr) {
    DropScaling(rope, source);
  }
}

void LlamaCppLongRope(RopeDraft& rope, absl::string_view source) {
  auto* scaling = ScalingOf<LongRopeScaling>(rope);
  if (scaling == nullptr) return;
  SetMagnitude(rope, LongRopeMagnitude(RatioOf(rope.spec.max_len, *scaling), scaling->original_max_len),
               source, "attn_factor as the converter writes it");
  rope.short_mscale.reset();
  rope.long_mscale.reset();
  Say(rope, source, "the list is chosen by the size of the context, for short sequences in it too (#24823); "
                    "effective_length is that size");
}

// What llama.cpp's interleaving leaves over goes to a fourth axis, which text tokens feed 0.
void LlamaCppAxes(RopeDraft& rope, absl::string_view source) {
  if (!rope.spec.axes) return;
  RopeAxes& axes = *rope.spec.axes;
  if (axes.map == AxisMap::kInterleaved && axes.sections.size() == 3) {
    axes.sections.push_back(0);
    axes.map = AxisMap::kInterleavedGgml;
    axes.leftovers_on_first = false;
    rope.draft.Rule("rope.axes.map", "interleaved-ggml", std::string(source));
    Say(rope, source, "pairs beyond three times a section take the fourth axis, which is 0 for text");
  }
  if (axes.map == AxisMap::kAlternating) Say(rope, source, "has no rule for alternating height and width");
}

void LlamaCppPairing(RopeDraft& rope, absl::string_view source) {
  ModelTable& table = rope.draft.table();
  const LlamaCppName* name = FindLlamaCppName(rope.family().model_type);
  // llama.cpp has an architecture of its own for the models of that family without latent attention.
  const bool plain_deepseek = rope.family().model_type == "deepseek_v2" && table.pairing == Pairing::kHalfSplit;
  if (plain_deepseek) return;
  if (name == nullptr) {
    Say(rope, source, absl::StrCat("no converter of ", Quote(rope.scope.model_type.value), " is known; the pairing is "
                                   "the model's own, and assumed"));
    return;
  }
  const bool sections = rope.spec.axes.has_value();
  const Pairing pairing = name->interleaved && !sections ? Pairing::kInterleaved : Pairing::kHalfSplit;
  if (pairing == table.pairing) return;
  const absl::string_view text = pairing == Pairing::kInterleaved ? "interleaved" : "half-split";
  rope.draft.Take(Found<Pairing>{pairing, "pairing", absl::StrCat("rope type of ", name->architecture, " (", source, ")"),
                                 true});
  Say(rope, source, absl::StrCat("the rows of q and k are permuted in the GGUF file, so that pairs are ", text));
}

void LlamaCppLayout(RopeDraft& rope, absl::string_view source) {
  Say(rope, source, "stores no table; the angle is a running product in float32 (arithmetic float32-ggml)");
}

}  // namespace

std::span<const RuntimeRule> LlamaCppRules() {
  static constexpr RuntimeRule kRules[] = {LlamaCppBase,
                                           LlamaCppYarn,
                                           LlamaCppDynamic,
                                           LlamaCppLongRope,
                                           LlamaCppPairing,
                                           LlamaCppAxes,
                                           LlamaCppLayout};
  return kRules;
}

}  // namespace posenc
