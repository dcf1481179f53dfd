#include "server/models/rotary/layer_plan.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/models/rotary/layer_kinds.h"

namespace posenc {
namespace {

// Kinds without attention to positions: their names, or a part of them.
constexpr std::array<absl::string_view, 14> kWithoutAttention = {
    "no_op", "mamba", "conv", "recurrent", "linear_attention", "mlp",       "moe", "rglru",
    "rwkv",  "gdn",  "kda",       "delta",            "lightning", "ssm"};

// Lists that mark the layers that rotate with 1, the others with 0.
constexpr std::array<absl::string_view, 3> kRotationMarks = {"no_rope_layers", "rope_layout", "use_rope_layers"};

// One layer in so many, the last of each group, does not rotate.
constexpr std::array<absl::string_view, 2> kStillPeriods = {"no_rope_layer_interval", "nope_layer_interval"};

// Lists of the indices of layers that do not rotate; one of nothing but 0 and 1 is marks.
constexpr std::array<absl::string_view, 3> kStillLayers = {"no_rope_layers", "nope_layers", "no_rope_layer_ids"};

bool StopByIndices(LayerPlan& plan, const ModelScope& scope) {
  for (const absl::string_view key : kStillLayers) {
    const Json* list = scope.object.Find(key);
    if (list == nullptr || !list->is_array() || plan.layers.empty()) continue;
    const bool indices = std::any_of(list->begin(), list->end(),
                                     [](const Json& i) { return i.is_number() && i.get<double>() > 1; });
    if (!indices) continue;
    for (const Json& entry : *list) {
      const double index = entry.is_number() ? entry.get<double>() : -1;
      const bool inside = index >= 0 && index < static_cast<double>(plan.layers.size());
      if (inside) plan.layers[static_cast<size_t>(index)].rotates = false;
    }
    plan.rotation_source = scope.object.PathOf(key);
    return true;
  }
  return false;
}

void StopByMarks(LayerPlan& plan, const ModelScope& scope) {
  if (StopByIndices(plan, scope)) return;
  for (const absl::string_view key : kRotationMarks) {
    const std::vector<bool> marks = LayerMarks(scope.object, key);
    if (marks.empty()) continue;
    if (plan.layers.empty()) plan.layers.resize(marks.size());
    for (size_t i = 0; i < plan.layers.size(); ++i) {
      plan.layers[i].rotates = plan.layers[i].rotates && marks[i % marks.size()];
    }
    plan.rotation_source = scope.object.PathOf(key);
    return;
  }
  constexpr int64_t kUsualPeriod = 4;
  const bool usual = scope.family->layers.nope == Nope::kEveryFourth;
  int64_t period = usual ? kUsualPeriod : 0;
  std::string source = scope.DefaultSource();
  for (const absl::string_view key : kStillPeriods) {
    const int64_t written = Period(scope.object, key);
    if (written == 0) continue;
    period = written;
    source = scope.object.PathOf(key);
  }
  if (period == 0) return;
  for (size_t i = 0; i < plan.layers.size(); ++i) {
    if ((i + 1) % static_cast<size_t>(period) == 0) plan.layers[i].rotates = false;
  }
  plan.rotation_source = source;
}

// The class rotates in layers with a sliding window alone, where the model has such layers.
void StopFullAttention(LayerPlan& plan, const ModelScope& scope) {
  if (!plan.HasKind(kSlidingAttention) || scope.object.SaysNull("sliding_window")) return;
  for (PlannedLayer& layer : plan.layers) {
    if (layer.kind != kSlidingAttention) layer.rotates = false;
  }
  plan.rotation_source = absl::StrCat("rotation of ", scope.family->class_name);
}

}  // namespace

bool LayerPlan::HasKind(absl::string_view kind) const {
  return std::any_of(layers.begin(), layers.end(), [&](const PlannedLayer& l) { return l.kind == kind; });
}

std::vector<int64_t> LayerPlan::Rotating(absl::string_view kind) const {
  std::vector<int64_t> indices;
  for (size_t i = 0; i < layers.size(); ++i) {
    if (layers[i].rotates && (kind.empty() || layers[i].kind == kind)) indices.push_back(static_cast<int64_t>(i));
  }
  return indices;
}

std::vector<int64_t> LayerPlan::Still() const {
  std::vector<int64_t> indices;
  for (size_t i = 0; i < layers.size(); ++i) {
    if (!layers[i].rotates) indices.push_back(static_cast<int64_t>(i));
  }
  return indices;
}

LayerPlan PlanOf(const ModelScope& scope) {
  LayerPlan plan;
  const int64_t count = LayerCount(scope.object);
  LayerKinds kinds = ReadLayerKinds(scope, count);
  plan.kinds_source = kinds.source;
  for (std::string& kind : kinds.kinds) plan.layers.push_back({std::move(kind), true});
  if (kinds.kinds.empty()) plan.layers.resize(count);
  const LayerRule& rule = scope.family->layers;
  for (PlannedLayer& layer : plan.layers) {
    layer.rotates = HasAttention(layer.kind) || (rule.linear_rotates && layer.kind == kLinearAttention);
  }
  if (rule.nope == Nope::kSlidingOnly) StopFullAttention(plan, scope);
  StopByMarks(plan, scope);
  return plan;
}

bool HasAttention(absl::string_view kind) {
  return std::none_of(kWithoutAttention.begin(), kWithoutAttention.end(),
                      [&](absl::string_view part) { return absl::StrContains(kind, part); });
}

std::string LayersText(const std::vector<int64_t>& layers) {
  std::string text;
  for (size_t i = 0; i < layers.size();) {
    size_t end = i + 1;
    while (end < layers.size() && layers[end] == layers[end - 1] + 1) ++end;
    absl::StrAppend(&text, text.empty() ? "" : ", ", layers[i]);
    // A run of two is no shorter with words.
    if (end - i > 2) absl::StrAppend(&text, " to ", layers[end - 1]);
    i = end - i > 2 ? end : i + 1;
  }
  return text;
}

}  // namespace posenc
