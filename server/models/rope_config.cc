#include "server/models/rope_config.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/models/rope_scaling_config.h"

namespace posenc {
namespace {

constexpr absl::string_view kFullAttention = "full_attention";
constexpr absl::string_view kSlidingAttention = "sliding_attention";

// Names of layer types that a block may be split by, besides those in the file's own layer_types.
constexpr std::array<absl::string_view, 6> kLayerTypes = {
    kFullAttention, kSlidingAttention, "chunked_attention", "linear_attention", "main", "compress"};

// Real models have two or three. More keys than this are not a split by layer type.
constexpr size_t kMaxLayerTypes = 16;

// One table to read: its name, its part of the parameters, and whether it is for sliding layers.
struct Layer {
  std::string name;
  ConfigObject block;
  bool sliding = false;
};

// Reads one table. Each step returns a value that later steps may use; what is wrong goes to the reading.
class RopeTableReader {
 public:
  RopeTableReader(const ModelScope& scope, const Layer& layer, Reading& reading)
      : scope_(scope), layer_(layer), reading_(reading), draft_(layer.name, ReadPairing()) {}

  void Read() &&;

 private:
  Pairing ReadPairing() const;
  Found<int64_t> HeadDim();
  std::optional<Found<int64_t>> WrittenHeadDim();
  Found<int64_t> QuotientHeadDim();
  Found<int64_t> RotaryDim(int64_t head_dim);
  Found<double> RotaryFraction();
  Found<double> Base();
  std::optional<Found<double>> WrittenBase();
  Found<double> DefaultBase() const;
  void ApplyBaseRatio(Found<double>& base);
  Found<int64_t> MaxLen();
  absl::string_view DefaultScaling() const;

  const ModelFamily& family() const { return *scope_.family; }
  const ConfigObject& object() const { return scope_.object; }
  Violations& bad() { return reading_.bad; }

  const ModelScope& scope_;
  const Layer& layer_;
  Reading& reading_;
  TableDraft draft_;
};

void RopeTableReader::Read() && {
  RopeSpec spec;
  spec.head_dim = draft_.Take("rope.head_dim", HeadDim());
  spec.rotary_dim = draft_.Take("rope.rotary_dim", RotaryDim(spec.head_dim));
  spec.max_len = draft_.Take("rope.max_len", MaxLen());
  spec.base = draft_.Take("rope.base", Base());
  spec.scaling = ReadRopeScaling(scope_, layer_.block, DefaultScaling(), draft_, reading_);
  std::move(draft_).Finish(spec, reading_);
}

Pairing RopeTableReader::ReadPairing() const {
  if (family().interleaved_key.empty()) return family().pairing;
  const std::optional<Found<bool>> flag = object().Flag(family().interleaved_key, reading_.bad);
  if (!flag) return family().pairing;
  return flag->value ? Pairing::kInterleaved : Pairing::kHalfSplit;
}

Found<int64_t> RopeTableReader::HeadDim() {
  const std::optional<Found<int64_t>> written = WrittenHeadDim();
  if (written) return *written;
  const absl::string_view key = family().mla ? "qk_rope_head_dim" : "head_dim";
  // A null is what a class writes that wants the quotient; it is not the class's own default.
  if (family().head_dim != 0 && !object().SaysNull(key)) return scope_.Default(family().head_dim, key);
  return QuotientHeadDim();
}

std::optional<Found<int64_t>> RopeTableReader::WrittenHeadDim() {
  if (!family().full_head_dim_key.empty() && layer_.name == kFullAttention) {
    const auto full = object().Integer(family().full_head_dim_key, bad());
    return full ? full : scope_.Default(family().full_head_dim, family().full_head_dim_key);
  }
  // An unknown model with a key of multi-head latent attention rotates that slice.
  if (family().mla || !scope_.known) {
    const auto slice = object().Integer(KeysOf(ConfigKey::kMlaHeadDim), bad());
    if (slice || family().mla) return slice;
  }
  return object().Integer(KeysOf(ConfigKey::kHeadDim), bad());
}

Found<int64_t> RopeTableReader::QuotientHeadDim() {
  const auto hidden = scope_.IntegerOr(ConfigKey::kHiddenSize, family().hidden_size, bad());
  const auto heads = scope_.IntegerOr(ConfigKey::kHeads, family().heads, bad());
  Found<int64_t> head_dim = {2, object().PathOf("head_dim"), "", true};
  if (!hidden || !heads) {
    const absl::string_view missing = hidden ? "num_attention_heads" : "hidden_size";
    if (bad().empty()) {
      bad().AddText(object().PathOf(missing), "is missing; allowed: a whole number, or a head_dim");
    }
    return head_dim;
  }
  if (heads->value < 1) {
    bad().Add(heads->path, heads->value, "1 and up");
  } else if (hidden->value < 1 || hidden->value % heads->value != 0) {
    bad().Add(hidden->path, hidden->value,
              absl::StrCat("a multiple of ", heads->path, ", ", heads->value, ", or a head_dim"));
  } else {
    head_dim.value = hidden->value / heads->value;
    head_dim.path = hidden->path;
    head_dim.source = absl::StrCat(hidden->source, " / ", heads->source);
  }
  return head_dim;
}

// A width of 0 would mean the whole head in a spec; in a file it is a mistake.
Found<int64_t> RopeTableReader::RotaryDim(int64_t head_dim) {
  if (const auto written = object().Integer("rotary_dim", bad())) {
    if (written->value == 0) bad().Add(written->path, 0, "an even number from 2 to the head's width");
    return *written;
  }
  if (family().rotary_dim != 0) return scope_.Default(family().rotary_dim, "rotary_dim");
  const Found<double> fraction = RotaryFraction();
  if (!(fraction.value > 0 && fraction.value <= 1)) {
    bad().Add(fraction.path, NumberText(fraction.value), "more than 0, at most 1");
    return {head_dim, fraction.path, fraction.source, false};
  }
  const auto rotary_dim = static_cast<int64_t>(static_cast<double>(head_dim) * fraction.value);
  if (rotary_dim == 0 && head_dim > 0) {
    bad().Add(fraction.path, NumberText(fraction.value),
              absl::StrCat("enough of head_dim, ", head_dim, ", for one pair"));
  }
  return {rotary_dim, fraction.path,
          absl::StrCat("head_dim * ", NumberText(fraction.value), " (", fraction.source, ")"),
          fraction.defaulted};
}

Found<double> RopeTableReader::RotaryFraction() {
  const KeyNames keys = KeysOf(ConfigKey::kRotaryFraction);
  if (const auto in_block = layer_.block.Number(keys, bad())) return *in_block;
  if (const auto at_top = object().Number(keys, bad())) return *at_top;
  return scope_.Default(family().rotary_fraction, keys.front());
}

Found<double> RopeTableReader::Base() {
  Found<double> base = WrittenBase().value_or(DefaultBase());
  if (!family().base_ratio_key.empty()) ApplyBaseRatio(base);
  return base;
}

// The block's base beats the one beside it, as transformers v5 has it.
std::optional<Found<double>> RopeTableReader::WrittenBase() {
  const bool own_base = layer_.sliding && family().sliding_base != 0;
  const KeyNames keys = KeysOf(own_base ? ConfigKey::kSlidingBase : ConfigKey::kBase);
  std::optional<Found<double>> at_top = object().Number(keys, bad());
  if (!at_top && !family().base_parent_key.empty()) {
    at_top = object().Child(family().base_parent_key, bad()).Number(keys, bad());
  }
  const std::optional<Found<double>> in_block = layer_.block.Number("rope_theta", bad());
  if (!in_block) return at_top;
  if (at_top && at_top->value != in_block->value) {
    reading_.notes.push_back(absl::StrCat(in_block->path, " ", NumberText(in_block->value),
                                          " is used, not ", at_top->path, " ",
                                          NumberText(at_top->value)));
  }
  return in_block;
}

Found<double> RopeTableReader::DefaultBase() const {
  const bool own_base = layer_.sliding && family().sliding_base != 0;
  const KeyNames keys = KeysOf(own_base ? ConfigKey::kSlidingBase : ConfigKey::kBase);
  return scope_.Default(own_base ? family().sliding_base : family().base, keys.front());
}

void RopeTableReader::ApplyBaseRatio(Found<double>& base) {
  const auto ratio = object().Number(family().base_ratio_key, bad());
  if (!ratio) return;
  base.value *= ratio->value;
  base.source = absl::StrCat(base.source, " * ", ratio->source);
  base.path = ratio->path;
  base.defaulted = false;
}

Found<int64_t> RopeTableReader::MaxLen() {
  const auto found = scope_.IntegerOr(ConfigKey::kMaxLen, family().max_len, bad());
  if (found) return *found;
  const Found<int64_t> own = {RopeSpec().max_len, object().PathOf("max_position_embeddings"),
                              "default of posenc", true};
  return own;
}

absl::string_view RopeTableReader::DefaultScaling() const {
  return layer_.sliding && !family().sliding_scaled ? "" : family().default_scaling;
}

// The block of the file: rope_scaling when it says anything, else rope_parameters.
ConfigObject ParameterBlock(const ModelScope& scope, Reading& reading) {
  const ConfigObject scaling = scope.object.Child("rope_scaling", reading.bad);
  const ConfigObject parameters = scope.object.Child("rope_parameters", reading.bad);
  if (!scaling.empty() && !parameters.empty() && *scaling.json() != *parameters.json()) {
    reading.notes.push_back(
        absl::StrCat(scope.object.PathOf("rope_scaling"), " is used, not rope_parameters"));
  }
  return scaling.empty() && !parameters.empty() ? parameters : scaling;
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

std::vector<Layer> LayersByType(const ConfigObject& block, Reading& reading) {
  std::vector<Layer> layers;
  for (const auto& item : block.json()->items()) {
    if (item.value().is_null()) continue;
    layers.push_back({PathPart(item.key()), block.Child(item.key(), reading.bad),
                      item.key() == kSlidingAttention});
  }
  return layers;
}

std::vector<Layer> LayersOf(const ModelScope& scope, Reading& reading) {
  const ConfigObject block = ParameterBlock(scope, reading);
  if (IsByLayerType(scope, block)) return LayersByType(block, reading);
  if (!scope.family->sliding_table) return {{"main", block}};
  const ConfigObject plain(block.PathOf(kSlidingAttention));
  const ConfigObject& sliding = scope.family->sliding_scaled ? block : plain;
  return {{std::string(kFullAttention), block}, {std::string(kSlidingAttention), sliding, true}};
}

}  // namespace

void ReadRopeTables(const ModelScope& scope, Reading& reading) {
  for (const Layer& layer : LayersOf(scope, reading)) {
    // The tables share the model's keys: what is wrong with one would be said again for the next.
    if (!reading.bad.empty()) return;
    RopeTableReader(scope, layer, reading).Read();
  }
}

}  // namespace posenc
