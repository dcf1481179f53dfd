#include <algorithm>
#include <numbers>

#include "server/encodings/float32/bands.h"
#include "server/encodings/float32/frequencies.h"
#include "server/encodings/float32/rounded_math.h"

namespace posenc {
namespace {

constexpr auto kTwoPi = static_cast<float>(2 * std::numbers::pi);

enum class Pipeline { kProduct, kQuotient, kPower };

Pipeline PipelineOf(const SinusoidalSpec& spec) {
  if (spec.odd_width == OddWidth::kDropCosine) return Pipeline::kPower;
  const bool timestep = spec.order == SinusoidalOrder::kCosSin ||
                        (spec.order == SinusoidalOrder::kSinCos && spec.frequency_shift != 1);
  return timestep ? Pipeline::kQuotient : Pipeline::kProduct;
}

struct Pairs {
  int64_t count = 0;
  double denominator = 1;  // D of base^(-k/D)
};

// The same count and width as the exact table has.
Pairs PairsOf(const SinusoidalSpec& spec) {
  const int64_t half = spec.d_model / 2;
  const bool odd = spec.d_model % 2 != 0;
  const bool dropped = odd && spec.odd_width == OddWidth::kDropCosine;
  const bool extra = odd && spec.odd_width == OddWidth::kExtraSine;
  double denominator = static_cast<double>(half) - spec.frequency_shift;
  if (dropped) denominator += 1;
  if (extra) denominator += 0.5;
  if (spec.clamp_denominator) denominator = std::max(denominator, 1.0);
  return {half + (dropped || extra ? 1 : 0), denominator};
}

std::vector<float> FrequenciesBy(Pipeline pipeline, const Pairs& pairs, double base) {
  const double log = LogF64(base);
  const auto denominator = static_cast<float>(pairs.denominator);
  std::vector<float> w;
  for (int64_t i = 0; i < pairs.count; ++i) {
    const auto k = static_cast<float>(i);
    switch (pipeline) {
      case Pipeline::kProduct:
        w.push_back(ExpF32(k * static_cast<float>(-(log / pairs.denominator))));
        break;
      case Pipeline::kQuotient:
        w.push_back(ExpF32(k * static_cast<float>(-log) / denominator));
        break;
      case Pipeline::kPower:
        w.push_back(1.0F / PowF32(static_cast<float>(base), k / denominator));
        break;
    }
  }
  return w;
}

}  // namespace

AngleSteps SinusoidalSteps(const SinusoidalSpec& spec) {
  const Pipeline pipeline = PipelineOf(spec);
  const std::vector<double>& given = spec.inverse_frequencies;
  AngleSteps steps;
  steps.frequencies = given.empty() ? FrequenciesBy(pipeline, PairsOf(spec), spec.base)
                                    : std::vector<float>(given.begin(), given.end());
  const auto scale = static_cast<float>(spec.position_scale);
  if (pipeline == Pipeline::kQuotient) {
    steps.angle_factor = scale;
  } else {
    for (float& w : steps.frequencies) w *= scale;
  }
  if (spec.full_turns) {
    for (float& w : steps.frequencies) w *= kTwoPi;
  }
  return steps;
}

AngleSteps GridSteps(const GridSinusoidalSpec& spec, int64_t pairs) {
  AngleSteps steps;
  if (spec.bands == FrequencyBands::kGeometric && spec.frequency_shift != 0) {
    steps.frequencies = FrequenciesBy(
        Pipeline::kProduct, {pairs, static_cast<double>(pairs) - spec.frequency_shift}, spec.base);
  } else {
    steps.frequencies = BandFrequencies({spec.bands, pairs, spec.base, 0, spec.max_frequency});
  }
  steps.position_factor = static_cast<float>(spec.position_scale);
  if (spec.full_turns) steps.position_factor *= kTwoPi;
  return steps;
}

}  // namespace posenc
