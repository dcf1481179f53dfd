#include "server/encodings/exact/turns.h"

#include <cstdlib>

namespace posenc {
namespace {

using Limbs = std::array<uint64_t, 4>;

// The reduced angle is j / 256 turns, j ≤ 32, plus at most 1/512 turn on either side.
constexpr int kSteps = 32;

// Below, a Uint128 x is the fraction x / 2^128, so that MultiplyHigh is the product of two.

Uint128 FractionOf(const Real& value) {  // of a value in [0, 1)
  Real scaled(kTurnPrecisionBits);
  mpfr_mul_2ui(scaled.get(), value.get(), 64, MPFR_RNDZ);
  const uint64_t high = mpfr_get_ui(scaled.get(), MPFR_RNDZ);
  mpfr_sub_ui(scaled.get(), scaled.get(), high, MPFR_RNDZ);
  mpfr_mul_2ui(scaled.get(), scaled.get(), 64, MPFR_RNDZ);
  return (Uint128{high} << 64) | mpfr_get_ui(scaled.get(), MPFR_RNDZ);
}

// sin and cos of j / 256 turns as fractions (cos of j = 0 is not representable and not used), and
// π/4.
struct Constants {
  Constants() {
    Real step = TwoPi(kTurnPrecisionBits);
    mpfr_div_2ui(step.get(), step.get(), 3, MPFR_RNDN);
    quarter_pi = FractionOf(step);
    mpfr_div_2ui(step.get(), step.get(), 5, MPFR_RNDN);
    Real angle(kTurnPrecisionBits), s(kTurnPrecisionBits), c(kTurnPrecisionBits);
    for (int j = 1; j <= kSteps; ++j) {
      mpfr_mul_ui(angle.get(), step.get(), j, MPFR_RNDN);
      mpfr_sin_cos(s.get(), c.get(), angle.get(), MPFR_RNDN);
      sin[j] = FractionOf(s);
      cos[j] = FractionOf(c);
    }
  }
  Uint128 quarter_pi = 0;
  std::array<Uint128, kSteps + 1> sin{}, cos{};
};

const Constants& GetConstants() {
  static const Constants constants;
  return constants;
}

constexpr Uint128 InverseFactorial(int n) {
  Uint128 result = ~Uint128{0};
  for (int i = 2; i <= n; ++i) result /= i;
  return result;
}

// 1 − sin(x)/x and 1 − cos(x) for x² = `square`, x ≤ 2π/512, by Taylor: the first terms left out
// are x^14/15! < 2^-129 and x^16/16! < 2^-145. Each step truncates, so the error is a few units.
Uint128 SineDeficit(Uint128 square) {
  Uint128 sum = InverseFactorial(13);
  for (int n = 11; n >= 3; n -= 2) sum = InverseFactorial(n) - MultiplyHigh(square, sum);
  return MultiplyHigh(square, sum);
}

Uint128 CosineDeficit(Uint128 square) {
  Uint128 sum = InverseFactorial(14);
  for (int n = 12; n >= 2; n -= 2) sum = InverseFactorial(n) - MultiplyHigh(square, sum);
  return MultiplyHigh(square, sum);
}

Limbs Negated(const Limbs& x) {
  Limbs result;
  Uint128 carry = 1;
  for (int i = 0; i < 4; ++i) {
    carry += static_cast<uint64_t>(~x[i]);
    result[i] = static_cast<uint64_t>(carry);
    carry >>= 64;
  }
  return result;
}

Limbs Times(const Limbs& x, uint64_t factor) {
  Limbs result;
  Uint128 carry = 0;
  for (int i = 0; i < 4; ++i) {
    carry += Uint128{x[i]} * factor;
    result[i] = static_cast<uint64_t>(carry);
    carry >>= 64;
  }
  return result;
}

int LeadingZeros(const Limbs& x) {
  for (int i = 3; i >= 0; --i) {
    if (x[i] != 0) return 64 * (3 - i) + __builtin_clzll(x[i]);
  }
  return 256;
}

// The 128 bits of x behind its leading zeros.
Uint128 LeadingBits(const Limbs& x, int zeros) {
  const int limb = 3 - zeros / 64, shift = zeros % 64;
  const auto at = [&](int i) { return i >= 0 ? x[i] : 0; };
  const auto word = [&](int i) {
    return shift == 0 ? at(i) : (at(i) << shift) | (at(i - 1) >> (64 - shift));
  };
  return (Uint128{word(limb)} << 64) | word(limb - 1);
}

Enclosure FromFraction(Uint128 value, Uint128 error) {  // value / 2^128
  return Enclosure{.mantissa = value >> 1, .error = (error >> 1) + 2, .exponent = -127}
      .Normalized();
}

// e^{i·x} for the angle of `offset` turns around step j; |offset| ≤ 1/512 turn, `zeros` its leading
// zeros. With x = t · 2^-(125 + zeros), t holds 128 bits of it, whatever its size. Errors in units
// of 2^-128: t 3, deficits 8, their products 2; sin and cos around a step j ≥ 1 therefore 16, on
// values of 2^-6.4 and more.
Phasor AroundStep(int j, bool below, const Limbs& offset, int zeros, int64_t shift) {
  const Constants& constants = GetConstants();
  const Uint128 t = MultiplyHigh(LeadingBits(offset, zeros), constants.quarter_pi);
  const int64_t down = zeros - 3 + shift;
  const Uint128 x = down < 128 ? t >> down : 0;
  const Uint128 square = MultiplyHigh(x, x);
  const Uint128 sine_scaled = t - MultiplyHigh(t, SineDeficit(square));
  const Uint128 deficit = CosineDeficit(square);
  if (j == 0) {
    const int64_t exponent = -124 - zeros - shift;
    Enclosure sin{
        .negative = below, .mantissa = sine_scaled >> 1, .error = 16, .exponent = exponent};
    Enclosure cos{.mantissa = (Uint128{1} << 126) - (deficit >> 2), .error = 8, .exponent = -126};
    return {.cos = cos, .sin = sin.Normalized()};
  }
  const Uint128 sine = down < 128 ? sine_scaled >> down : 0;
  const Uint128 s = constants.sin[j], c = constants.cos[j];
  const Uint128 cs = MultiplyHigh(c, sine), ss = MultiplyHigh(s, sine);
  const Uint128 s0 = s - MultiplyHigh(s, deficit), c0 = c - MultiplyHigh(c, deficit);
  return {.cos = FromFraction(below ? c0 + ss : c0 - ss, 32),
          .sin = FromFraction(below ? s0 - cs : s0 + cs, 32)};
}

// The value itself, or the number of few bits that it agrees with.
Real Snapped(const Real& turns, bool& exact) {
  constexpr int64_t kAgreeingBits = 288, kFewBits = 64;
  Real snapped(turns);
  mpfr_prec_round(snapped.get(), kAgreeingBits, MPFR_RNDN);
  exact = static_cast<int64_t>(mpfr_min_prec(snapped.get())) <= kFewBits;
  return exact ? snapped : turns;
}

}  // namespace

Phasor TurnedByQuarters(const Phasor& x, unsigned quarters) {
  switch (quarters & 3) {
    case 0:
      return x;
    case 1:
      return {.cos = x.sin.Negated(), .sin = x.cos};
    case 2:
      return {.cos = x.cos.Negated(), .sin = x.sin.Negated()};
    default:
      return {.cos = x.sin, .sin = x.cos.Negated()};
  }
}

Turns TurnsOf(const Real& turns, bool rational) {
  if (rational) {
    bool exact = false;
    Turns result = TurnsOf(Snapped(turns, exact));
    result.exact = exact;
    return result;
  }
  Turns result;
  if (mpfr_zero_p(turns.get())) return result;
  result.zero = false;
  int64_t exponent = mpfr_get_exp(turns.get());
  if (exponent < -63) {
    result.shift = -63 - exponent;
    exponent = -63;
  }
  // The significand is 0.b1 b2 … times 2^exponent: bit b(exponent + 1) is the first of the
  // fraction.
  const auto* significand = static_cast<const uint64_t*>(mpfr_custom_get_significand(turns.get()));
  const auto count = static_cast<int64_t>((turns.precision_bits() + 63) / 64);
  const auto word = [&](int64_t index) {  // counted from the most significant one
    return index >= 0 && index < count ? significand[count - 1 - index] : 0;
  };
  for (int i = 0; i < 4; ++i) {
    const int64_t bit = exponent + 64 * i;
    const int64_t index = bit >= 0 ? bit / 64 : -((63 - bit) / 64);
    const int64_t offset = bit - 64 * index;
    result.limbs[3 - i] =
        offset == 0 ? word(index) : (word(index) << offset) | (word(index + 1) >> (64 - offset));
  }
  return result;
}

std::optional<StepAndRest> ReduceAngle(const Turns& turns, int64_t position) {
  const uint64_t distance = static_cast<uint64_t>(std::llabs(position));
  Limbs angle = Times(turns.limbs, distance);
  if (position < 0) angle = Negated(angle);
  const uint64_t rounded = angle[3] + (uint64_t{1} << 55);
  StepAndRest result{.step = static_cast<int>(rounded >> 56), .rest = {}};
  angle[3] -= rounded & ~((uint64_t{1} << 56) - 1);
  const bool negative = (angle[3] >> 63) != 0;
  if (negative) angle = Negated(angle);
  const int zeros = LeadingZeros(angle);
  if (zeros > 110 || turns.shift > 800) return std::nullopt;
  const Uint128 t = MultiplyHigh(LeadingBits(angle, zeros), GetConstants().quarter_pi);
  result.rest = ToDoubleDouble({.negative = negative,
                                .mantissa = t >> 1,
                                .error = 0,
                                .exponent = -124 - zeros - turns.shift});
  return result;
}

const StepPhasor& PhasorOfStep(int step) {
  static const auto* const table = [] {
    auto* all = new std::array<StepPhasor, 256>;
    Turns turns;  // 1/256 turn
    turns.limbs[3] = uint64_t{1} << 56;
    turns.zero = false;
    for (int j = 0; j < 256; ++j) {
      const Phasor phasor =
          j % 64 == 0 ? TurnedByQuarters({.cos = Enclosure::Exactly(1.0), .sin = {}}, j / 64)
                      : PhasorAt(turns, j);
      (*all)[j] = {ToDoubleDouble(phasor.cos), ToDoubleDouble(phasor.sin)};
    }
    return all;
  }();
  return (*table)[step];
}

Phasor PhasorAt(const Turns& turns, int64_t position) {
  const Phasor one{.cos = Enclosure::Exactly(1.0), .sin = {}};
  if (turns.zero || position == 0) return one;
  const uint64_t distance = static_cast<uint64_t>(std::llabs(position));
  Limbs angle = Times(turns.limbs, distance);
  if (position < 0) angle = Negated(angle);
  // To the nearest quarter: the remainder is within 1/8 turn on either side.
  angle[3] += uint64_t{1} << 61;
  const auto quarters = static_cast<unsigned>(angle[3] >> 62);
  angle[3] = (angle[3] & ((uint64_t{1} << 62) - 1)) - (uint64_t{1} << 61);
  const bool negative = (angle[3] >> 63) != 0;
  if (negative) angle = Negated(angle);
  // To the nearest step of 1/256 turn.
  const auto j = static_cast<int>((angle[3] + (uint64_t{1} << 55)) >> 56);
  angle[3] -= static_cast<uint64_t>(j) << 56;
  const bool below = (angle[3] >> 63) != 0;
  if (below) angle = Negated(angle);

  const int zeros = LeadingZeros(angle);
  const int error_bits = 64 - __builtin_clzll(distance);
  if (j == 0 && zeros == 256 && turns.exact && turns.shift == 0) return TurnedByQuarters(one, quarters);
  if (j == 0 && zeros + error_bits > 130) {
    return {.cos = Enclosure::Unknown(), .sin = Enclosure::Unknown()};
  }
  Phasor result = zeros == 256 ? Phasor{.cos = FromFraction(GetConstants().cos[j], 32),
                                        .sin = FromFraction(GetConstants().sin[j], 32)}
                               : AroundStep(j, below, angle, zeros, turns.shift);
  if (negative) result.sin = result.sin.Negated();
  return TurnedByQuarters(result, quarters);
}

}  // namespace posenc
