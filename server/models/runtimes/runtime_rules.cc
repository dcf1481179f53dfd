#include "server/models/runtimes/runtime_rules.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <variant>

#include "absl/strings/str_cat.h"
#include "server/models/config/config_json.h"
#include "server/models/runtimes/llama_cpp_names.h"
#include "server/models/runtimes/mlx_models.h"
#include "server/models/runtimes/runtime_refusals.h"

namespace posenc {
namespace {

// One difference: whose, where it was read, and what it does to a draft that it applies to.
struct RuntimeRule {
  Runtime runtime;
  absl::string_view source;
  void (*apply)(RopeDraft& rope, absl::string_view source);
};

template <typename Scaling>
Scaling* ScalingOf(RopeDraft& rope) {
  return std::get_if<Scaling>(&rope.spec.scaling);
}

double NumberOr(RopeDraft& rope, absl::string_view key, double otherwise) {
  const auto found = rope.block().Number(key, rope.bad());
  return found ? found->value : otherwise;
}

void Say(RopeDraft& rope, absl::string_view source, absl::string_view what) {
  rope.reading.Note(absl::StrCat(source, ": ", what));
}

// Sets the magnitude where it differs from what transformers makes of the file.
void SetMagnitude(RopeDraft& rope, double magnitude, absl::string_view source, absl::string_view formula) {
  constexpr double kSame = 1e-14;
  const double usual = MagnitudeOf(rope.spec);
  if (std::abs(magnitude - usual) <= kSame * usual) return;
  rope.spec.attention_factor = magnitude;
  rope.draft.Rule("rope.attention_factor", NumberText(magnitude), absl::StrCat(formula, " (", source, ")"));
  Say(rope, source, absl::StrCat("cosines and sines times ", NumberText(magnitude), " and not ",
                                 NumberText(usual)));
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

// Takes one of the two lists for all sequences.
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

// The base that the file leaves out is not in the GGUF file of a converter that copies keys.
void LlamaCppBase(RopeDraft& rope, absl::string_view source) {
  constexpr double kBuiltIn = 10000.0;
  for (const ValueOrigin& origin : rope.draft.table().origins) {
    if (origin.field != "rope.base" || !origin.defaulted || rope.spec.base == kBuiltIn) continue;
    Say(rope, source, absl::StrCat("base 10000 and not ", NumberText(rope.spec.base), ": the file has no "
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

void MlxYarn(RopeDraft& rope, absl::string_view source) {
  constexpr int64_t kBuiltIn = 4096;
  constexpr absl::string_view kOriginal = "original_max_position_embeddings";
  auto* yarn = ScalingOf<YarnScaling>(rope);
  if (yarn == nullptr) return;
  AlwaysTruncates(rope, *yarn, source);
  if (rope.block().Find(kOriginal) == nullptr && yarn->original_max_len != kBuiltIn) {
    yarn->original_max_len = kBuiltIn;
    rope.draft.Rule("rope.yarn.original_max_len", "4096", absl::StrCat("default of ", source));
    Say(rope, source, "4096 where the block has no trained length");
  }
  const double own = YarnMagnitude(yarn->factor, NumberOr(rope, "mscale", 1));
  const double all = YarnMagnitude(yarn->factor, NumberOr(rope, "mscale_all_dim", 0));
  SetMagnitude(rope, own / all, source, "g(mscale) / g(mscale_all_dim), 1 and 0 when missing (#1507)");
}

void MlxLongRope(RopeDraft& rope, absl::string_view source) {
  auto* scaling = ScalingOf<LongRopeScaling>(rope);
  if (scaling == nullptr) return;
  ChooseList(rope, true, source, "a rule that ignores short_factor");
  const double usual = LongRopeMagnitude(RatioOf(rope.spec.max_len, *scaling), scaling->original_max_len);
  SetMagnitude(rope, NumberOr(rope, "long_mscale", usual), source,
               "long_mscale, else by the ratio of lengths");
  rope.long_mscale.reset();
}

const MlxModel* MlxModelOf(const RopeDraft& rope) {
  const MlxModel* model = FindMlxModel(rope.scope.model_type.value);
  return model != nullptr ? model : FindMlxModel(rope.family().model_type);
}

// Model files that leave the block unread, or whole kinds of it.
void MlxDrops(RopeDraft& rope, absl::string_view source) {
  const MlxModel* model = MlxModelOf(rope);
  if (model == nullptr) {
    Say(rope, source, absl::StrCat("refuses the file: there is no model file for ", Quote(rope.scope.model_type.value),
                                   " (ValueError in mlx_lm/utils.py _get_classes); the table is what "
                                   "initialize_rope of mlx_lm/models/rope_utils.py makes of its keys"));
    return;
  }
  const bool scaled = !std::holds_alternative<std::monostate>(rope.spec.scaling);
  const bool linear = std::holds_alternative<LinearScaling>(rope.spec.scaling);
  const bool longrope = std::holds_alternative<LongRopeScaling>(rope.spec.scaling);
  const bool drops = model->scaling == MlxScaling::kIgnored ||
                     (model->scaling == MlxScaling::kLinearElsePlain && !linear) ||
                     (model->scaling == MlxScaling::kPhi3 && !linear && !longrope);
  if (scaled && drops) {
    DropScaling(rope, absl::StrCat(source, ", mlx_lm/models/", model->model_type, ".py"));
    rope.spec.attention_factor.reset();
  }
}

// The file's width of the head, where transformers rotates half of it.
void MlxGlm(RopeDraft& rope, absl::string_view source) {
  if (rope.family().model_type != "glm" || rope.spec.rotary_dim == rope.spec.head_dim) return;
  rope.spec.rotary_dim = rope.spec.head_dim;
  rope.draft.Rule("rope.rotary_dim", absl::StrCat(rope.spec.head_dim), absl::StrCat("the whole head (", source, ")"));
  Say(rope, source, "mlx_lm/models/glm.py rotates the whole head and not its partial_rotary_factor");
}

void MlxParameters(RopeDraft& rope, absl::string_view source) {
  const ConfigObject& object = rope.scope.object;
  if (object.Find("rope_parameters") == nullptr || object.Find("rope_theta") != nullptr) return;
  Say(rope, source, "models that read rope_theta and rope_scaling alone drop rope_parameters (#1563)");
}

void MlxLayout(RopeDraft& rope, absl::string_view source) {
  Say(rope, source, "passes periods (layout periods) and scales the rotated channels, not the table; linear "
                    "scaling multiplies positions (arithmetic float32-mlx)");
}

constexpr absl::string_view kVllm = "vLLM of August 2026";
constexpr absl::string_view kLlamaCpp = "llama.cpp of August 2026";
constexpr absl::string_view kTensorRt = "TensorRT-LLM 1.x";
constexpr absl::string_view kMlx = "mlx-lm of August 2026";

constexpr RuntimeRule kRules[] = {
    {Runtime::kVllm, kVllm, VllmYarn},
    {Runtime::kVllm, kVllm, VllmDeepSeekYarn},
    {Runtime::kVllm, kVllm, VllmDynamic},
    {Runtime::kVllm, kVllm, VllmLongRope},
    {Runtime::kVllm, kVllm, VllmNtk},
    {Runtime::kVllm, kVllm, VllmProportional},
    {Runtime::kVllm, kVllm, VllmLinear},
    {Runtime::kVllm, kVllm, VllmLayout},
    {Runtime::kLlamaCpp, kLlamaCpp, LlamaCppBase},
    {Runtime::kLlamaCpp, kLlamaCpp, LlamaCppYarn},
    {Runtime::kLlamaCpp, kLlamaCpp, LlamaCppDynamic},
    {Runtime::kLlamaCpp, kLlamaCpp, LlamaCppLongRope},
    {Runtime::kLlamaCpp, kLlamaCpp, LlamaCppPairing},
    {Runtime::kLlamaCpp, kLlamaCpp, LlamaCppAxes},
    {Runtime::kLlamaCpp, kLlamaCpp, LlamaCppLayout},
    {Runtime::kTensorRtLlm, kTensorRt, TensorRtYarn},
    {Runtime::kTensorRtLlm, kTensorRt, TensorRtLongRope},
    {Runtime::kTensorRtLlm, kTensorRt, TensorRtRefuses},
    {Runtime::kTensorRtLlm, kTensorRt, TensorRtLayout},
    {Runtime::kMlxLm, kMlx, MlxDrops},
    {Runtime::kMlxLm, kMlx, MlxGlm},
    {Runtime::kMlxLm, kMlx, MlxYarn},
    {Runtime::kMlxLm, kMlx, MlxLongRope},
    {Runtime::kMlxLm, kMlx, MlxParameters},
    {Runtime::kMlxLm, kMlx, MlxLayout},
};

}  // namespace

void ApplyRuntimeRules(RopeDraft& rope) {
  AddRuntimeRefusals(rope);
  for (const RuntimeRule& rule : kRules) {
    if (rule.runtime == rope.scope.runtime) rule.apply(rope, rule.source);
  }
}

}  // namespace posenc
