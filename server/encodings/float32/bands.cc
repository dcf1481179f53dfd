#include "server/encodings/float32/bands.h"

#include <numbers>

#include "server/encodings/float32/linspace.h"
#include "server/encodings/float32/rounded_math.h"

namespace posenc {
namespace {

constexpr auto kPi = static_cast<float>(std::numbers::pi);

std::vector<float> Linspace(double first, double last, int64_t count) {
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) {
    values.push_back(LinspaceF32(static_cast<float>(first), static_cast<float>(last), count, i));
  }
  return values;
}

}  // namespace

std::vector<float> BandFrequencies(const AxisBands& axis) {
  std::vector<float> w;
  switch (axis.bands) {
    case FrequencyBands::kGeometric: {
      const auto denominator = static_cast<float>(static_cast<double>(axis.pairs) - axis.shift);
      for (int64_t k = 0; k < axis.pairs; ++k) {
        w.push_back(1.0F / PowF32(static_cast<float>(axis.base), static_cast<float>(k) / denominator));
      }
      break;
    }
    case FrequencyBands::kPixelLinear:
      for (float x : Linspace(1, axis.max_frequency / 2, axis.pairs)) w.push_back(x * kPi);
      break;
    case FrequencyBands::kPixelLog: {
      const double octaves = LogF64(axis.max_frequency) / LogF64(2) - 1;
      for (float x : Linspace(0, octaves, axis.pairs)) w.push_back(PowF32(2, x) * kPi);
      break;
    }
    case FrequencyBands::kRising:
      for (float x : Linspace(0, 1, axis.pairs)) {
        w.push_back(PowF32(static_cast<float>(axis.base), x) * kPi / 2.0F);
      }
      break;
  }
  return w;
}

}  // namespace posenc
