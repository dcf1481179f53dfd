#include "server/encodings/float32/running_angles.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "server/encodings/float32/frequencies.h"
#include "server/encodings/float32/rounded_math.h"

namespace posenc {
namespace {

constexpr auto kTwoPi = static_cast<float>(2 * std::numbers::pi);

float RatioOf(double base, int64_t pairs) {
  return PowF32(static_cast<float>(base), -2.0F / static_cast<float>(2 * pairs));
}

// Each sets what its scaling changes and says whether ggml has it.
bool Scale(const std::monostate&, const RopeSpec&, RunningAngles&) { return true; }
bool Scale(const NtkAlphaScaling&, const RopeSpec&, RunningAngles&) { return true; }
bool Scale(const DynamicScaling&, const RopeSpec&, RunningAngles&) { return true; }
bool Scale(const ExplicitFrequencies&, const RopeSpec&, RunningAngles&) { return false; }
bool Scale(const NtkScaling& scaling, const RopeSpec&, RunningAngles&) {
  return scaling.rule == NtkRule::kExponent || scaling.rule == NtkRule::kBase;
}

bool Scale(const LinearScaling& scaling, const RopeSpec&, RunningAngles& angles) {
  angles.interpolation = 1.0F / static_cast<float>(scaling.factor);
  return true;
}

// llama.cpp's converter stores these in rope_freqs.weight.
bool Scale(const Llama3Scaling& scaling, const RopeSpec& spec, RunningAngles& angles) {
  const auto length = static_cast<float>(scaling.original_max_len);
  const auto low = static_cast<float>(scaling.low_freq_factor);
  const auto factor = static_cast<float>(scaling.factor);
  const auto longest = static_cast<float>(static_cast<double>(length) / scaling.low_freq_factor);
  const auto shortest = static_cast<float>(static_cast<double>(length) / scaling.high_freq_factor);
  for (float power : Powers({spec.rotary_dim / 2, spec.base}, Arithmetic::kFloat32)) {
    const float wavelength = (1.0F / (1.0F / power)) * kTwoPi;
    if (wavelength < shortest || wavelength > longest || longest == shortest) {
      angles.divisors.push_back(wavelength < shortest ? 1.0F : factor);
      continue;
    }
    const float smooth = ((1.0F / wavelength) * length - low) /
                         static_cast<float>(scaling.high_freq_factor - scaling.low_freq_factor);
    angles.divisors.push_back(1.0F / ((1.0F - smooth) / factor + smooth));
  }
  return true;
}

bool Scale(const YarnScaling& scaling, const RopeSpec& spec, RunningAngles& angles) {
  const auto width = static_cast<float>(spec.rotary_dim);
  const float log_base = LogF32(static_cast<float>(spec.base));
  const auto pair_of = [&](double turns) {
    const float ratio = static_cast<float>(scaling.original_max_len) /
                        (static_cast<float>(turns) * 2.0F * static_cast<float>(std::numbers::pi));
    return width * LogF32(ratio) / (2.0F * log_base);
  };
  float low = pair_of(scaling.beta_fast), high = pair_of(scaling.beta_slow);
  if (scaling.truncate) low = std::floor(low), high = std::ceil(high);
  low = std::max(low, 0.0F);
  high = std::min(high, width - 1.0F);
  const auto extrapolation = static_cast<float>(scaling.extrapolation_factor);
  for (int64_t i = 0; i < spec.rotary_dim / 2; ++i) {
    const float at = (static_cast<float>(i) - low) / std::max(0.001F, high - low);
    angles.kept.push_back((1.0F - std::clamp(at, 0.0F, 1.0F)) * extrapolation);
  }
  angles.interpolation = 1.0F / static_cast<float>(scaling.factor);
  return !scaling.log_mix;
}

bool Scale(const LongRopeScaling& scaling, const RopeSpec&, RunningAngles& angles) {
  const auto& factors = scaling.long_factor.empty() ? scaling.short_factor : scaling.long_factor;
  angles.divisors.assign(factors.begin(), factors.end());
  return true;
}

bool Scale(const ProportionalScaling& scaling, const RopeSpec& spec, RunningAngles& angles) {
  const auto pairs = static_cast<size_t>(spec.rotary_dim / 2);
  const auto rotating = static_cast<size_t>(scaling.fraction * static_cast<double>(pairs));
  angles.divisors.assign(pairs, std::numeric_limits<float>::infinity());
  std::fill_n(angles.divisors.begin(), rotating, static_cast<float>(scaling.factor));
  return true;
}

bool Scale(const FrequencyDivisors& scaling, const RopeSpec&, RunningAngles& angles) {
  angles.divisors.assign(scaling.divisors.begin(), scaling.divisors.end());
  return true;
}

// Sets the ratios of axes and says whether ggml has such axes.
bool SetRatios(const RopeSpec& spec, RunningAngles& angles) {
  if (!spec.axes) {
    angles.ratios = {RatioOf(EffectiveBase(spec), spec.rotary_dim / 2)};
    return true;
  }
  const RopeAxes& axes = *spec.axes;
  angles.restarts = axes.map == AxisMap::kSeparate || axes.map == AxisMap::kRoundRobin;
  for (int64_t pairs : axes.sections) {
    const int64_t counted = angles.restarts ? pairs : spec.rotary_dim / 2;
    angles.ratios.push_back(counted > 0 ? RatioOf(EffectiveBase(spec), counted) : 1.0F);
  }
  return axes.bands == FrequencyBands::kGeometric && axes.frequency_shift == 0 && !axes.full_turns &&
         axes.ntk_factors.empty() && axes.identity_pairs == 0;
}

}  // namespace

void RunningAngles::Write(float position, int32_t axis, std::span<const int32_t> axis_of_pair,
                          std::span<float> out) const {
  float theta = position;
  const float ratio = ratios[static_cast<size_t>(axis)];
  for (size_t i = 0; i < out.size(); ++i) {
    const bool mine = axis_of_pair.empty() || axis_of_pair[i] == axis;
    if (mine) {
      const float extrapolated = divisors.empty() ? theta : theta / divisors[i];
      const float interpolated = interpolation * extrapolated;
      out[i] = kept.empty() ? interpolated : interpolated * (1.0F - kept[i]) + extrapolated * kept[i];
    }
    if (mine || !restarts) theta *= ratio;
  }
}

std::optional<RunningAngles> GgmlAngles(const RopeSpec& spec) {
  RunningAngles angles;
  const bool scaled =
      std::visit([&](const auto& scaling) { return Scale(scaling, spec, angles); }, spec.scaling);
  if (!SetRatios(spec, angles) || !scaled) return std::nullopt;
  return angles;
}

}  // namespace posenc
