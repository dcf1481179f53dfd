#include "server/models/rotary/layer_lists.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/models/config/config_json.h"
#include "server/models/config/config_keys.h"
#include "server/models/rotary/layer_kinds.h"

namespace posenc {
namespace {

constexpr absl::string_view kFractionLists[] = {"partial_rotary_factors", "partial_rotary_factor"};

// A list of bases in which nothing and 0 mean that the layer does not rotate.
constexpr absl::string_view kBasesOrNone = "layer_rope_theta";

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

std::vector<absl::string_view> BaseListKeys() {
  const KeyNames keys = KeysOf(ConfigKey::kBase);
  std::vector<absl::string_view> all(keys.begin(), keys.end());
  all.push_back(kBasesOrNone);
  return all;
}

struct LayerList {
  std::string path;
  std::vector<double> values;  // empty: the file has no such list
  bool zero_is_none = false;
};

LayerList ReadList(const ModelScope& scope, KeyNames keys, size_t layers, Reading& reading) {
  const absl::string_view key = ListKey(scope.object, keys);
  if (key.empty()) return {};
  LayerList list = {scope.object.PathOf(key), {}, key == kBasesOrNone};
  const Json& entries = *scope.object.Find(key);
  if (entries.size() < layers || entries.size() > static_cast<size_t>(kMaxLayers)) {
    reading.bad.AddText(list.path, absl::StrCat("is a list of ", entries.size(), "; allowed: a number, or a list with "
                                                "one for each of the ", layers, " layers"));
    return {};
  }
  for (const Json& entry : entries) {
    const bool none = list.zero_is_none && entry.is_null();
    const bool number = entry.is_number() && std::isfinite(entry.get<double>());
    if (!none && !number) {
      reading.bad.Add(absl::StrCat(list.path, "[", list.values.size(), "]"), Describe(entry), "a number");
      return {};
    }
    list.values.push_back(none ? 0.0 : entry.get<double>());
  }
  return list;
}

// And a list of the indices of those layers.
constexpr absl::string_view kScaledLayers = "rope_scaling_layers";

bool IsScaled(const ModelScope& scope, absl::string_view kind, size_t layer) {
  const Json* layers = scope.object.Find(kScaledLayers);
  if (layers != nullptr && layers->is_array()) {
    return std::any_of(layers->begin(), layers->end(),
                       [&](const Json& i) { return i.is_number() && i.get<double>() == static_cast<double>(layer); });
  }
  const Json* kinds = scope.object.Find(kScaledKinds);
  const bool written = kinds != nullptr && kinds->is_array() && !kinds->empty();
  if (!written) return !scope.family->layers.scaled_full_only || kind != kSlidingAttention;
  return std::find(kinds->begin(), kinds->end(), Json(std::string(kind))) != kinds->end();
}

std::optional<Found<double>> EntryOf(const LayerList& list, size_t layer) {
  if (layer >= list.values.size()) return std::nullopt;
  const std::string path = absl::StrCat(list.path, "[", layer, "]");
  return Found<double>{list.values[layer], path, path, false};
}

// Layers that rotate alike.
struct Group {
  std::optional<Found<double>> base;
  std::optional<Found<double>> fraction;
  bool scaled = true;
  std::vector<int64_t> layers = {};

  bool Takes(const Group& other) const {
    const auto same = [](const auto& a, const auto& b) {
      return a.has_value() == b.has_value() && (!a || a->value == b->value);
    };
    return same(base, other.base) && same(fraction, other.fraction) && scaled == other.scaled;
  }
};

std::vector<Group> GroupsOf(const ModelScope& scope, const LayerPlan& plan, const LayerList& bases,
                            const LayerList& shares) {
  std::vector<Group> groups;
  for (size_t i = 0; i < plan.layers.size(); ++i) {
    Group one = {EntryOf(bases, i), EntryOf(shares, i), IsScaled(scope, plan.layers[i].kind, i)};
    const bool none = bases.zero_is_none && one.base && one.base->value == 0;
    if (!plan.layers[i].rotates || none) continue;
    auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.Takes(one); });
    if (group == groups.end()) group = groups.insert(groups.end(), std::move(one));
    group->layers.push_back(static_cast<int64_t>(i));
  }
  return groups;
}

// A group has the name of its layers' kind where they are of one; names that are taken get a number.
std::string NameOf(const LayerPlan& plan, const Group& group, const std::vector<Layer>& others) {
  const std::string& kind = plan.layers[group.layers.front()].kind;
  const bool one_kind = std::all_of(group.layers.begin(), group.layers.end(),
                                    [&](int64_t i) { return plan.layers[i].kind == kind; });
  const std::string name = one_kind && !kind.empty() ? PathPart(kind) : "main";
  std::string unique = name;
  for (int number = 2; std::any_of(others.begin(), others.end(), [&](const Layer& o) { return o.name == unique; });
       ++number) {
    unique = absl::StrCat(name, "_", number);
  }
  return unique;
}

}  // namespace

bool HasLayerLists(const ModelScope& scope) {
  const Json* scaled = scope.object.Find(kScaledLayers);
  if (scaled != nullptr && scaled->is_array()) return true;
  return !ListKey(scope.object, BaseListKeys()).empty() || !ListKey(scope.object, kFractionLists).empty();
}

std::vector<Layer> LayersByLists(const ModelScope& scope, LayerPlan plan, const ConfigObject& block,
                                 Reading& reading) {
  constexpr size_t kMaxGroups = 16;
  const LayerList bases = ReadList(scope, BaseListKeys(), plan.layers.size(), reading);
  const LayerList shares = ReadList(scope, kFractionLists, plan.layers.size(), reading);
  if (!reading.bad.empty()) return {};
  if (plan.layers.empty()) plan.layers.resize(std::max(bases.values.size(), shares.values.size()));
  const std::vector<Group> groups = GroupsOf(scope, plan, bases, shares);
  if (groups.size() > kMaxGroups) {
    reading.bad.AddText(bases.path.empty() ? shares.path : bases.path,
                        absl::StrCat("makes ", groups.size(), " groups of layers; allowed: at most ", kMaxGroups));
    return {};
  }
  std::vector<Layer> layers;
  for (const Group& group : groups) {
    Layer layer = {NameOf(plan, group, layers), ConfigObject()};
    layer.block = group.scaled ? block : ConfigObject(block.PathOf(layer.name));
    layer.sliding = plan.layers[group.layers.front()].kind == kSlidingAttention;
    layer.applies_to = absl::StrCat("layers ", LayersText(group.layers));
    layer.layers = group.layers;
    layer.base = group.base;
    layer.fraction = group.fraction;
    layers.push_back(std::move(layer));
  }
  return layers;
}

}  // namespace posenc
