#include "server/models/runtimes/runtime_refusals.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/models/runtimes/mlx_models.h"

namespace posenc {
namespace {

constexpr absl::string_view kOriginal = "original_max_position_embeddings";
constexpr absl::string_view kVllmPlace = "vLLM, vllm/model_executor/layers/rotary_embedding/__init__.py get_rope";
constexpr absl::string_view kVllmAxes = "vLLM, vllm/model_executor/layers/rotary_embedding/mrope.py MRotaryEmbedding";
constexpr absl::string_view kVllmTypes = "vLLM, vllm/transformers_utils/config.py patch_legacy_rope_type";
constexpr absl::string_view kMlxPlace = "mlx-lm, mlx_lm/models/rope_utils.py initialize_rope";
constexpr absl::string_view kTensorRtPlace =
    "TensorRT-LLM, tensorrt_llm/functional.py RotaryScalingType.from_string";

constexpr absl::string_view kVllmServes[] = {
    "default", "proportional", "llama3",        "mllama4",       "linear",                 "ntk",       "dynamic",
    "xdrope",  "yarn",         "deepseek_yarn", "longrope",      "deepseek_llama_scaling", "openpangu", "telechat3-yarn",
    "su",      "mrope"};
constexpr absl::string_view kMlxServes[] = {"default",       "linear",         "dynamic",  "llama3",       "yarn",
                                            "deepseek_yarn", "telechat3-yarn", "longrope", "proportional", "mrope"};
constexpr absl::string_view kTensorRtServes[] = {"none", "default", "linear", "dynamic", "longrope", "llama3",
                                                 "yarn", "mrope"};

bool Serves(std::span<const absl::string_view> types, absl::string_view type) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

// A file without a block has no type.
bool HasBlock(const RopeDraft& rope) { return !rope.scaling_type.empty() && rope.scaling_type != "default"; }

void Refuse(RopeDraft& rope, absl::string_view key, absl::string_view what, absl::string_view exception,
            absl::string_view place) {
  rope.reading.unserved.AddText(rope.block().PathOf(key), absl::StrCat(what, ", which ", place, " refuses (", exception,
                                                                       "); allowed: what it serves"));
}

// The key that has the type.
absl::string_view TypeKey(const RopeDraft& rope) {
  return rope.block().Find("rope_type") == nullptr && rope.block().Find("type") != nullptr ? "type" : "rope_type";
}

void RefuseType(RopeDraft& rope, std::span<const absl::string_view> served, absl::string_view exception,
                absl::string_view place) {
  if (!HasBlock(rope) || Serves(served, rope.scaling_type)) return;
  rope.reading.unserved.AddText(
      rope.block().PathOf(TypeKey(rope)),
      absl::StrCat("is ", Quote(rope.scaling_type), ", which ", place, " refuses (", exception, "); allowed: ",
                   absl::StrJoin(served.begin(), served.end(), ", ")));
}

void RefuseMissing(RopeDraft& rope, absl::string_view key, absl::string_view place) {
  if (rope.block().Find(key) != nullptr) return;
  Refuse(rope, key, "is missing", "KeyError", place);
}

bool IsOf(const RopeDraft& rope, std::initializer_list<absl::string_view> types) {
  return std::find(types.begin(), types.end(), rope.scaling_type) != types.end();
}

void VllmSections(RopeDraft& rope) {
  if (!rope.spec.axes) return;
  const auto& sections = rope.spec.axes->sections;
  const int64_t sum = std::accumulate(sections.begin(), sections.end(), int64_t{0});
  const int64_t width = rope.spec.rotary_dim == 0 ? rope.spec.head_dim : rope.spec.rotary_dim;
  if (sum == width / 2 || sections.size() != 3) return;
  Refuse(rope, "mrope_section", absl::StrCat("sums to ", sum, " and not to rotary_dim / 2, ", width / 2),
         "AssertionError", kVllmAxes);
}

void VllmRefuses(RopeDraft& rope) {
  RefuseType(rope, kVllmServes, "ValueError: Unknown RoPE scaling type", kVllmPlace);
  const Json* type = rope.block().Find("type");
  const bool both = type != nullptr && type->is_string() && rope.block().Find("rope_type") != nullptr;
  const std::string old = both ? type->get<std::string>() : rope.scaling_type;
  const bool alike = old == rope.scaling_type || (old == "su" && rope.scaling_type == "longrope") ||
                     (old == "mrope" && rope.scaling_type == "default");
  if (!alike) Refuse(rope, "type", absl::StrCat("is ", Quote(old), " beside rope_type ", Quote(rope.scaling_type)),
                     "ValueError: Found conflicts", kVllmTypes);
  const bool needs_length = IsOf(rope, {"yarn", "deepseek_yarn", "deepseek_llama_scaling"});
  if (needs_length && rope.scope.object.Find(kOriginal) == nullptr) RefuseMissing(rope, kOriginal, kVllmPlace);
  if (needs_length) RefuseMissing(rope, "factor", kVllmPlace);
  VllmSections(rope);
}

void MlxInitialize(RopeDraft& rope) {
  RefuseType(rope, kMlxServes, "ValueError: Unsupported RoPE type", kMlxPlace);
  if (rope.scaling_type == "longrope") RefuseMissing(rope, kOriginal, kMlxPlace);
  if (IsOf(rope, {"yarn", "deepseek_yarn", "telechat3-yarn"})) RefuseMissing(rope, "factor", kMlxPlace);
  if (rope.scaling_type != "mrope") return;
  const size_t sections = rope.spec.axes ? rope.spec.axes->sections.size() : 0;
  if (sections != 3) {
    Refuse(rope, "mrope_section", absl::StrCat("has ", sections, " entries, not 3"), "AssertionError", kMlxPlace);
  }
}

void MlxRefuses(RopeDraft& rope) {
  const std::string type = rope.scope.model_type.value;
  const MlxModel* model = FindMlxModel(type);
  if (model == nullptr) model = FindMlxModel(rope.family().model_type);
  if (model == nullptr) return MlxInitialize(rope);
  const std::string file = absl::StrCat("mlx-lm, mlx_lm/models/", model->model_type, ".py ModelArgs");
  constexpr absl::string_view kLinearDynamic[] = {"linear", "dynamic"};
  constexpr absl::string_view kLinear[] = {"linear"};
  switch (model->scaling) {
    case MlxScaling::kAll: return MlxInitialize(rope);
    case MlxScaling::kLinearDynamic: return RefuseType(rope, kLinearDynamic, "ValueError", file);
    case MlxScaling::kLinearOnly: return RefuseType(rope, kLinear, "ValueError", file);
    case MlxScaling::kAlpha:
      if (HasBlock(rope)) RefuseMissing(rope, "alpha", file);
      return;
    case MlxScaling::kIgnored:
    case MlxScaling::kLinearElsePlain:
    case MlxScaling::kAlwaysYarn:
    case MlxScaling::kAlwaysLong:
    case MlxScaling::kPhi3:
    case MlxScaling::kNoRotation: return;
  }
}

}  // namespace

void AddRuntimeRefusals(RopeDraft& rope) {
  switch (rope.scope.runtime) {
    case Runtime::kTransformers:
    case Runtime::kLlamaCpp: return;
    case Runtime::kVllm: return VllmRefuses(rope);
    case Runtime::kTensorRtLlm:
      return RefuseType(rope, kTensorRtServes, "ValueError: Unsupported rotary scaling type", kTensorRtPlace);
    case Runtime::kMlxLm: return MlxRefuses(rope);
  }
}

}  // namespace posenc
