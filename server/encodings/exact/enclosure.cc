#include "server/encodings/exact/enclosure.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace posenc {
namespace {

// An IEEE format: `precision` significant bits, normal exponents min_exponent … max_exponent.
struct Format {
  int precision;
  int min_exponent;
  int max_exponent;
};

Format FormatOf(ElementType type) {
  switch (type) {
    case ElementType::kF64:
      return {53, -1022, 1023};
    case ElementType::kF16:
      return {11, -14, 15};
    case ElementType::kBF16:
      return {8, -126, 127};
    default:
      return {24, -126, 127};
  }
}

// Rounds mantissa · 2^exponent, exactly, ties to even. The exponent field is added to the
// significand with its leading bit, so a carry runs into the exponent and subnormals need no case
// of their own.
uint64_t RoundMagnitude(const Format& format, Uint128 mantissa, int64_t exponent) {
  if (mantissa == 0) return 0;
  const int bits = format.precision - 1;
  const int64_t infinity = int64_t{format.max_exponent - format.min_exponent + 2} << bits;
  const int64_t top = exponent + BitLength(mantissa) - 1;
  if (top > format.max_exponent) return infinity;
  const int64_t scale = std::max<int64_t>(top, format.min_exponent);
  const int64_t shift = scale - bits - exponent;
  Uint128 kept = 0;
  if (shift <= 0) {
    kept = mantissa << -shift;
  } else if (shift < 128) {
    kept = mantissa >> shift;
    const Uint128 rest = mantissa - (kept << shift);
    const Uint128 half = Uint128{1} << (shift - 1);
    if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
  }
  const int64_t field = (scale - format.min_exponent) << bits;
  return std::min(infinity, field + static_cast<int64_t>(kept));
}

// 2^exponent. Requires: it is a normal double.
double PowerOfTwo(int exponent) {
  return std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
}

// Of what stands for numbers beyond MPFR's exponents: beyond every format, and sums of two still fit.
constexpr int64_t kBeyondExponents = int64_t{1} << 61;

uint64_t SignBit(ElementType type) { return uint64_t{1} << (8 * ElementSizeBytes(type) - 1); }

}  // namespace

Enclosure Enclosure::Exactly(double value) {
  if (value == 0) return {};
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(value), &exponent);
  return {.negative = value < 0,
          .mantissa = static_cast<uint64_t>(std::ldexp(fraction, 53)),
          .exponent = exponent - 53};
}

Enclosure Enclosure::Normalized() const {
  Enclosure result = *this;
  const int shift = 127 - BitLength(mantissa);
  result.exponent -= shift;
  if (shift >= 0) {
    result.mantissa <<= shift;
    result.error <<= shift;
  } else {
    const bool exact = error == 0 && (mantissa & ((Uint128{1} << -shift) - 1)) == 0;
    result.mantissa >>= -shift;
    result.error = exact ? 0 : (error >> -shift) + 2;
  }
  return result;
}

Enclosure Product(const Enclosure& a, const Enclosure& b) {
  Enclosure result{.negative = a.negative != b.negative};
  if (a.mantissa == 0 || b.mantissa == 0) return {};
  if (a.error == 0 && b.error == 0 && BitLength(a.mantissa) + BitLength(b.mantissa) <= 127) {
    result.mantissa = a.mantissa * b.mantissa;
    result.exponent = a.exponent + b.exponent;
    return result;
  }
  // Mantissas in [2^126, 2^127): the high half of (2a)(2b) is a·b / 2^126, below 2^128. The
  // error is x·ey + y·ex + ex·ey over 2^126, below 2·(ex + ey) + 1 while both are below 2^63, and
  // truncation adds one unit.
  const Enclosure x = a.Normalized(), y = b.Normalized();
  if (x.error >> 63 != 0 || y.error >> 63 != 0) return Enclosure::Unknown();
  result.mantissa = MultiplyHigh(x.mantissa << 1, y.mantissa << 1);
  result.error = 2 * (x.error + y.error) + 3;
  result.exponent = x.exponent + y.exponent + 126;
  return result.Normalized();
}

std::optional<uint64_t> RoundTo(ElementType type, const Enclosure& value) {
  const Format format = FormatOf(type);
  const uint64_t low = RoundMagnitude(format, value.mantissa - value.error, value.exponent);
  if (value.error != 0) {
    const uint64_t high = RoundMagnitude(format, value.mantissa + value.error, value.exponent);
    if (low != high || value.error == value.mantissa) return std::nullopt;
  }
  return value.negative ? low | SignBit(type) : low;
}

Enclosure RoundedToOdd(const Real& value) {
  if (mpfr_zero_p(value.get())) return {};
  if (mpfr_inf_p(value.get())) {
    return {.negative = mpfr_sgn(value.get()) < 0, .mantissa = Uint128{1} << 126, .exponent = kBeyondExponents};
  }
  Real top(120);
  const bool inexact = mpfr_set(top.get(), value.get(), MPFR_RNDZ) != 0;
  const int64_t exponent = mpfr_get_exp(top.get()) - 120;
  Enclosure result{.negative = mpfr_signbit(top.get()) != 0, .exponent = exponent};
  mpfr_setsign(top.get(), top.get(), 0, MPFR_RNDN);
  mpfr_set_exp(top.get(), 56);
  const auto high = static_cast<uint64_t>(mpfr_get_uj(top.get(), MPFR_RNDZ));
  mpfr_sub_ui(top.get(), top.get(), high, MPFR_RNDN);
  mpfr_mul_2ui(top.get(), top.get(), 64, MPFR_RNDN);
  const auto low = static_cast<uint64_t>(mpfr_get_uj(top.get(), MPFR_RNDZ));
  result.mantissa = (Uint128{high} << 64) | low;
  if (inexact) result.mantissa |= 1;
  return result;
}

DoubleDouble ToDoubleDouble(const Enclosure& value) {
  if (value.mantissa == 0) return {};
  const Enclosure x = value.Normalized();
  const auto high = static_cast<uint64_t>(x.mantissa >> 74);
  const auto low = static_cast<uint64_t>((x.mantissa >> 21) & ((uint64_t{1} << 53) - 1));
  // Within these exponents the powers of two are normal doubles and all products are exact.
  const double sign = value.negative ? -1.0 : 1.0;
  const bool usual = x.exponent > -900 && x.exponent < 700;
  const double unit = usual ? sign * PowerOfTwo(static_cast<int>(x.exponent + 21)) : 0.0;
  double head = static_cast<double>(high) * 0x1p53 * unit;
  double tail = static_cast<double>(low) * unit;
  if (!usual) {
    const int exponent = static_cast<int>(std::clamp<int64_t>(x.exponent, -100000, 100000));
    head = sign * std::ldexp(static_cast<double>(high), exponent + 74);
    tail = sign * std::ldexp(static_cast<double>(low), exponent + 21);
  }
  const double sum = head + tail;
  return {sum, tail - (sum - head)};
}

}  // namespace posenc
