#include "server/models/rotary/rope_layers.h"

#include <algorithm>
#include <array>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace posenc {
namespace {

// Names of layer types that a block may be split by, besides those in the file's own layer_types.
constexpr std::array<absl::string_view, 6> kLayerTypes = {
    "full_attention", "sliding_attention", "chunked_attention", "linear_attention", "main", "compress"};

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

std::vector<Layer> LayersByType(const ModelScope& scope, const ConfigObject& block, Reading& reading) {
  std::vector<Layer> layers;
  for (const auto& item : block.json()->items()) {
    if (item.value().is_null()) continue;
    layers.push_back({PathPart(item.key()), block.Child(item.key(), reading.bad),
                      item.key() == scope.family->sliding_name, true, LayersOfType(item.key())});
  }
  return layers;
}

bool HasSlidingLayers(const ModelScope& scope) {
  const Json* types = scope.object.Find("layer_types");
  if (types != nullptr && types->is_array()) {
    return std::find(types->begin(), types->end(), "sliding_attention") != types->end();
  }
  return !scope.object.SaysNull("sliding_window");
}

// The layers that no_rope_layers marks with 1, as text; what is no list of marks is left to a note.
std::string RotatingLayers(const Json& marks) {
  constexpr size_t kMaxShown = 8;
  std::string still;
  size_t count = 0;
  for (size_t i = 0; i < marks.size(); ++i) {
    if (!marks[i].is_number() || marks[i].get<double>() != 0) continue;
    if (count < kMaxShown) absl::StrAppend(&still, count == 0 ? "" : ", ", i);
    ++count;
  }
  if (count == 0) return "";
  return absl::StrCat("all layers except ", still, count > kMaxShown ? ", …" : "", " (no_rope_layers)");
}

std::string AppliesTo(const ModelScope& scope, Reading& reading) {
  switch (scope.family->nope) {
    case Nope::kNone: return "";
    case Nope::kSlidingOnly:
      return HasSlidingLayers(scope) ? "layers with sliding attention; the others do not rotate" : "";
    case Nope::kEveryFourth: break;
  }
  const Json* marks = scope.object.Find("no_rope_layers");
  if (marks != nullptr && marks->is_array() && !marks->empty()) return RotatingLayers(*marks);
  const auto interval = scope.object.Integer("no_rope_layer_interval", reading.bad);
  const int64_t step = interval ? interval->value : 4;
  return step == 4 ? "all layers except every fourth (no_rope_layer_interval)"
                   : absl::StrCat("all layers except one in ", step, " (no_rope_layer_interval)");
}

}  // namespace

std::vector<Layer> LayersOf(const ModelScope& scope, Reading& reading) {
  const ModelFamily& family = *scope.family;
  ConfigObject block = ParameterBlock(scope, reading);
  if (IsByLayerType(scope, block)) return LayersByType(scope, block, reading);
  if (block.empty() && !family.default_block.empty()) {
    block = ConfigObject::Defaults(DefaultBlock(family), scope.object.PathOf("rope_scaling"),
                                   scope.DefaultSource());
  }
  if (!family.sliding_table) return {{"main", block, false, false, AppliesTo(scope, reading)}};
  const ConfigObject plain(block.PathOf(family.sliding_name));
  const ConfigObject& sliding = family.sliding_scaled ? block : plain;
  return {{std::string(family.full_name), block, false, false, LayersOfType(family.full_name)},
          {std::string(family.sliding_name), sliding, true, false, LayersOfType(family.sliding_name)}};
}

}  // namespace posenc
