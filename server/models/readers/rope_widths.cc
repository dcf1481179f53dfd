#include "server/models/readers/rope_widths.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/core/shortest_decimal.h"
#include "server/models/config/config_keys.h"

namespace posenc {
namespace {

constexpr absl::string_view kMlaWidth = "qk_rope_head_dim";

class WidthReader {
 public:
  WidthReader(const ModelScope& scope, const Layer& layer, Reading& reading)
      : scope_(scope), layer_(layer), reading_(reading) {}

  Found<int64_t> HeadDim();
  Found<int64_t> RotaryDim(int64_t head_dim);

 private:
  std::optional<Found<int64_t>> WrittenHeadDim();
  std::optional<Found<int64_t>> OtherHeadDim();
  Found<int64_t> Quotient();
  std::optional<Found<double>> WrittenFraction();
  Found<double> Fraction(const std::optional<Found<double>>& written);
  bool IsProportional();
  void NoteOtherSpelling(const Found<int64_t>& used, int64_t head_dim);

  const ModelFamily& family() const { return *scope_.family; }
  const ConfigObject& object() const { return scope_.object; }
  Violations& bad() { return reading_.bad; }

  const ModelScope& scope_;
  const Layer& layer_;
  Reading& reading_;
};

Found<int64_t> WidthReader::HeadDim() {
  const std::optional<Found<int64_t>> written = WrittenHeadDim();
  if (written) return *written;
  const absl::string_view key = UsesMla(scope_) ? kMlaWidth : "head_dim";
  // A null is what a class writes that wants the quotient; it is not the class's own default.
  const bool usual = family().head_dim != 0 && UsesMla(scope_) == family().mla;
  if (usual && !object().SaysNull(key)) return scope_.Default(family().head_dim, key);
  return Quotient();
}

std::optional<Found<int64_t>> WidthReader::WrittenHeadDim() {
  const LayerRule& rule = family().layers;
  if (!rule.full_head_dim_key.empty() && layer_.name == rule.full_name) {
    const auto full = object().Integer(rule.full_head_dim_key, bad());
    return full ? full : scope_.Default(rule.full_head_dim, rule.full_head_dim_key);
  }
  // Layers with other numbers of heads divide the width among those.
  const bool own_heads = layer_.sliding && !rule.sliding_heads_key.empty() && object().IsTruthy(rule.sliding_heads_key);
  if (own_heads) return std::nullopt;
  const absl::string_view own = scope_.known ? rule.sliding_head_dim_key : "swa_head_dim";
  if (layer_.sliding && !own.empty()) {
    if (const auto sliding = object().Integer(own, bad())) return sliding;
  }
  // An unknown model with a key of multi-head latent attention rotates that slice.
  if (UsesMla(scope_)) {
    const auto slice = object().Integer(KeysOf(ConfigKey::kMlaHeadDim), bad());
    if (slice || family().mla) return slice;
  }
  if (!family().head_dim_key.empty()) {
    if (const auto named = object().Integer(family().head_dim_key, bad())) return named;
  }
  const auto written = object().Integer(KeysOf(ConfigKey::kHeadDim), bad());
  return written || scope_.known ? written : OtherHeadDim();
}

// Spellings that few families have. One that differs from the usual quotient is told.
std::optional<Found<int64_t>> WidthReader::OtherHeadDim() {
  const auto other = object().Integer(KeysOf(ConfigKey::kOtherHeadDim), bad());
  if (!other) return other;
  Violations unused;
  const auto hidden = object().Integer(KeysOf(ConfigKey::kHiddenSize), unused);
  const auto heads = object().Integer(KeysOf(ConfigKey::kHeads), unused);
  const bool differs = hidden && heads && heads->value > 0 && hidden->value / heads->value != other->value;
  if (differs) {
    reading_.Note(absl::StrCat(other->path, " ", other->value, " is taken as the head's width, though ", hidden->path,
                               " / ", heads->path, " is ", hidden->value / heads->value));
  }
  return other;
}

Found<int64_t> WidthReader::Quotient() {
  const auto hidden = scope_.IntegerOr(ConfigKey::kHiddenSize, family().hidden_size, bad());
  auto heads = scope_.IntegerOr(ConfigKey::kHeads, family().heads, bad());
  if (layer_.sliding && !family().layers.sliding_heads_key.empty()) {
    if (const auto own = object().Integer(family().layers.sliding_heads_key, bad())) heads = own;
  }
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
    if (family().wide_heads) {
      head_dim.value *= 2;
      head_dim.source = absl::StrCat("2 * ", head_dim.source);
    }
  }
  return head_dim;
}

// A width of 0 would mean the whole head in a spec; in a file it is a mistake.
Found<int64_t> WidthReader::RotaryDim(int64_t head_dim) {
  // The exponent's denominator is the whole width there, and the fraction a part of the scaling.
  if (IsProportional()) return {head_dim, object().PathOf("head_dim"), "head_dim (proportional)", true};
  if (const auto written = object().Integer(family().rotary_key, bad())) {
    if (written->value == 0) bad().Add(written->path, 0, "an even number from 2 to the head's width");
    NoteOtherSpelling(*written, head_dim);
    return *written;
  }
  const std::optional<Found<double>> share = WrittenFraction();
  if (family().rotary_dim != 0 && (!share || !layer_.fraction)) {
    const Found<int64_t> usual = scope_.Default(family().rotary_dim, family().rotary_key);
    NoteOtherSpelling(usual, head_dim);
    return usual;
  }
  const Found<double> fraction = Fraction(share);
  if (!(fraction.value > 0 && fraction.value <= 1)) {
    bad().Add(fraction.path, ShortestDecimal(fraction.value), "more than 0, at most 1");
    return {head_dim, fraction.path, fraction.source, false};
  }
  const auto rotary_dim = static_cast<int64_t>(static_cast<double>(head_dim) * fraction.value);
  if (rotary_dim == 0 && head_dim > 0) {
    bad().Add(fraction.path, ShortestDecimal(fraction.value),
              absl::StrCat("enough of head_dim, ", head_dim, ", for one pair"));
  }
  return {rotary_dim, fraction.path,
          absl::StrCat("head_dim * ", ShortestDecimal(fraction.value), " (", fraction.source, ")"),
          fraction.defaulted, fraction.assumed};
}

bool WidthReader::IsProportional() {
  auto type = layer_.block.Text("rope_type", bad());
  if (!type) type = layer_.block.Text("type", bad());
  return type && type->value == "proportional";
}

std::optional<Found<double>> WidthReader::WrittenFraction() {
  if (layer_.fraction) return layer_.fraction;
  const KeyNames keys = KeysOf(ConfigKey::kRotaryFraction);
  const auto in_block = layer_.block.Number(keys, bad());
  return in_block ? in_block : object().Number(keys, bad());
}

Found<double> WidthReader::Fraction(const std::optional<Found<double>>& written) {
  if (!written) {
    return scope_.Default(family().rotary_fraction, KeysOf(ConfigKey::kRotaryFraction).front());
  }
  if (scope_.known && !layer_.fraction && !layer_.nested && written->value != 1 && family().rotary_fraction == 1 &&
      !family().reads_fraction) {
    reading_.Note(absl::StrCat(written->path, " ", ShortestDecimal(written->value),
                               " is used; transformers 5 reads it "
                               "with scaled rotation only in classes that rotate the whole head"));
  }
  return *written;
}

void WidthReader::NoteOtherSpelling(const Found<int64_t>& used, int64_t head_dim) {
  const std::optional<Found<double>> share = WrittenFraction();
  if (!share || !(share->value > 0 && share->value <= 1)) return;
  const auto other = static_cast<int64_t>(static_cast<double>(head_dim) * share->value);
  if (other == used.value) return;
  reading_.Note(absl::StrCat(used.path, " ", used.value, " is used, not ", share->path, " ",
                             ShortestDecimal(share->value), ", which is ", other, " of ", head_dim, " channels"));
}

}  // namespace

bool UsesMla(const ModelScope& scope) {
  if (!scope.family->mla && scope.known) return false;
  const Json* flag = scope.object.Find("use_mla");
  if (flag != nullptr && flag->is_boolean() && !flag->get<bool>()) return false;
  if (scope.known) return true;
  const KeyNames slices = KeysOf(ConfigKey::kMlaHeadDim);
  return std::any_of(slices.begin(), slices.end(), [&](auto key) { return scope.object.IsTruthy(key); });
}

Found<int64_t> ReadHeadDim(const ModelScope& scope, const Layer& layer, Reading& reading) {
  return WidthReader(scope, layer, reading).HeadDim();
}

Found<int64_t> ReadRotaryDim(const ModelScope& scope, const Layer& layer, int64_t head_dim, Reading& reading) {
  return WidthReader(scope, layer, reading).RotaryDim(head_dim);
}

}  // namespace posenc
