#include "server/encodings/exact/phasor_cells.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "server/encodings/exact/ziv.h"

namespace posenc {

PhasorCells::PhasorCells(FrequencyRule rule, double magnitude, ElementType type)
    : rule_(std::move(rule)), magnitude_(magnitude), type_(type) {
  turns_.reserve(rule_.count);
  frequencies_.reserve(rule_.count);
  Real per_radian = TwoPi(kTurnPrecisionBits + 64), turns(kTurnPrecisionBits + 64);
  mpfr_ui_div(per_radian.get(), 1, per_radian.get(), MPFR_RNDN);
  rule_.ForEach(kTurnPrecisionBits, [&](int64_t, const Real& w) {
    mpfr_mul(turns.get(), w.get(), per_radian.get(), MPFR_RNDN);
    turns_.push_back(TurnsOf(turns));
    frequencies_.push_back(mpfr_get_d(w.get(), MPFR_RNDN));
  });
}

size_t PhasorCells::footprint_bytes() const {
  return turns_.capacity() * sizeof(Turns) + frequencies_.capacity() * sizeof(double);
}

Phasor PhasorCells::FarAt(int64_t position, int64_t k) const {
  Real angle = rule_.At(k, kZivLimitBits), cos(kZivFirstBits), sin(kZivFirstBits);
  mpfr_mul_si(angle.get(), angle.get(), position, MPFR_RNDN);
  mpfr_sin_cos(sin.get(), cos.get(), angle.get(), MPFR_RNDN);
  const auto enclose = [](const Real& value) {
    Enclosure result = RoundedToOdd(value).Normalized();
    result.error = Uint128{1} << 8;  // RoundedToOdd keeps 120 of the 127 bits
    return result;
  };
  return {.cos = enclose(cos), .sin = enclose(sin)};
}

Phasor PhasorCells::UnitAt(int64_t position, int64_t k) const {
  const Phasor phasor = PhasorAt(turns_[k], position);
  return phasor.sin.error == phasor.sin.mantissa && phasor.sin.error != 0 ? FarAt(position, k)
                                                                          : phasor;
}

Phasor PhasorCells::At(int64_t position, int64_t k) const {
  const Phasor phasor = UnitAt(position, k);
  if (magnitude_ == 1) return phasor;
  const Enclosure magnitude = Enclosure::Exactly(magnitude_);
  return {.cos = Product(phasor.cos, magnitude), .sin = Product(phasor.sin, magnitude)};
}

PhasorCells::Bits PhasorCells::RoundedAt(int64_t position, int64_t k) const {
  const Phasor phasor = At(position, k);
  const std::optional<uint64_t> cos = RoundTo(type_, phasor.cos);
  const std::optional<uint64_t> sin = RoundTo(type_, phasor.sin);
  return {cos ? *cos : Ziv(position, k, false), sin ? *sin : Ziv(position, k, true)};
}

PhasorCells::Bits PhasorCells::RoundedByZiv(int64_t position, int64_t k) const {
  return {Ziv(position, k, false), Ziv(position, k, true)};
}

uint64_t PhasorCells::Ziv(int64_t position, int64_t k, bool sine) const {
  return RoundByZiv(type_, [&](int64_t bits, Real& value) {
    Real angle = rule_.At(k, bits);
    mpfr_mul_si(angle.get(), angle.get(), position, MPFR_RNDN);
    (sine ? mpfr_sin : mpfr_cos)(value.get(), angle.get(), MPFR_RNDN);
    mpfr_mul_d(value.get(), value.get(), magnitude_, MPFR_RNDN);
    if (mpfr_zero_p(angle.get())) return kExactly;
    // The angle is good to 2^-bits of itself, and so is the sine to 2^-bits of itself and of the
    // angle.
    Real scale(64, magnitude_);
    const int64_t angle_exponent = mpfr_get_exp(angle.get()) + mpfr_get_exp(scale.get());
    return std::max<int64_t>(angle_exponent, mpfr_get_exp(value.get())) - bits + 4;
  });
}

}  // namespace posenc
