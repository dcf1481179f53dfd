#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "server/encodings/float32/bands.h"
#include "server/encodings/float32/frequencies.h"
#include "server/encodings/float32/rounded_math.h"

namespace posenc {
namespace {

constexpr double kTwoPi = 2 * std::numbers::pi;

using Floats = std::vector<float>;

// scalar / tensor in torch.
float Quotient(double scalar, float x) { return (1.0F / x) * static_cast<float>(scalar); }

// What a scaling is applied to.
struct Unscaled {
  const RopeSpec& spec;
  Arithmetic arithmetic;
  Floats powers;

  bool tensor_rt() const { return arithmetic == Arithmetic::kFloat32TensorRt; }
  auto width() const { return static_cast<double>(spec.rotary_dim); }
  // Applies `scale` to every w_i = 1 / power_i.
  template <typename Scale>
  Floats Each(Scale&& scale) const {
    Floats w;
    w.reserve(powers.size());
    for (size_t i = 0; i < powers.size(); ++i) w.push_back(scale(i, 1.0F / powers[i]));
    return w;
  }
  Floats Plain() const {
    return Each([](size_t, float w) { return w; });
  }
};

Floats Scaled(const std::monostate&, const Unscaled& from) { return from.Plain(); }
Floats Scaled(const NtkAlphaScaling&, const Unscaled& from) { return from.Plain(); }
Floats Scaled(const DynamicScaling&, const Unscaled& from) { return from.Plain(); }

Floats Scaled(const LinearScaling& scaling, const Unscaled& from) {
  if (from.arithmetic == Arithmetic::kFloat32Vllm) return from.Plain();
  const auto factor = static_cast<float>(scaling.factor);
  const auto inverse = static_cast<float>(1 / scaling.factor);
  return from.Each([&](size_t i, float w) {  // TensorRT-LLM has 1/s for the one of 1 / power
    return from.tensor_rt() ? inverse / from.powers[i] : w / factor;
  });
}

// vLLM's second step: by one number, or by one for each pair.
Floats Scaled(const NtkScaling& scaling, const Unscaled& from) {
  if (scaling.rule == NtkRule::kVllm) {
    const auto divisor = static_cast<float>(PowF64(scaling.factor, 2 / from.width()));
    return from.Each([&](size_t, float w) { return w / divisor; });
  }
  if (scaling.rule != NtkRule::kMixed) return from.Plain();
  const double exponent = scaling.mixed_b.value_or(0);
  const auto slope = static_cast<float>(LogF64(scaling.factor) / PowF64(from.width() / 2, exponent));
  return from.Each([&](size_t i, float w) {
    return w / ExpF32(slope * PowF32(static_cast<double>(i + 1), static_cast<float>(exponent)));
  });
}

// TensorRT-LLM blends in double, for numpy's scalars meet Python's there.
float BlendedInDouble(const Llama3Scaling& scaling, float frequency) {
  const double w = frequency, length = static_cast<double>(scaling.original_max_len);
  const double wavelength = kTwoPi / w;
  if (wavelength < length / scaling.high_freq_factor) return frequency;
  if (wavelength > length / scaling.low_freq_factor) return static_cast<float>(w / scaling.factor);
  const double smooth = (length / wavelength - scaling.low_freq_factor) /
                        (scaling.high_freq_factor - scaling.low_freq_factor);
  return static_cast<float>((1 - smooth) * w / scaling.factor + smooth * w);
}

float Blended(const Llama3Scaling& scaling, float w) {
  const double length = static_cast<double>(scaling.original_max_len);
  const auto factor = static_cast<float>(scaling.factor);
  const auto longest = static_cast<float>(length / scaling.low_freq_factor);
  const auto shortest = static_cast<float>(length / scaling.high_freq_factor);
  const float wavelength = Quotient(kTwoPi, w);
  if (wavelength > longest) return w / factor;
  if (wavelength < shortest) return w;
  if (longest == shortest) return w / factor;
  const float smooth = (Quotient(length, wavelength) - static_cast<float>(scaling.low_freq_factor)) /
                       static_cast<float>(scaling.high_freq_factor - scaling.low_freq_factor);
  return (1.0F - smooth) * w / factor + smooth * w;
}

Floats Scaled(const Llama3Scaling& scaling, const Unscaled& from) {
  return from.Each([&](size_t, float w) {
    return from.tensor_rt() ? BlendedInDouble(scaling, w) : Blended(scaling, w);
  });
}

Floats Scaled(const YarnScaling& scaling, const Unscaled& from) {
  const Floats ramp = YarnRampF32(scaling, from.spec.rotary_dim, from.spec.base);
  const auto factor = static_cast<float>(scaling.factor);
  const auto extrapolation = static_cast<float>(scaling.extrapolation_factor);
  return from.Each([&](size_t i, float kept) {
    const float divided = 1.0F / (factor * from.powers[i]);
    const float share = (1.0F - ramp[i]) * extrapolation;
    if (scaling.log_mix) return ExpF32(share * LogF32(kept) + (1.0F - share) * LogF32(divided));
    return divided * (1.0F - share) + kept * share;
  });
}

Floats Scaled(const LongRopeScaling& scaling, const Unscaled& from) {
  const auto& factors = scaling.long_factor.empty() ? scaling.short_factor : scaling.long_factor;
  return from.Each(
      [&](size_t i, float) { return 1.0F / (static_cast<float>(factors[i]) * from.powers[i]); });
}

Floats Scaled(const ProportionalScaling& scaling, const Unscaled& from) {
  const auto rotating = static_cast<size_t>(scaling.fraction * from.width() / 2);
  const auto factor = static_cast<float>(scaling.factor);
  return from.Each([&](size_t i, float w) { return i < rotating ? w / factor : 0.0F; });
}

Floats Scaled(const FrequencyDivisors& scaling, const Unscaled& from) {
  return from.Each([&](size_t i, float w) { return w / static_cast<float>(scaling.divisors[i]); });
}

Floats Scaled(const ExplicitFrequencies& scaling, const Unscaled&) {
  return {scaling.inverse_frequencies.begin(), scaling.inverse_frequencies.end()};
}

double Raised(double factor, double width) { return PowF64(factor, width / (width - 2)); }

// MLX's fused rope.
Floats Exponentials(int64_t pairs, double base) {
  const float step = LogF32(static_cast<float>(base)) / static_cast<float>(pairs);
  Floats w;
  for (int64_t i = 0; i < pairs; ++i) w.push_back(ExpF32(static_cast<float>(-i) * step));
  return w;
}

bool HasOwnSpectra(const RopeSpec& spec) {
  return spec.axes && (spec.axes->map == AxisMap::kSeparate || spec.axes->map == AxisMap::kRoundRobin);
}

// Spectra of axes' own, in the order of the pairs.
Floats AxisFrequencies(const RopeSpec& spec) {
  const RopeAxes& axes = *spec.axes;
  std::vector<Floats> of_axis;
  for (size_t a = 0; a < axes.sections.size(); ++a) {
    const int64_t pairs = axes.sections[a];
    const bool raised = !axes.ntk_factors.empty() && pairs > 1;
    const double factor = raised ? Raised(axes.ntk_factors[a], static_cast<double>(2 * pairs)) : 1;
    of_axis.push_back(BandFrequencies({axes.bands, pairs, spec.base * factor, axes.frequency_shift,
                                       axes.max_frequency}));
  }
  Floats w(static_cast<size_t>(axes.identity_pairs), 0.0F);
  if (axes.map == AxisMap::kSeparate) {
    for (const Floats& axis : of_axis) w.insert(w.end(), axis.begin(), axis.end());
  } else {
    for (size_t k = 0; k < of_axis.front().size(); ++k) {
      for (const Floats& axis : of_axis) w.push_back(axis[k]);
    }
  }
  const auto* linear = std::get_if<LinearScaling>(&spec.scaling);
  for (float& frequency : w) frequency /= linear ? static_cast<float>(linear->factor) : 1.0F;
  return w;
}

}  // namespace

std::vector<float> Powers(const Spectrum& spectrum, Arithmetic arithmetic) {
  const auto base = static_cast<float>(spectrum.base);
  Floats powers;
  powers.reserve(static_cast<size_t>(spectrum.pairs));
  for (int64_t k = 0; k < spectrum.pairs; ++k) {
    const auto twice = static_cast<double>(2 * k), width = static_cast<double>(2 * spectrum.pairs);
    powers.push_back(arithmetic == Arithmetic::kFloat32TensorRt
                         ? PowF32(spectrum.base, twice / width)
                         : PowF32(base, static_cast<float>(twice) / static_cast<float>(width)));
  }
  return powers;
}

double EffectiveBase(const RopeSpec& spec) {
  const auto width = static_cast<double>(spec.rotary_dim);
  if (const auto* ntk = std::get_if<NtkScaling>(&spec.scaling)) {
    if (ntk->rule == NtkRule::kExponent) return spec.base * Raised(ntk->factor, width);
    return ntk->rule == NtkRule::kMixed ? spec.base : spec.base * ntk->factor;
  }
  if (const auto* ntk = std::get_if<NtkAlphaScaling>(&spec.scaling)) {
    return spec.base * Raised(ntk->alpha, width);
  }
  if (const auto* dynamic = std::get_if<DynamicScaling>(&spec.scaling)) {
    const auto length = static_cast<double>(spec.effective_length.value_or(dynamic->original_max_len));
    const double stretch = dynamic->factor * length / static_cast<double>(dynamic->original_max_len);
    return spec.base * Raised(stretch - (dynamic->factor - 1), width);
  }
  return spec.base;
}

std::vector<float> YarnRampF32(const YarnScaling& scaling, int64_t rotary_dim, double base) {
  const auto width = static_cast<double>(rotary_dim);
  const auto pair_of = [&](double turns) {
    const double ratio = static_cast<double>(scaling.original_max_len) / (turns * 2 * std::numbers::pi);
    return width * LogF64(ratio) / (2 * LogF64(base));
  };
  double low = pair_of(scaling.beta_fast), high = pair_of(scaling.beta_slow);
  if (scaling.truncate) low = std::floor(low), high = std::ceil(high);
  low = std::max(low, 0.0);
  high = std::min(high, width - 1);
  if (low == high) high += 0.001;
  Floats ramp;
  for (int64_t i = 0; i < rotary_dim / 2; ++i) {
    const float at = (static_cast<float>(i) - static_cast<float>(low)) / static_cast<float>(high - low);
    ramp.push_back(std::clamp(at, 0.0F, 1.0F));
  }
  return ramp;
}

AngleSteps RopeSteps(const RopeSpec& spec, Arithmetic arithmetic) {
  AngleSteps steps;
  if (spec.axes && spec.axes->full_turns) steps.position_factor = static_cast<float>(kTwoPi);
  if (HasOwnSpectra(spec)) {
    steps.frequencies = AxisFrequencies(spec);
    return steps;
  }
  const auto* linear = std::get_if<LinearScaling>(&spec.scaling);
  const Spectrum spectrum{spec.rotary_dim / 2, EffectiveBase(spec)};
  if (arithmetic == Arithmetic::kFloat32Mlx) {
    steps.frequencies = MlxFrequencies(spec);
    if (steps.frequencies.empty()) steps.frequencies = Exponentials(spectrum.pairs, spectrum.base);
    if (linear) steps.position_factor = static_cast<float>(1 / linear->factor);
    return steps;
  }
  if (linear && arithmetic == Arithmetic::kFloat32Vllm) {
    steps.position_divisor = static_cast<float>(linear->factor);
  }
  const Unscaled from{spec, arithmetic, Powers(spectrum, arithmetic)};
  steps.frequencies = std::visit([&](const auto& scaling) { return Scaled(scaling, from); }, spec.scaling);
  return steps;
}

}  // namespace posenc
