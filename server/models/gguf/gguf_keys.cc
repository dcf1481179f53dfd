#include "server/models/gguf/gguf_keys.h"
#include "server/core/shortest_decimal.h"

#include <algorithm>
#include <cmath>

namespace posenc {
namespace {

int64_t OriginalLength(const GgufKeys& keys, absl::string_view field, RopeDraft& rope) {
  const auto written = keys.Integer("rope.scaling.original_context_length");
  const std::string longest = keys.Key("context_length");
  return rope.draft.Take(field, written.value_or(Found<int64_t>{rope.spec.max_len, longest, longest, true}));
}

// A divisor of 10^30 is how converters say that a pair does not rotate (Gemma 4).
ExplicitFrequencies WithStoppedPairs(const RopeSpec& spec, const std::vector<double>& divisors) {
  ExplicitFrequencies given;
  const auto width = static_cast<double>(spec.rotary_dim);
  for (size_t i = 0; i < divisors.size(); ++i) {
    const double plain = std::pow(spec.base, -2.0 * static_cast<double>(i) / width);
    given.inverse_frequencies.push_back(divisors[i] > limits::kMaxFactor ? 0.0 : plain / divisors[i]);
  }
  return given;
}

// Reads rope_freqs.weight, which counts whatever the type says; `factor` is that of linear scaling.
bool ReadDivisors(const GgufKeys& keys, double factor, RopeDraft& rope) {
  std::vector<double> divisors = keys.Values("rope_freqs.weight");
  if (divisors.empty()) return false;
  rope.draft.Rule("rope.divisors.divisors", absl::StrCat(divisors.size(), " numbers"), "rope_freqs.weight");
  for (double& divisor : divisors) divisor *= factor;
  const bool stops =
      std::any_of(divisors.begin(), divisors.end(), [](double d) { return d > limits::kMaxFactor; });
  if (stops) {
    rope.reading.Note("pairs with a divisor above 10^9 do not rotate: their frequency is 0");
    rope.spec.scaling = WithStoppedPairs(rope.spec, divisors);
  } else {
    rope.spec.scaling = FrequencyDivisors{std::move(divisors)};
  }
  return true;
}

// Reads the two lists of longrope, which count whatever the type says.
bool ReadLists(const GgufKeys& keys, RopeDraft& rope) {
  LongRopeScaling lists;
  lists.short_factor = keys.Values("rope_factors_short.weight");
  lists.long_factor = keys.Values("rope_factors_long.weight");
  if (lists.short_factor.empty() || lists.long_factor.empty()) return false;
  rope.draft.Rule("rope.longrope.short_factor", "a list", "rope_factors_short.weight");
  rope.draft.Rule("rope.longrope.long_factor", "a list", "rope_factors_long.weight");
  lists.original_max_len = OriginalLength(keys, "rope.longrope.original_max_len", rope);
  constexpr absl::string_view kMagnitude = "rope.scaling.attn_factor";
  rope.spec.attention_factor = rope.draft.Take(
      "rope.attention_factor", keys.Number(kMagnitude).value_or(keys.Default(1.0, kMagnitude)));
  rope.spec.scaling = std::move(lists);
  rope.reading.Note("llama.cpp takes the long list for a whole context of more than the trained length, for "
                    "short sequences in it too; effective_length is that context");
  return true;
}

// llama.cpp multiplies by 0.1·ln(s) + 1 inside its operator, and its context makes of it what the keys say.
void ReadYarn(const GgufKeys& keys, bool deepseek, double factor, RopeDraft& rope) {
  YarnScaling yarn;
  const auto take = [&](absl::string_view name, absl::string_view field, double& member) {
    member = rope.draft.Take(field, keys.Number(name).value_or(keys.Default(member, name)));
  };
  yarn.factor = factor;
  yarn.original_max_len = OriginalLength(keys, "rope.yarn.original_max_len", rope);
  take("rope.scaling.yarn_beta_fast", "rope.yarn.beta_fast", yarn.beta_fast);
  take("rope.scaling.yarn_beta_slow", "rope.yarn.beta_slow", yarn.beta_slow);
  take("rope.scaling.yarn_ext_factor", "rope.yarn.extrapolation_factor", yarn.extrapolation_factor);
  double magnitude = 1.0;
  take("rope.scaling.attn_factor", "rope.attention_factor", magnitude);
  take("rope.scaling.yarn_attn_factor", "rope.attention_factor (yarn)", magnitude);
  const auto logarithm = keys.Number("rope.scaling.yarn_log_multiplier");
  if (logarithm) {
    // Converters store a tenth of mscale_all_dim.
    const double all = YarnMagnitude(factor, logarithm->value * 10);
    magnitude *= deepseek ? 1.0 : YarnMagnitude(factor, 1) / all;
    if (deepseek) {
      rope.draft.table().softmax_scale = all * all;
      rope.draft.Rule("softmax_scale", ShortestDecimal(all * all), "(yarn_log_multiplier * ln(factor) + 1)^2");
    }
  } else if (yarn.extrapolation_factor != 0) {
    magnitude *= YarnMagnitude(factor, 1);
  }
  rope.spec.scaling = yarn;
  // The formula's own value is left to the formula, so that one table has one spec.
  constexpr double kSame = 1e-14;
  const double implied = MagnitudeOf(rope.spec);
  if (std::abs(magnitude - implied) > kSame * implied) rope.spec.attention_factor = magnitude;
}

}  // namespace

std::optional<Found<int64_t>> GgufKeys::Integer(absl::string_view name) const {
  const std::string key = Key(name);
  const Json* value = metadata_.Find(key);
  if (value == nullptr || !value->is_array()) return metadata_.Integer(key, reading_.bad);
  const auto list = metadata_.Integers(key, reading_.bad);
  if (!list || list->value.empty()) return std::nullopt;
  const int64_t largest = *std::max_element(list->value.begin(), list->value.end());
  return Found<int64_t>{largest, list->path, absl::StrCat(list->source, " (largest of its layers)"), false};
}

std::vector<double> GgufKeys::Values(absl::string_view tensor) const {
  const auto values = tensors_.Child(tensor, reading_.bad).Numbers("values", reading_.bad);
  return values ? values->value : std::vector<double>();
}

std::vector<int64_t> GgufKeys::Shape(absl::string_view tensor) const {
  const auto shape = tensors_.Child(tensor, reading_.bad).Integers("shape", reading_.bad);
  return shape ? shape->value : std::vector<int64_t>();
}

void ReadGgufScaling(const GgufKeys& keys, const GgufArchitecture& row, RopeDraft& rope) {
  auto factor = keys.Number("rope.scaling.factor");
  if (!factor) factor = keys.Number("rope.scale_linear");
  const double s = factor && factor->value != 0 ? factor->value : 1.0;
  const auto type = keys.Text("rope.scaling.type");
  const std::string name = type ? type->value : "linear";
  rope.draft.Note("rope.scaling", name, type.value_or(keys.Default(name, "rope.scaling.type")));
  if (name != "none" && name != "linear" && name != "yarn" && name != "longrope") {
    rope.bad().Add(keys.Key("rope.scaling.type"), Quote(name), "none, linear, yarn, longrope");
    return;
  }
  const bool linear = name == "linear";
  if (ReadDivisors(keys, linear ? s : 1.0, rope) || ReadLists(keys, rope)) {
    if (name == "yarn") rope.reading.Note("yarn beside a tensor of divisors: its ramp is not in the table");
    return;
  }
  const auto alpha = keys.Number("rope.scaling.alpha");
  if (alpha && row.alpha && alpha->value != 0) {
    rope.spec.scaling = NtkAlphaScaling{rope.draft.Take("rope.ntk_alpha.alpha", *alpha)};
  } else if (name == "yarn") {
    if (factor) rope.draft.Take("rope.yarn.factor", *factor);
    ReadYarn(keys, row.name == "deepseek2", s, rope);
  } else if (linear && factor) {
    rope.spec.scaling = LinearScaling{
        rope.draft.Take("rope.linear.factor", Found<double>{s, factor->path, factor->source, false})};
  } else if (name == "longrope") {
    rope.bad().AddText("rope_factors_long.weight", "is missing; allowed: the two lists of longrope");
  }
}

}  // namespace posenc
