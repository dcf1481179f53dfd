#include "server/models/rotary/rope_layers.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "server/models/rotary/layer_kinds.h"
#include "server/models/rotary/layer_lists.h"

namespace posenc {
namespace {

// Names of layer types that a block may be split by, besides those in the file's own layer_types.
constexpr std::array<absl::string_view, 8> kLayerTypes = {
    "full_attention", "sliding_attention", "chunked_attention", "linear_attention",
    "hybrid",         "hybrid_sliding",    "main",              "compress"};

// Real models have two or three. More keys than this are not a split by layer type.
constexpr size_t kMaxLayerTypes = 16;

// The class's own block, as a document that lives as long as the process.
const Json& DefaultBlock(const ModelFamily& family) {
  static const auto* const kBlocks = [] {
    auto* const blocks = new std::map<absl::string_view, Json>;
    for (const ModelFamily* row : AllFamilies()) {
      if (!row->default_block.empty()) (*blocks)[row->model_type] = Json::parse(row->default_block);
    }
    return blocks;
  }();
  return kBlocks->at(family.model_type);
}

// The block of the file: rope_scaling when it says anything, else rope_parameters.
ConfigObject ParameterBlock(const ModelScope& scope, Reading& reading) {
  const ConfigObject scaling = scope.object.Child("rope_scaling", reading.bad);
  const ConfigObject parameters = scope.object.Child("rope_parameters", reading.bad);
  if (!scaling.empty() && !parameters.empty() && *scaling.json() != *parameters.json()) {
    reading.Note(absl::StrCat(scope.object.PathOf("rope_scaling"), " is used, not rope_parameters"));
  }
  if (!scaling.empty()) return scaling;
  if (!parameters.empty()) return parameters;
  // MPT keeps its scaling beside its other attention settings.
  if (scope.family->base_parent_key.empty()) return scaling;
  const ConfigObject parent = scope.object.Child(scope.family->base_parent_key, reading.bad);
  const ConfigObject inner = parent.Child("rope_hf_config", reading.bad);
  return inner.empty() ? scaling : inner;
}

bool IsLayerType(const ModelScope& scope, const std::string& key) {
  if (std::find(kLayerTypes.begin(), kLayerTypes.end(), key) != kLayerTypes.end()) return true;
  const Json* types = scope.object.Find("layer_types");
  return types != nullptr && types->is_array() &&
         std::find(types->begin(), types->end(), key) != types->end();
}

bool FindFirst(const ConfigObject& object, KeyNames keys) {
  return std::any_of(keys.begin(), keys.end(), [&](absl::string_view key) { return object.Find(key) != nullptr; });
}

// A block is split by layer type only when all its keys are layer types.
bool IsByLayerType(const ModelScope& scope, const ConfigObject& block) {
  if (block.empty() || block.json()->size() > kMaxLayerTypes) return false;
  for (const auto& item : block.json()->items()) {
    if (!IsLayerType(scope, item.key())) return false;
  }
  return true;
}

// "layers with sliding attention" of "sliding_attention".
std::string LayersOfType(absl::string_view type) {
  if (!absl::EndsWith(type, "_attention")) return absl::StrCat("layers of type ", PathPart(type));
  return absl::StrCat("layers with ", absl::StrReplaceAll(PathPart(type), {{"_", " "}}));
}

std::vector<int64_t> RotatingBeside(const LayerPlan& plan, absl::string_view kind) {
  std::vector<int64_t> indices;
  for (const int64_t i : plan.Rotating()) {
    if (plan.layers[i].kind != kind) indices.push_back(i);
  }
  return indices;
}

// The layers of one part of a block that is split by type.
std::vector<int64_t> LayersOfPart(const ModelScope& scope, const LayerPlan& plan, const std::string& key) {
  const LayerRule& rule = scope.family->layers;
  const bool own_names = rule.full_name != kFullAttention;
  if (own_names && key == rule.sliding_name) return plan.Rotating(kSlidingAttention);
  if (own_names && key == rule.full_name) return RotatingBeside(plan, kSlidingAttention);
  return plan.Rotating(key);
}

std::vector<Layer> LayersByType(const ModelScope& scope, const LayerPlan& plan, const ConfigObject& block,
                                Reading& reading) {
  std::vector<Layer> layers;
  for (const auto& item : block.json()->items()) {
    if (item.value().is_null()) continue;
    const bool sliding = item.key() == scope.family->layers.sliding_name;
    Layer layer = {PathPart(item.key()), block.Child(item.key(), reading.bad), sliding, true,
                   LayersOfType(item.key())};
    layer.layers = LayersOfPart(scope, plan, item.key());
    layers.push_back(std::move(layer));
  }
  return layers;
}

// The words beside the indices of a table that is not for all layers.
std::string AppliesTo(const ModelScope& scope, const LayerPlan& plan) {
  constexpr size_t kMaxShown = 8;
  const std::vector<int64_t> still = plan.Still();
  if (scope.family->layers.nope == Nope::kSlidingOnly) {
    const bool sliding = plan.layers.empty() ? !scope.object.SaysNull("sliding_window") : !still.empty();
    return sliding ? "layers with sliding attention; the others do not rotate" : "";
  }
  if (absl::StrContains(plan.rotation_source, "no_rope_layers")) {
    if (still.empty()) return "";
    std::vector<std::string> shown;
    for (const int64_t layer : still) {
      if (shown.size() < kMaxShown) shown.push_back(absl::StrCat(layer));
    }
    return absl::StrCat("all layers except ", absl::StrJoin(shown, ", "),
                        still.size() > kMaxShown ? ", …" : "", " (no_rope_layers)");
  }
  if (scope.family->layers.nope == Nope::kEveryFourth) {
    const int64_t step = Period(scope.object, "no_rope_layer_interval");
    return step == 4 || step == 0 ? "all layers except every fourth (no_rope_layer_interval)"
                                  : absl::StrCat("all layers except one in ", step, " (no_rope_layer_interval)");
  }
  if (still.empty()) return "";
  return absl::StrCat("layers ", LayersText(plan.Rotating()), "; the others do not rotate");
}

// The family's own base for layers with a sliding window, or a key that has one.
bool HasSlidingTable(const ModelScope& scope, const LayerPlan& plan) {
  if (scope.family->layers.sliding_table) return true;
  if (scope.known) return false;
  const bool base = FindFirst(scope.object, KeysOf(ConfigKey::kSlidingBase)) ||
                    scope.object.Find("swa_head_dim") != nullptr;
  return base && (plan.layers.empty() || plan.HasKind(kSlidingAttention));
}

// Two tables, one of them for the layers with a sliding window.
std::vector<Layer> LayersByWindow(const ModelScope& scope, const LayerPlan& plan, const ConfigObject& block) {
  const LayerRule& rule = scope.family->layers;
  const ConfigObject plain(block.PathOf(rule.sliding_name));
  const ConfigObject& scaling = rule.sliding_scaled ? block : plain;
  Layer full = {std::string(rule.full_name), block, false, false, LayersOfType(rule.full_name)};
  Layer sliding = {std::string(rule.sliding_name), scaling, true, false, LayersOfType(rule.sliding_name)};
  full.layers = RotatingBeside(plan, kSlidingAttention);
  sliding.layers = plan.Rotating(kSlidingAttention);
  if (plan.layers.empty() || plan.kinds_source.empty()) return {full, sliding};
  for (Layer* layer : {&full, &sliding}) {
    if (layer->layers.empty()) absl::StrAppend(&layer->applies_to, ", of which this file has none");
  }
  return {full, sliding};
}

}  // namespace

std::vector<Layer> LayersOf(const ModelScope& scope, const LayerPlan& plan, Reading& reading) {
  const ModelFamily& family = *scope.family;
  ConfigObject block = ParameterBlock(scope, reading);
  if (IsByLayerType(scope, block)) return LayersByType(scope, plan, block, reading);
  if (block.empty() && !family.default_block.empty()) {
    block = ConfigObject::Defaults(DefaultBlock(family), scope.object.PathOf("rope_scaling"),
                                   scope.DefaultSource());
    if (IsByLayerType(scope, block)) return LayersByType(scope, plan, block, reading);
  }
  if (!plan.layers.empty() && plan.Rotating().empty()) return {};
  const bool scaled_apart = family.layers.scaled_full_only && plan.HasKind(kSlidingAttention);
  if (HasLayerLists(scope) || scaled_apart) return LayersByLists(scope, plan, block, reading);
  if (HasSlidingTable(scope, plan)) return LayersByWindow(scope, plan, block);
  Layer all = {"main", block, false, false, AppliesTo(scope, plan)};
  all.layers = plan.Rotating();
  return {std::move(all)};
}

}  // namespace posenc
