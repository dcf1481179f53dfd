#include "server/models/rotary/rope_scaling_config.h"

#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/core/shortest_decimal.h"

namespace posenc {
namespace {

constexpr absl::string_view kOriginalLength = "original_max_position_embeddings";

// Takes a number that the type cannot do without.
double Require(RopeDraft& rope, absl::string_view field, absl::string_view key) {
  const std::optional<Found<double>> found = rope.block().Number(key, rope.bad());
  if (found) return rope.draft.Take(field, *found);
  if (rope.block().Find(key) == nullptr) {
    rope.bad().AddText(rope.block().PathOf(key), "is missing; allowed: a number");
  }
  return 1.0;
}

// The length the model was trained for. Phi-3's files have it at the top, which beats the block.
std::optional<Found<int64_t>> WrittenOriginalLength(RopeDraft& rope) {
  const auto at_top = rope.scope.object.Integer(kOriginalLength, rope.bad());
  return at_top ? at_top : rope.block().Integer(kOriginalLength, rope.bad());
}

int64_t RequireOriginalLength(RopeDraft& rope, absl::string_view field) {
  if (const auto found = WrittenOriginalLength(rope)) return rope.draft.Take(field, *found);
  if (rope.block().Find(kOriginalLength) == nullptr) {
    rope.bad().AddText(rope.block().PathOf(kOriginalLength), "is missing; allowed: a whole number");
  }
  return 1;
}

// The same where the longest input stands in for it.
int64_t OriginalLengthOrLongest(RopeDraft& rope, absl::string_view field) {
  if (const auto found = WrittenOriginalLength(rope)) return rope.draft.Take(field, *found);
  const Found<int64_t> longest = rope.scope.MaxLenOr(rope.spec.max_len, rope.bad());
  rope.reading.Note(absl::StrCat(rope.block().PathOf(kOriginalLength), " is missing: ", longest.path, " ",
                                 rope.spec.max_len, " is taken as the trained length"));
  return rope.draft.Take(field, longest);
}

void NoteFactorBelowOne(RopeDraft& rope, double factor) {
  if (!(factor > 0 && factor < 1)) return;
  rope.reading.Note(
      absl::StrCat(rope.block().PathOf("factor"), " is below 1: the table's frequencies are raised"));
}

// A factor that follows from the two lengths where the block has none.
double FactorOrRatio(RopeDraft& rope, absl::string_view field, int64_t original_length) {
  const double ratio =
      static_cast<double>(rope.spec.max_len) / static_cast<double>(std::max<int64_t>(original_length, 1));
  const auto found = rope.block().Number("factor", rope.bad());
  if (!found) {
    return rope.draft.Take(field, Found<double>{ratio, rope.block().PathOf("factor"),
                                                "longest input / trained length", true});
  }
  if (found->value != ratio && ratio > 1) {
    rope.reading.Note(absl::StrCat(found->path, " ", ShortestDecimal(found->value), " is used, though ",
                                   rope.spec.max_len, " / ", original_length, " is ", ShortestDecimal(ratio)));
  }
  return rope.draft.Take(field, *found);
}

void ReadAttentionFactor(RopeDraft& rope) {
  const auto found = rope.block().Number("attention_factor", rope.bad());
  if (found) rope.spec.attention_factor = rope.draft.Take("rope.attention_factor", *found);
}

void ReadNone(RopeDraft&) {}

void ReadLinear(RopeDraft& rope) {
  LinearScaling scaling;
  scaling.factor = Require(rope, "rope.linear.factor", "factor");
  NoteFactorBelowOne(rope, scaling.factor);
  rope.spec.scaling = scaling;
}

void ReadLlama3(RopeDraft& rope) {
  Llama3Scaling scaling;
  scaling.factor = Require(rope, "rope.llama3.factor", "factor");
  scaling.low_freq_factor = Require(rope, "rope.llama3.low_freq_factor", "low_freq_factor");
  scaling.high_freq_factor = Require(rope, "rope.llama3.high_freq_factor", "high_freq_factor");
  scaling.original_max_len = RequireOriginalLength(rope, "rope.llama3.original_max_len");
  NoteFactorBelowOne(rope, scaling.factor);
  rope.spec.scaling = scaling;
}

void ReadNtk(RopeDraft& rope) {
  NtkScaling scaling;
  scaling.factor = Require(rope, "rope.ntk.factor", "factor");
  if (rope.family().fixed_ntk) {
    scaling.rule = NtkRule::kVllm;
    rope.draft.Rule("rope.ntk.rule", "vllm", absl::StrCat("rotation of ", rope.family().class_name));
  }
  if (const auto mixed = rope.block().Number("mixed_b", rope.bad())) {
    scaling.rule = NtkRule::kMixed;
    scaling.mixed_b = rope.draft.Take("rope.ntk.mixed_b", *mixed);
  }
  rope.spec.scaling = scaling;
}

void ReadNtkAlpha(RopeDraft& rope) {
  rope.spec.scaling = NtkAlphaScaling{Require(rope, "rope.ntk_alpha.alpha", "alpha")};
}

// Hunyuan's files call a fixed alpha dynamic.
void ReadDynamic(RopeDraft& rope) {
  if (rope.block().IsTruthy("alpha")) return ReadNtkAlpha(rope);
  DynamicScaling scaling;
  scaling.factor = Require(rope, "rope.dynamic.factor", "factor");
  scaling.original_max_len =
      rope.draft.Take("rope.dynamic.original_max_len", rope.scope.MaxLenOr(rope.spec.max_len, rope.bad()));
  rope.spec.scaling = scaling;
  if (rope.spec.effective_length) return;
  rope.reading.Note(absl::StrCat("the base of dynamic scaling depends on the sequence: the table is for "
                                 "sequences of at most ", scaling.original_max_len,
                                 " tokens; effective_length asks for a longer one's"));
}

void ReadLongRope(RopeDraft& rope) {
  LongRopeScaling scaling;
  for (const auto& [key, list] : {std::pair("short_factor", &scaling.short_factor),
                                  std::pair("long_factor", &scaling.long_factor)}) {
    const auto found = rope.block().Numbers(key, rope.bad());
    if (found) *list = rope.draft.Take(absl::StrCat("rope.longrope.", key), *found);
    if (!found && rope.block().Find(key) == nullptr) {
      rope.bad().AddText(rope.block().PathOf(key), "is missing; allowed: a list of numbers");
    }
  }
  scaling.original_max_len = OriginalLengthOrLongest(rope, "rope.longrope.original_max_len");
  scaling.factor = FactorOrRatio(rope, "rope.longrope.factor", scaling.original_max_len);
  ReadAttentionFactor(rope);
  rope.spec.scaling = std::move(scaling);
  if (!rope.family().mscale_lists) return;
  const auto take = [&](absl::string_view key, std::optional<double>& mscale) {
    const auto found = rope.block().Number(key, rope.bad());
    if (found) mscale = rope.draft.Take(absl::StrCat("rope.attention_factor (", key, ")"), *found);
  };
  take("short_mscale", rope.short_mscale);
  take("long_mscale", rope.long_mscale);
}

// The class writes `value or default`: null and 0 are the default.
double BetaOr(RopeDraft& rope, absl::string_view key, double beta_default) {
  const std::string field = absl::StrCat("rope.yarn.", key);
  const auto found = rope.block().Number(key, rope.bad());
  if (found && found->value != 0) return rope.draft.Take(field, *found);
  return rope.draft.Take(field,
                         Found<double>{beta_default, rope.block().PathOf(key), "default of yarn", true});
}

bool Truncate(RopeDraft& rope) {
  const auto found = rope.block().Flag("truncate", rope.bad());
  if (!found) return true;
  if (!rope.layer.nested) return rope.draft.Take("rope.yarn.truncate", *found);
  rope.reading.Note(
      absl::StrCat(found->path, " is not used: transformers 5 reads it beside the layer types"));
  return true;
}

void ReadYarn(RopeDraft& rope) {
  // Phi-3's first files call their lists of factors yarn.
  if (rope.block().Find("short_factor") && rope.block().Find("long_factor")) return ReadLongRope(rope);
  YarnScaling scaling;
  scaling.original_max_len = OriginalLengthOrLongest(rope, "rope.yarn.original_max_len");
  scaling.factor = FactorOrRatio(rope, "rope.yarn.factor", scaling.original_max_len);
  scaling.beta_fast = BetaOr(rope, "beta_fast", scaling.beta_fast);
  scaling.beta_slow = BetaOr(rope, "beta_slow", scaling.beta_slow);
  scaling.truncate = Truncate(rope);
  for (const auto& [key, member] : {std::pair("mscale", &scaling.mscale),
                                    std::pair("mscale_all_dim", &scaling.mscale_all_dim)}) {
    const auto found = rope.block().Number(key, rope.bad());
    if (found) *member = rope.draft.Take(absl::StrCat("rope.yarn.", key), *found);
  }
  ReadAttentionFactor(rope);
  rope.spec.scaling = scaling;
}

// vLLM's class for TeleChat 3 has its own constant where the others have 0.1.
void ReadTelechat(RopeDraft& rope) {
  ReadYarn(rope);
  const auto* yarn = std::get_if<YarnScaling>(&rope.spec.scaling);
  if (yarn == nullptr || rope.spec.attention_factor) return;
  constexpr double kSlope = 0.07;
  const double magnitude = yarn->factor <= 1 ? 1 : kSlope * std::log(yarn->factor) + 1;
  rope.spec.attention_factor = magnitude;
  rope.draft.Rule("rope.attention_factor", ShortestDecimal(magnitude), "0.07 * ln(factor) + 1, telechat3-yarn");
}

void ReadProportional(RopeDraft& rope) {
  constexpr absl::string_view kFraction = "partial_rotary_factor";
  constexpr double kGemma4Fraction = 0.25;
  ProportionalScaling scaling;
  if (const auto factor = rope.block().Number("factor", rope.bad())) {
    scaling.factor = rope.draft.Take("rope.proportional.factor", *factor);
  }
  auto fraction = rope.block().Number(kFraction, rope.bad());
  if (!fraction) fraction = rope.scope.object.Number(kFraction, rope.bad());
  if (!fraction) fraction = rope.scope.Default(kGemma4Fraction, kFraction);
  scaling.fraction = rope.draft.Take("rope.proportional.fraction", *fraction);
  rope.spec.scaling = scaling;
}

// A scaling type by the name that files give it. Without a function it is known but not served.
struct ScalingType {
  absl::string_view name;
  void (*read)(RopeDraft&);
};

constexpr ScalingType kScalingTypes[] = {
    {"default", ReadNone},
    {"linear", ReadLinear},
    {"llama3", ReadLlama3},
    {"dynamic", ReadDynamic},
    {"yarn", ReadYarn},
    {"longrope", ReadLongRope},
    {"ntk", ReadNtk},
    {"proportional", ReadProportional},
    {"su", ReadLongRope},                    // Phi-3's old name of longrope
    {"mrope", ReadNone},                     // the axes are read from mrope_section
    {"xdrope", ReadNtkAlpha},                // Hunyuan VL, as vLLM calls it
    {"openpangu", ReadNone},                 // the same for openPangu
    {"deepseek_yarn", ReadYarn},             // vLLM's names of DeepSeek's yarn, with and without magnitudes
    {"deepseek_llama_scaling", ReadYarn},
    {"telechat3-yarn", ReadTelechat},
    {"no_scaling", ReadNone},                // MPT
    {"mllama4", nullptr},                    // vLLM's name of Llama 4's vision model
};
constexpr absl::string_view kServedTypes =
    "default, linear, llama3, dynamic, yarn, longrope, ntk, proportional, mrope, xdrope";

const ScalingType* FindType(absl::string_view name) {
  for (const ScalingType& type : kScalingTypes) {
    if (type.name == name) return &type;
  }
  return nullptr;
}

// Whether the old and the new spelling of a type mean the same.
bool SameType(absl::string_view rope_type, absl::string_view type) {
  return rope_type == type || (rope_type == "longrope" && type == "su") ||
         (rope_type == "default" && type == "mrope");
}

// The type's name and the key that says it: rope_type before type, its spelling before transformers 4.43.
Found<std::string> TypeOf(RopeDraft& rope) {
  const std::optional<Found<std::string>> rope_type = rope.block().Text("rope_type", rope.bad());
  const std::optional<Found<std::string>> type = rope.block().Text("type", rope.bad());
  if (rope_type && type && !SameType(rope_type->value, type->value)) {
    rope.reading.Note(absl::StrCat(rope_type->path, " ", Quote(rope_type->value), " is used, not ",
                                   type->path, " ", Quote(type->value)));
  }
  if (rope_type) return *rope_type;
  if (type) return *type;
  return {"default", rope.block().PathOf("rope_type"), rope.scope.DefaultSource(), true, !rope.scope.known};
}

// A block with numbers but no type is a mistake that would go unseen as plain rotation.
void NoteUntypedFactor(RopeDraft& rope, const Found<std::string>& type) {
  if (!type.defaulted || rope.block().Find("factor") == nullptr) return;
  rope.reading.Note(absl::StrCat(rope.block().PathOf("factor"), " is not used: the block has no rope_type"));
}

}  // namespace

void ReadRopeScaling(RopeDraft& rope) {
  const Found<std::string> name = TypeOf(rope);
  const ScalingType* type = FindType(name.value);
  if (type == nullptr) {
    rope.bad().Add(name.path, Quote(name.value), kServedTypes);
    return;
  }
  if (type->read == nullptr) {
    rope.reading.unserved.AddText(name.path, absl::StrCat("is ", Quote(name.value),
                                                          ", which is no text model's; allowed: ",
                                                          kServedTypes));
    return;
  }
  NoteUntypedFactor(rope, name);
  rope.scaling_type = name.value;
  rope.draft.Note("rope.scaling", name.value, name);
  type->read(rope);
}

}  // namespace posenc
