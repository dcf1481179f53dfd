#include "server/models/rotary/layer_kinds.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "server/models/rotary/layer_plan.h"

namespace posenc {
namespace {

using Kinds = std::vector<std::string>;

constexpr absl::string_view kCountKeys[] = {"num_hidden_layers", "n_layer", "n_layers", "num_layers",
                                            "num_transformer_layers", "num_decoder_layers"};

bool IsLayerList(const Json* list) {
  return list != nullptr && list->is_array() && !list->empty() &&
         list->size() <= static_cast<size_t>(kMaxLayers);
}

Kinds Texts(const ConfigObject& object, absl::string_view key) {
  const Json* list = object.Find(key);
  Kinds kinds;
  if (!IsLayerList(list)) return kinds;
  for (const Json& kind : *list) {
    if (!kind.is_string()) return {};
    kinds.push_back(kind.get<std::string>());
  }
  return kinds;
}

// A list of numbers, each of which stands for a kind: `zero` for 0, `other` for the rest.
Kinds Numbers(const ConfigObject& object, absl::string_view key, absl::string_view zero,
              absl::string_view other) {
  Kinds kinds;
  for (const bool mark : LayerMarks(object, key)) kinds.emplace_back(mark ? other : zero);
  return kinds;
}

// A list of the indices, counted from `first`, of layers of one kind; the others are of another.
Kinds Indices(const ConfigObject& object, absl::string_view key, int64_t count, int64_t first,
              absl::string_view listed, absl::string_view others) {
  const Json* list = object.Find(key);
  if (!IsLayerList(list) || count == 0) return {};
  Kinds kinds(count, std::string(others));
  for (const Json& entry : *list) {
    if (!entry.is_number()) return {};
    const double index = entry.get<double>() - static_cast<double>(first);
    if (!(index >= 0 && index < static_cast<double>(count))) continue;
    kinds[static_cast<size_t>(index)] = std::string(listed);
  }
  return kinds;
}

// A text with a letter for each layer; an unknown letter makes it no such text.
struct Letter {
  char letter;
  absl::string_view kind;
};
constexpr Letter kNemotronLetters[] = {
    {'M', "mamba"}, {'*', kFullAttention}, {'-', "mlp"}, {'E', "moe"}};
constexpr Letter kWindowLetters[] = {{'L', kSlidingAttention}, {'G', kFullAttention}};

Kinds Letters(const ConfigObject& object, absl::string_view key, std::span<const Letter> letters) {
  const Json* text = object.Find(key);
  if (text == nullptr || !text->is_string()) return {};
  Kinds kinds;
  for (const char c : text->get_ref<const std::string&>()) {
    const auto found = std::find_if(letters.begin(), letters.end(), [&](const Letter& l) { return l.letter == c; });
    if (found == letters.end() || kinds.size() == static_cast<size_t>(kMaxLayers)) return {};
    kinds.emplace_back(found->kind);
  }
  return kinds;
}

// One layer in `period` has full attention, in the way of `pattern`.
Kinds Periodic(int64_t period, int64_t count, const LayerPattern& pattern) {
  Kinds kinds;
  for (int64_t i = 0; i < count && period > 0; ++i) {
    const int64_t place = pattern.full_first ? i
                          : pattern.from_end ? count - 1 - i
                          : pattern.half_way ? i + period - period / 2
                                             : i + 1;
    const bool also = (pattern.and_first && i == 0) || (pattern.and_last && i == count - 1);
    kinds.emplace_back(place % period == 0 || also ? kFullAttention : pattern.others);
  }
  return kinds;
}

// The list that the class has of its own, of layers with attention.
Kinds ClassList(const LayerRule& rule, int64_t count) {
  Kinds kinds(count, std::string(rule.pattern.others));
  for (const int64_t layer : rule.attention) {
    if (layer < count) kinds[static_cast<size_t>(layer)] = std::string(kFullAttention);
  }
  return kinds;
}

// Blocks whose attention may be left out (Nemotron NAS).
Kinds NoOps(const ConfigObject& object) {
  const Json* list = object.Find("block_configs");
  Kinds kinds;
  if (!IsLayerList(list)) return kinds;
  for (const Json& block : *list) {
    const auto attention = block.is_object() ? block.find("attention") : block.end();
    const bool known = block.is_object() && attention != block.end() && attention->is_object();
    const bool no_op = known && attention->contains("no_op") && attention->at("no_op") == Json(true);
    kinds.emplace_back(no_op ? "no_op" : kFullAttention);
  }
  return kinds;
}

// The keys that tell kinds, the surest first.
LayerKinds WrittenKinds(const ConfigObject& object, int64_t count) {
  const auto linear = [&] {
    const Json* inner = object.Find("linear_attn_config");
    if (inner == nullptr || !inner->is_object()) return Kinds();
    return Indices(object.At(*inner, object.PathOf("linear_attn_config")), "full_attn_layers", count, 1,
                   kFullAttention, kLinearAttention);
  };
  const std::pair<absl::string_view, Kinds> kWritten[] = {
      {"layer_types", Texts(object, "layer_types")},
      {"layers_block_type", Texts(object, "layers_block_type")},
      {"block_types", Texts(object, "block_types")},
      {"block_configs", NoOps(object)},
      {"hybrid_layer_pattern", Numbers(object, "hybrid_layer_pattern", kFullAttention, kSlidingAttention)},
      {"sliding_window_layout", Numbers(object, "sliding_window_layout", kFullAttention, kSlidingAttention)},
      {"attn_type_list", Numbers(object, "attn_type_list", kLinearAttention, kFullAttention)},
      {"compress_ratios", Numbers(object, "compress_ratios", kSlidingAttention, "compressed_attention")},
      {"full_attn_idxs", Indices(object, "full_attn_idxs", count, 0, kFullAttention, "conv")},
      {"attn_layer_indices", Indices(object, "attn_layer_indices", count, 0, kFullAttention, "mamba")},
      {"hybrid_layer_ids", Indices(object, "hybrid_layer_ids", count, 0, "hybrid", "mamba")},
      {"sliding_window_layers",
       Indices(object, "sliding_window_layers", count, 0, kSlidingAttention, kFullAttention)},
      {"hybrid_override_pattern", Letters(object, "hybrid_override_pattern", kNemotronLetters)},
      {"sliding_window_pattern", Letters(object, "sliding_window_pattern", kWindowLetters)},
      {"linear_attn_config.full_attn_layers", linear()},
      {"full_attention_interval",
       Periodic(Period(object, "full_attention_interval"), count, {.others = kLinearAttention})},
  };
  for (const auto& [key, kinds] : kWritten) {
    if (!kinds.empty()) return {kinds, object.PathOf(key)};
  }
  return {};
}

}  // namespace

int64_t LayerCount(const ConfigObject& object) {
  for (const absl::string_view key : kCountKeys) {
    const int64_t count = Period(object, key);
    if (count > 0) return count;
  }
  return 0;
}

std::vector<bool> LayerMarks(const ConfigObject& object, absl::string_view key) {
  const Json* list = object.Find(key);
  std::vector<bool> marks;
  if (!IsLayerList(list)) return marks;
  for (const Json& mark : *list) {
    if (!mark.is_number() && !mark.is_boolean()) return {};
    marks.push_back(mark.is_boolean() ? mark.get<bool>() : mark.get<double>() != 0);
  }
  return marks;
}

int64_t Period(const ConfigObject& object, absl::string_view key) {
  const Json* value = object.Find(key);
  if (value == nullptr || !value->is_number()) return 0;
  const double period = value->get<double>();
  const bool counts = period >= 1 && period <= static_cast<double>(kMaxLayers) && period == std::trunc(period);
  return counts ? static_cast<int64_t>(period) : 0;
}

LayerKinds ReadLayerKinds(const ModelScope& scope, int64_t count) {
  LayerKinds found = WrittenKinds(scope.object, count);
  const LayerPattern& pattern = scope.family->layers.pattern;
  const Json* on = pattern.switch_key.empty() ? nullptr : scope.object.Find(pattern.switch_key);
  if (on != nullptr && *on == Json(false)) return {};
  if (found.kinds.empty()) {
    const std::string key(pattern.period_key.empty() ? "sliding_window_pattern" : pattern.period_key);
    const int64_t written = Period(scope.object, key);
    const bool usable = written > 1 || (written == 1 && pattern.period > 0);
    found = {Periodic(usable ? written : pattern.period, count, pattern),
             usable ? scope.object.PathOf(key) : scope.DefaultSource()};
    if (!usable && !scope.family->layers.attention.empty()) found.kinds = ClassList(scope.family->layers, count);
  }
  if (found.kinds.empty()) return {};
  const size_t shown = found.kinds.size();
  if (count > 0) found.kinds.resize(count);
  for (size_t i = shown; i < found.kinds.size(); ++i) found.kinds[i] = found.kinds[i % shown];
  return found;
}

}  // namespace posenc
