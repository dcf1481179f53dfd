#include "server/encodings/float32/bands.h"

#include <numbers>

#include "server/encodings/float32/rounded_math.h"

namespace posenc {
namespace {

constexpr auto kPi = static_cast<float>(std::numbers::pi);

// torch.linspace counts from the nearer end.
std::vector<float> Linspace(double start, double end, int64_t count) {
  const auto first = static_cast<float>(start), last = static_cast<float>(end);
  if (count == 1) return {first};
  const float step = (last - first) / static_cast<float>(count - 1);
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) {
    values.push_back(i < count / 2 ? first + step * static_cast<float>(i)
                                   : last - step * static_cast<float>(count - 1 - i));
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
