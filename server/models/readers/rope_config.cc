#include "server/models/readers/rope_config.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/core/shortest_decimal.h"
#include "server/models/config/config_json.h"
#include "server/models/config/config_keys.h"
#include "server/models/readers/rope_indexer.h"
#include "server/models/readers/rope_widths.h"
#include "server/models/rotary/rope_axes_config.h"
#include "server/models/rotary/rope_layers.h"
#include "server/models/rotary/rope_scaling_config.h"
#include "server/models/runtimes/runtime_rules.h"

namespace posenc {
namespace {

// Reads one table. Each step returns a value that later steps may use; what is wrong goes to the reading.
class RopeTableReader {
 public:
  RopeTableReader(const ModelScope& scope, const Layer& layer, Reading& reading)
      : scope_(scope), layer_(layer), reading_(reading),
        rope_{scope, layer, reading, TableDraft(layer.name, Pairing::kNone, layer.applies_to)} {
    rope_.draft.table().layers = layer.layers;
  }

  void Read() &&;

 private:
  Found<Pairing> ReadPairing();
  Found<double> Base();
  std::optional<Found<double>> WrittenBase();
  Found<double> DefaultBase() const;
  void ApplyBaseRatio(Found<double>& base);
  void LengthenContext();
  void SetEffectiveLength();
  void SetWindow();
  KeyNames BaseKeys() const;

  const ModelFamily& family() const { return *scope_.family; }
  const ConfigObject& object() const { return scope_.object; }
  Violations& bad() { return reading_.bad; }

  const ModelScope& scope_;
  const Layer& layer_;
  Reading& reading_;
  RopeDraft rope_;
};

void RopeTableReader::Read() && {
  RopeSpec& spec = rope_.spec;
  TableDraft& draft = rope_.draft;
  draft.Take(ReadPairing());
  spec.head_dim = draft.Take("rope.head_dim", ReadHeadDim(scope_, layer_, reading_));
  spec.rotary_dim = draft.Take("rope.rotary_dim", ReadRotaryDim(scope_, layer_, spec.head_dim, reading_));
  spec.max_len = draft.Take("rope.max_len", scope_.MaxLenOr(RopeSpec().max_len, bad()));
  spec.base = draft.Take("rope.base", Base());
  if (!family().long_context_key.empty()) LengthenContext();
  SetEffectiveLength();
  SetWindow();
  ReadRopeScaling(rope_);
  ReadRopeAxes(rope_);
  if (!bad().empty()) return;
  ApplyRuntimeRules(rope_);
  const RopeDraft attention = rope_;
  FinishRope(std::move(rope_));
  if (bad().empty()) FinishIndexer(attention);
}

// NTK by alpha 8, which Zamba2's class builds into the base, and a length of its own.
void RopeTableReader::LengthenContext() {
  constexpr double kAlpha = 8;
  constexpr int64_t kLength = 16384;
  const auto flag = object().Flag(family().long_context_key, bad());
  if (!flag || !flag->value || rope_.spec.head_dim <= 2) return;
  const auto width = static_cast<double>(rope_.spec.head_dim);
  rope_.spec.base *= std::pow(kAlpha, width / (width - 2));
  rope_.spec.max_len = kLength;
  const std::string source = absl::StrCat(flag->source, " (", family().class_name, ")");
  rope_.draft.Rule("rope.base", ShortestDecimal(rope_.spec.base), absl::StrCat("rope_theta * 8^(d / (d - 2)), ", source));
  rope_.draft.Rule("rope.max_len", absl::StrCat(kLength), source);
}

void RopeTableReader::SetEffectiveLength() {
  if (!scope_.effective_length) return;
  rope_.spec.effective_length = scope_.effective_length;
  rope_.draft.Rule("rope.effective_length", absl::StrCat(*scope_.effective_length), "the request");
}

void RopeTableReader::SetWindow() {
  const RopeSpec& spec = rope_.spec;
  if (family().trailing && spec.rotary_dim > 0 && spec.rotary_dim < spec.head_dim) {
    rope_.draft.table().rotary_begin = spec.head_dim - spec.rotary_dim;
  }
}

Found<Pairing> RopeTableReader::ReadPairing() {
  constexpr absl::string_view kGeneric = "rope_interleave";
  const absl::string_view key = scope_.known ? family().interleaved_key : kGeneric;
  const auto flag = key.empty() ? std::nullopt : object().Flag(key, bad());
  if (flag) {
    return {flag->value ? Pairing::kInterleaved : Pairing::kHalfSplit, flag->path, flag->source, false};
  }
  if (!scope_.known) return {Pairing::kHalfSplit, object().PathOf(kGeneric), scope_.DefaultSource(), true, true};
  if (family().mla && !UsesMla(scope_)) {
    return {Pairing::kHalfSplit, "pairing", "rotation of ordinary attention (use_mla is false)", true};
  }
  return {family().pairing, "pairing", absl::StrCat("rotation of ", family().class_name), true};
}

Found<double> RopeTableReader::Base() {
  if (layer_.base) return *layer_.base;
  Found<double> base = WrittenBase().value_or(DefaultBase());
  if (!family().base_ratio_key.empty()) ApplyBaseRatio(base);
  return base;
}

// The block's base beats the one beside it, as transformers v5 has it.
std::optional<Found<double>> RopeTableReader::WrittenBase() {
  const KeyNames keys = BaseKeys();
  std::optional<Found<double>> at_top = object().Number(keys, bad());
  if (!at_top && !family().base_parent_key.empty()) {
    at_top = object().Child(family().base_parent_key, bad()).Number(keys, bad());
  }
  const std::optional<Found<double>> in_block = layer_.block.Number("rope_theta", bad());
  if (!in_block) return at_top;
  if (at_top && at_top->value != in_block->value) {
    reading_.Note(absl::StrCat(in_block->path, " ", ShortestDecimal(in_block->value),
                                          " is used, not ", at_top->path, " ",
                                          ShortestDecimal(at_top->value)));
  }
  return in_block;
}

Found<double> RopeTableReader::DefaultBase() const {
  const bool own_base = layer_.sliding && family().layers.sliding_base != 0;
  return scope_.Default(own_base ? family().layers.sliding_base : family().base, BaseKeys().front());
}

void RopeTableReader::ApplyBaseRatio(Found<double>& base) {
  const auto ratio = object().Number(family().base_ratio_key, bad());
  if (!ratio) return;
  base.value *= ratio->value;
  base.source = absl::StrCat(base.source, " * ", ratio->source);
  base.path = ratio->path;
  base.defaulted = false;
}

// The keys that may say the base of this layer.
KeyNames RopeTableReader::BaseKeys() const {
  const LayerRule& rule = family().layers;
  const absl::string_view& own = layer_.sliding ? rule.sliding_base_key : rule.full_base_key;
  if (!own.empty()) return KeyNames(&own, 1);
  const bool has_own = rule.sliding_base != 0 || !scope_.known;
  return KeysOf(layer_.sliding && has_own ? ConfigKey::kSlidingBase : ConfigKey::kBase);
}

// Where the family or the file has a switch, and it is off, nothing rotates.
bool IsSwitchedOff(const ModelScope& scope, Reading& reading) {
  const auto off = [&](absl::string_view key, bool value) {
    reading.Note(absl::StrCat(scope.object.PathOf(key), " is ", value ? "true" : "false",
                              ": the model does not rotate and has no positional table"));
    return true;
  };
  const ModelFamily& family = *scope.family;
  if (!family.rope_switch.empty()) {
    const auto flag = scope.object.Flag(family.rope_switch, reading.bad);
    if (flag ? flag->value : family.switched_on) return false;
    if (flag) return off(family.rope_switch, false);
    reading.Note(absl::StrCat(scope.object.PathOf(family.rope_switch), " is absent, which ", family.class_name,
                              " takes for false: the model does not rotate and has no positional table"));
    return true;
  }
  if (scope.known) return false;
  for (const RotationSwitch& one : RotationSwitches()) {
    const Json* value = scope.object.Find(one.key);
    if (value != nullptr && value->is_boolean() && value->get<bool>() == one.off) return off(one.key, one.off);
  }
  return false;
}

// Layers of an unknown family that differ in kind are taken to rotate alike where no key says otherwise.
void NoteAlike(const LayerPlan& plan, Reading& reading) {
  std::set<std::string> kinds;
  for (const PlannedLayer& layer : plan.layers) {
    if (layer.rotates) kinds.insert(PathPart(layer.kind));
  }
  if (kinds.size() < 2) return;
  reading.Note(absl::StrCat("layers of the kinds ", absl::StrJoin(kinds, ", "), " (", plan.kinds_source,
                            ") are assumed to rotate alike"));
}

// Names the layers that have none of the tables.
void NoteLayersWithout(const ModelScope& scope, const LayerPlan& plan, const std::vector<Layer>& tables,
                       Reading& reading) {
  std::vector<bool> served(plan.layers.size(), false);
  for (const Layer& table : tables) {
    // Where a table's layers are not known, nothing is known of the others.
    if (table.layers.empty() && !plan.layers.empty() && plan.kinds_source.empty()) return;
    for (const int64_t layer : table.layers) {
      if (static_cast<size_t>(layer) < served.size()) served[layer] = true;
    }
  }
  if (!scope.known && tables.size() == 1) NoteAlike(plan, reading);
  std::vector<int64_t> without;
  for (size_t i = 0; i < served.size(); ++i) {
    if (!served[i]) without.push_back(static_cast<int64_t>(i));
  }
  if (without.empty()) return;
  const std::string source = plan.rotation_source.empty() ? plan.kinds_source : plan.rotation_source;
  if (without.size() == plan.layers.size() && tables.empty()) {
    reading.Note(absl::StrCat("no layer rotates (", source, "): the model has no positional table"));
    return;
  }
  reading.Note(absl::StrCat("layers without a table: ", LayersText(without), " of ", plan.layers.size(),
                            source.empty() ? "" : absl::StrCat(" (", source, ")"),
                            scope.known ? "" : "; assumed for an unknown model_type"));
  reading.layers_without_table = std::move(without);
}

// Olmo Hybrid rotates only where its file has a base.
bool LacksItsBase(const ModelScope& scope, Reading& reading) {
  if (!scope.family->needs_base) return false;
  const KeyNames keys = KeysOf(ConfigKey::kBase);
  const auto has_base = [&](const ConfigObject& object) {
    return std::any_of(keys.begin(), keys.end(), [&](auto key) { return object.Find(key) != nullptr; });
  };
  const bool written = has_base(scope.object) || has_base(scope.object.Child("rope_parameters", reading.bad)) ||
                       has_base(scope.object.Child("rope_scaling", reading.bad));
  if (written) return false;
  reading.Note(absl::StrCat(scope.object.PathOf("rope_parameters.rope_theta"), " is absent, without which ",
                            scope.family->class_name, " does not rotate: the model has no positional table"));
  return true;
}

}  // namespace

void ReadRopeTables(const ModelScope& scope, Reading& reading) {
  if (IsSwitchedOff(scope, reading) || LacksItsBase(scope, reading)) return;
  const LayerPlan plan = PlanOf(scope);
  const std::vector<Layer> layers = LayersOf(scope, plan, reading);
  for (const Layer& layer : layers) {
    // The tables share the model's keys: what is wrong with one would be said again for the next.
    if (!reading.bad.empty()) return;
    RopeTableReader(scope, layer, reading).Read();
  }
  NoteLayersWithout(scope, plan, layers, reading);
}

}  // namespace posenc
