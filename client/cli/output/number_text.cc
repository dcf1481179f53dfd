#include "client/cli/output/number_text.h"

#include <charconv>
#include <cmath>
#include <cstring>

namespace posenc::cli {
namespace {

template <typename T>
T Load(const std::byte* data) {
  T value;
  std::memcpy(&value, data, sizeof(T));
  return value;
}

template <typename Float>
std::string Shortest(Float value) {
  if (std::isnan(value)) return "nan";  // its sign bit means nothing
  char text[64];
  return {text, std::to_chars(text, text + sizeof(text), value).ptr};
}

// Whether a positive decimal rounds, to nearest even, to the positive 16-bit number of these bits. The
// halves of the way to the neighbours are exact in double.
template <typename Small>
bool RoundsTo(double decimal, uint16_t bits) {
  const auto value = [](int pattern) {
    return static_cast<double>(static_cast<float>(Small{static_cast<uint16_t>(pattern)}));
  };
  const double here = value(bits);
  const double below = bits == 0 ? 0 : value(bits - 1);
  // Past the largest number the steps go on for half a step before it is infinity.
  const double above = std::isinf(value(bits + 1)) ? here + (here - below) : value(bits + 1);
  const double low = (below + here) / 2;
  const double high = (here + above) / 2;
  const bool even = bits % 2 == 0;
  return even ? decimal >= low && decimal <= high : decimal > low && decimal < high;
}

// The standard library knows no 16-bit numbers: tries one digit more until it is enough.
template <typename Small>
std::string ShortestSmall(Small value) {
  const auto wide = static_cast<float>(value);
  const auto magnitude = static_cast<uint16_t>(value.bits & 0x7fff);
  if (!std::isfinite(wide) || magnitude == 0) return Shortest(wide);
  for (int digits = 0; digits < 8; ++digits) {
    char text[64];
    const auto end = std::to_chars(text, text + sizeof(text), static_cast<double>(wide),
                                   std::chars_format::scientific, digits);
    double decimal = 0;
    std::from_chars(text, end.ptr, decimal);
    if (RoundsTo<Small>(std::fabs(decimal), magnitude)) return Shortest(decimal);
  }
  return Shortest(wide);
}

}  // namespace

int PartsOf(ElementType type) { return PartType(type) == type ? 1 : 2; }

ElementType PartType(ElementType type) {
  if (type == ElementType::kComplex64) return ElementType::kF32;
  if (type == ElementType::kComplex128) return ElementType::kF64;
  return type;
}

double PartValue(ElementType type, const std::byte* data) {
  switch (type) {
    case ElementType::kF64:
      return Load<double>(data);
    case ElementType::kF16:
      return static_cast<float>(Load<Half>(data));
    case ElementType::kBF16:
      return static_cast<float>(Load<BFloat16>(data));
    case ElementType::kI32:
      return Load<int32_t>(data);
    default:
      return Load<float>(data);
  }
}

std::string PartText(ElementType type, const std::byte* data) {
  switch (type) {
    case ElementType::kF64:
      return Shortest(Load<double>(data));
    case ElementType::kF16:
      return ShortestSmall(Load<Half>(data));
    case ElementType::kBF16:
      return ShortestSmall(Load<BFloat16>(data));
    case ElementType::kI32:
      return absl::StrCat(Load<int32_t>(data));
    default:
      return Shortest(Load<float>(data));
  }
}

}  // namespace posenc::cli
