#include <limits>
#include <numbers>

#include "server/encodings/float32/frequencies.h"
#include "server/encodings/float32/rounded_math.h"

namespace posenc {
namespace {

using Floats = std::vector<float>;

// mlx-lm hands periods to the fused rope, which takes their reciprocals.
template <typename Period>
Floats Reciprocals(const RopeSpec& spec, Period&& period) {
  const Floats powers = Powers({spec.rotary_dim / 2, spec.base}, Arithmetic::kFloat32Mlx);
  Floats w;
  w.reserve(powers.size());
  for (size_t i = 0; i < powers.size(); ++i) w.push_back(1.0F / period(i, powers[i]));
  return w;
}

// In mlx a scalar over an array is a plain quotient.
float Period(const Llama3Scaling& scaling, float power) {
  const auto length = static_cast<double>(scaling.original_max_len);
  const auto low = static_cast<float>(scaling.low_freq_factor);
  const auto factor = static_cast<float>(scaling.factor);
  const float wavelength = static_cast<float>(2 * std::numbers::pi) * power;
  if (wavelength > static_cast<float>(length / scaling.low_freq_factor)) return power * factor;
  const bool blended = wavelength > static_cast<float>(length / scaling.high_freq_factor) &&
                       wavelength < static_cast<float>(length / scaling.low_freq_factor);
  if (!blended) return power;
  const float smooth = (static_cast<float>(length) / wavelength - low) /
                       static_cast<float>(scaling.high_freq_factor - scaling.low_freq_factor);
  return power / ((1.0F - smooth) / factor + smooth);
}

Floats Frequencies(const Llama3Scaling& scaling, const RopeSpec& spec) {
  return Reciprocals(spec, [&](size_t, float power) { return Period(scaling, power); });
}

Floats Frequencies(const YarnScaling& scaling, const RopeSpec& spec) {
  const Floats ramp = YarnRampF32(scaling, spec.rotary_dim, spec.base);
  const auto factor = static_cast<float>(scaling.factor);
  const auto extrapolation = static_cast<float>(scaling.extrapolation_factor);
  return Reciprocals(spec, [&](size_t i, float kept) {
    const float divided = factor * kept;
    const float share = (1.0F - ramp[i]) * extrapolation;
    if (scaling.log_mix) return ExpF32(share * LogF32(kept) + (1.0F - share) * LogF32(divided));
    return (divided * kept) / (divided * share + kept * (1.0F - share));
  });
}

Floats Frequencies(const LongRopeScaling& scaling, const RopeSpec& spec) {
  const auto& factors = scaling.long_factor.empty() ? scaling.short_factor : scaling.long_factor;
  return Reciprocals(spec, [&](size_t i, float power) { return static_cast<float>(factors[i]) * power; });
}

Floats Frequencies(const ProportionalScaling& scaling, const RopeSpec& spec) {
  const auto rotating = static_cast<size_t>(scaling.fraction * static_cast<double>(spec.rotary_dim) / 2);
  return Reciprocals(spec, [&](size_t i, float power) {
    return i < rotating ? static_cast<float>(scaling.factor) * power : std::numeric_limits<float>::infinity();
  });
}

Floats Frequencies(const FrequencyDivisors& scaling, const RopeSpec& spec) {
  return Reciprocals(spec, [&](size_t i, float power) {
    return static_cast<float>(scaling.divisors[i]) * power;
  });
}

Floats Frequencies(const ExplicitFrequencies& scaling, const RopeSpec&) {
  return {scaling.inverse_frequencies.begin(), scaling.inverse_frequencies.end()};
}

Floats Frequencies(const NtkScaling& scaling, const RopeSpec& spec) {
  if (scaling.rule != NtkRule::kMixed && scaling.rule != NtkRule::kVllm) return {};
  return RopeSteps(spec, Arithmetic::kFloat32).frequencies;  // vLLM's own rules
}

Floats Frequencies(const std::monostate&, const RopeSpec&) { return {}; }
Floats Frequencies(const LinearScaling&, const RopeSpec&) { return {}; }
Floats Frequencies(const NtkAlphaScaling&, const RopeSpec&) { return {}; }
Floats Frequencies(const DynamicScaling&, const RopeSpec&) { return {}; }

}  // namespace

std::vector<float> MlxFrequencies(const RopeSpec& spec) {
  return std::visit([&](const auto& scaling) { return Frequencies(scaling, spec); }, spec.scaling);
}

}  // namespace posenc
