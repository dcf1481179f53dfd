#include "server/models/rotary/layer_lists.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/models/config/config_keys.h"

namespace posenc {
namespace {

constexpr absl::string_view kFractionLists[] = {"partial_rotary_factors", "partial_rotary_factor"};

// A list of the kinds of layers that the scaling block is for.
constexpr absl::string_view kScaledKinds = "yarn_only_types";

// The first of the keys that holds a list of more than one entry; empty where none does.
absl::string_view ListKey(const ConfigObject& object, KeyNames keys) {
  for (const absl::string_view key : keys) {
    const Json* list = object.Find(key);
    if (list != nullptr && list->is_array() && list->size() > 1) return key;
  }
  return {};
}

struct LayerList {
  std::string path;
  std::vector<double> values;  // empty: the file has no such list
};

LayerList ReadList(const ModelScope& scope, KeyNames keys, size_t layers, Reading& reading) {
  const absl::string_view key = ListKey(scope.object, keys);
  if (key.empty()) return {};
  const auto found = scope.object.Numbers(key, reading.bad);
  if (!found) return {};
  if (found->value.size() < layers) {
    reading.bad.AddText(found->path, absl::StrCat("is a list of ", found->value.size(), "; allowed: a number, or "
                                                  "a list with one for each of the ", layers, " layers"));
  }
  return {found->path, found->value};
}

bool IsScaled(const ModelScope& scope, absl::string_view kind) {
  const Json* kinds = scope.object.Find(kScaledKinds);
  if (kinds == nullptr || !kinds->is_array() || kinds->empty()) return true;
  return std::find(kinds->begin(), kinds->end(), Json(std::string(kind))) != kinds->end();
}

bool SameValue(const std::optional<Found<double>>& a, const std::optional<Found<double>>& b) {
  return a.has_value() == b.has_value() && (!a || a->value == b->value);
}

std::optional<Found<double>> EntryOf(const LayerList& list, size_t layer) {
  if (layer >= list.values.size()) return std::nullopt;
  const std::string path = absl::StrCat(list.path, "[", layer, "]");
  return Found<double>{list.values[layer], path, path, false};
}

// Groups of one kind with different numbers are told apart by a number.
std::string NameOf(const std::vector<Layer>& layers, absl::string_view kind) {
  const std::string name = kind.empty() ? "main" : PathPart(kind);
  const auto taken = std::count_if(layers.begin(), layers.end(), [&](const Layer& other) {
    return other.name == name || other.name.rfind(absl::StrCat(name, "_"), 0) == 0;
  });
  return taken == 0 ? name : absl::StrCat(name, "_", taken + 1);
}

}  // namespace

bool HasLayerLists(const ModelScope& scope) {
  return !ListKey(scope.object, KeysOf(ConfigKey::kBase)).empty() ||
         !ListKey(scope.object, kFractionLists).empty();
}

std::vector<Layer> LayersByLists(const ModelScope& scope, LayerPlan plan, const ConfigObject& block,
                                 Reading& reading) {
  const LayerList bases = ReadList(scope, KeysOf(ConfigKey::kBase), plan.layers.size(), reading);
  const LayerList shares = ReadList(scope, kFractionLists, plan.layers.size(), reading);
  if (!reading.bad.empty()) return {};
  if (plan.layers.empty()) plan.layers.resize(std::max(bases.values.size(), shares.values.size()));
  constexpr size_t kMaxGroups = 16;
  std::vector<Layer> layers;
  for (size_t i = 0; i < plan.layers.size(); ++i) {
    const PlannedLayer& planned = plan.layers[i];
    if (!planned.rotates) continue;
    Layer layer = {.name = "", .block = IsScaled(scope, planned.kind) ? block : ConfigObject(block.PathOf(planned.kind)),
                   .sliding = planned.kind == kSlidingAttention, .base = EntryOf(bases, i),
                   .fraction = EntryOf(shares, i)};
    const auto same = std::find_if(layers.begin(), layers.end(), [&](const Layer& other) {
      return plan.layers[other.layers.front()].kind == planned.kind && SameValue(other.base, layer.base) &&
             SameValue(other.fraction, layer.fraction);
    });
    if (same != layers.end()) {
      same->layers.push_back(static_cast<int64_t>(i));
      continue;
    }
    if (layers.size() == kMaxGroups) {
      reading.bad.AddText(bases.path.empty() ? shares.path : bases.path,
                          absl::StrCat("makes more than ", kMaxGroups, " groups of layers; allowed: ", kMaxGroups));
      return {};
    }
    layer.name = NameOf(layers, planned.kind);
    layer.layers = {static_cast<int64_t>(i)};
    layers.push_back(std::move(layer));
  }
  for (Layer& layer : layers) layer.applies_to = absl::StrCat("layers ", LayersText(layer.layers));
  return layers;
}

}  // namespace posenc
