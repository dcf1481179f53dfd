#include "tests/golden/golden_number.h"

#include <mpfr.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace posenc {
namespace {

// Bits of the significand, and the exponent of the smallest subnormal.
struct Format {
  long precision;
  long min_exponent;
};

Format FormatOf(ElementType type) {
  switch (type) {
    case ElementType::kF64:
      return {53, -1074};
    case ElementType::kF16:
      return {11, -24};
    case ElementType::kBF16:
      return {8, -133};
    default:
      return {24, -149};
  }
}

template <typename Bits>
Bits Load(const std::byte* element) {
  Bits bits;
  std::memcpy(&bits, element, sizeof(bits));
  return bits;
}

double DecodeF16(uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1f;
  const int fraction = bits & 0x3ff;
  double value = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25);
  if (exponent == 31) value = fraction == 0 ? INFINITY : NAN;
  return (bits & 0x8000) != 0 ? -value : value;
}

}  // namespace

double ParseHexFloat(const std::string& text) { return std::strtod(text.c_str(), nullptr); }

double RoundDecimal(ElementType type, const std::string& decimal) {
  const Format format = FormatOf(type);
  mpfr_t value;
  mpfr_init2(value, 256);
  mpfr_set_str(value, decimal.c_str(), 10, MPFR_RNDN);
  if (mpfr_regular_p(value)) {
    const long unit = std::max<long>(mpfr_get_exp(value) - format.precision, format.min_exponent);
    mpfr_mul_2si(value, value, -unit, MPFR_RNDN);
    mpfr_roundeven(value, value);
    mpfr_mul_2si(value, value, unit, MPFR_RNDN);
  }
  const double rounded = mpfr_get_d(value, MPFR_RNDN);
  mpfr_clear(value);
  return rounded;
}

double DecodeElement(ElementType type, const std::byte* element) {
  switch (type) {
    case ElementType::kF64:
      return std::bit_cast<double>(Load<uint64_t>(element));
    case ElementType::kF16:
      return DecodeF16(Load<uint16_t>(element));
    case ElementType::kBF16:
      return std::bit_cast<float>(uint32_t{Load<uint16_t>(element)} << 16);
    case ElementType::kI32:
      return Load<int32_t>(element);
    default:
      return std::bit_cast<float>(Load<uint32_t>(element));
  }
}

bool SameBits(double a, double b) { return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b); }

}  // namespace posenc
