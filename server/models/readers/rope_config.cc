#include "server/models/readers/rope_config.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/models/config/config_keys.h"
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
        rope_{scope, layer, reading, TableDraft(layer.name, ReadPairing(), layer.applies_to)} {}

  void Read() &&;

 private:
  Pairing ReadPairing() const;
  Found<int64_t> HeadDim();
  std::optional<Found<int64_t>> WrittenHeadDim();
  Found<int64_t> QuotientHeadDim();
  Found<int64_t> RotaryDim(int64_t head_dim);
  Found<double> RotaryFraction();
  bool IsProportional();
  Found<double> Base();
  std::optional<Found<double>> WrittenBase();
  Found<double> DefaultBase() const;
  void ApplyBaseRatio(Found<double>& base);
  Found<int64_t> MaxLen();
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
  spec.head_dim = draft.Take("rope.head_dim", HeadDim());
  spec.rotary_dim = draft.Take("rope.rotary_dim", RotaryDim(spec.head_dim));
  spec.max_len = draft.Take("rope.max_len", MaxLen());
  spec.base = draft.Take("rope.base", Base());
  SetEffectiveLength();
  SetWindow();
  ReadRopeScaling(rope_);
  ReadRopeAxes(rope_);
  if (!bad().empty()) return;
  ApplyRuntimeRules(rope_);
  FinishRope(std::move(rope_));
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
  if (!family().full_head_dim_key.empty() && layer_.name == family().full_name) {
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
  // The exponent's denominator is the whole width there, and the fraction a part of the scaling.
  if (IsProportional()) return {head_dim, object().PathOf("head_dim"), "head_dim (proportional)", true};
  if (const auto written = object().Integer(family().rotary_key, bad())) {
    if (written->value == 0) bad().Add(written->path, 0, "an even number from 2 to the head's width");
    return *written;
  }
  if (family().rotary_dim != 0) return scope_.Default(family().rotary_dim, family().rotary_key);
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

bool RopeTableReader::IsProportional() {
  auto type = layer_.block.Text("rope_type", bad());
  if (!type) type = layer_.block.Text("type", bad());
  return type && type->value == "proportional";
}

Found<double> RopeTableReader::RotaryFraction() {
  const KeyNames keys = KeysOf(ConfigKey::kRotaryFraction);
  std::optional<Found<double>> written = layer_.block.Number(keys, bad());
  if (!written) written = object().Number(keys, bad());
  if (!written) return scope_.Default(family().rotary_fraction, keys.front());
  if (scope_.known && written->value != 1 && family().rotary_fraction == 1) {
    reading_.Note(absl::StrCat(written->path, " ", NumberText(written->value),
                               " is used; transformers 5 reads it "
                               "with scaled rotation only in classes that rotate the whole head"));
  }
  return *written;
}

Found<double> RopeTableReader::Base() {
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
    reading_.Note(absl::StrCat(in_block->path, " ", NumberText(in_block->value),
                                          " is used, not ", at_top->path, " ",
                                          NumberText(at_top->value)));
  }
  return in_block;
}

Found<double> RopeTableReader::DefaultBase() const {
  const bool own_base = layer_.sliding && family().sliding_base != 0;
  return scope_.Default(own_base ? family().sliding_base : family().base, BaseKeys().front());
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
  return scope_.MaxLenOr(RopeSpec().max_len, bad());
}

// The keys that may say the base of this layer.
KeyNames RopeTableReader::BaseKeys() const {
  const absl::string_view& own = layer_.sliding ? family().sliding_base_key : family().full_base_key;
  if (!own.empty()) return KeyNames(&own, 1);
  return KeysOf(layer_.sliding && family().sliding_base != 0 ? ConfigKey::kSlidingBase : ConfigKey::kBase);
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
