#include "server/encodings/exact/phasor_cells.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "server/encodings/exact/ziv.h"

namespace posenc {
namespace {

// A product with a coordinate of up to 83 bits before the point keeps the 320 that turns need.
constexpr int64_t kRealBits = 448;

// Nearer to a whole quarter than this an angle is taken to stand on it: the frequency is good to
// 2^-kFarBits, a coordinate has up to 83 bits before the point, and no double but 0 is as small.
constexpr int64_t kFarBits = 2560;
constexpr int64_t kQuarterExponent = 256 - kFarBits;

// Returns frequency k in turns, to 2^-kFarBits. Where a frequency is a fraction of a turn such as 1/3, every
// third position asks for it: each thread keeps those of the table that it is at.
const Real& FarTurns(const Frequencies& source, int64_t k) {
  struct Kept {
    Frequencies source;
    std::unordered_map<int64_t, Real> turns;
  };
  static thread_local Kept kept;
  if (kept.source != source) kept = {source, {}};
  const auto found = kept.turns.find(k);
  if (found != kept.turns.end()) return found->second;
  return kept.turns.emplace(k, AsTurns(*source, source->At(k, kFarBits + 128))).first->second;
}

Enclosure Enclose(const Real& value) {
  Enclosure result = RoundedToOdd(value).Normalized();
  result.error = Uint128{1} << 8;  // RoundedToOdd keeps 120 of the 127 bits
  return result;
}

Enclosure WithoutNegativeZero(Enclosure value) {
  value.negative = value.negative && value.mantissa != 0;
  return value;
}

bool IsUnknown(const Phasor& phasor) {
  return phasor.sin.error == phasor.sin.mantissa && phasor.sin.error != 0;
}

}  // namespace

PhasorCells::PhasorCells(Frequencies source, Magnitude magnitude, ElementType type)
    : source_(std::move(source)), magnitude_(std::move(magnitude)), type_(type) {
  turns_.reserve(source_->count());
  frequencies_.reserve(source_->count());
  constexpr int64_t kBits = kTurnPrecisionBits + 64;
  Real two_pi = TwoPi(kBits), per_radian(kBits), other(kBits);
  mpfr_ui_div(per_radian.get(), 1, two_pi.get(), MPFR_RNDN);
  source_->ForEach(kTurnPrecisionBits, [&](int64_t, const Real& value) {
    if (source_->in_turns()) {
      mpfr_mul(other.get(), value.get(), two_pi.get(), MPFR_RNDN);
      turns_.push_back(TurnsOf(value, true));
      frequencies_.push_back(mpfr_get_d(other.get(), MPFR_RNDN));
    } else {
      mpfr_mul(other.get(), value.get(), per_radian.get(), MPFR_RNDN);
      turns_.push_back(TurnsOf(other));
      frequencies_.push_back(mpfr_get_d(value.get(), MPFR_RNDN));
    }
  });
}

size_t PhasorCells::footprint_bytes() const {
  return turns_.capacity() * sizeof(Turns) + frequencies_.capacity() * sizeof(double);
}

Phasor PhasorCells::FarAt(const Coordinate& coordinate, int64_t k) const {
  Real quarters = coordinate.Times(FarTurns(source_, k));
  mpfr_mul_2ui(quarters.get(), quarters.get(), 2, MPFR_RNDN);
  Real whole(quarters.precision_bits()), sin(kZivFirstBits), cos(kZivFirstBits);
  mpfr_rint(whole.get(), quarters.get(), MPFR_RNDN);
  mpfr_sub(quarters.get(), quarters.get(), whole.get(), MPFR_RNDN);
  mpfr_fmod_ui(whole.get(), whole.get(), 4, MPFR_RNDN);
  const auto turned = static_cast<unsigned>(mpfr_get_si(whole.get(), MPFR_RNDN));
  if (mpfr_zero_p(quarters.get()) || mpfr_get_exp(quarters.get()) < kQuarterExponent) {
    return TurnedByQuarters({.cos = Enclosure::Exactly(1.0), .sin = {}}, turned);
  }
  mpfr_mul(quarters.get(), quarters.get(), TwoPi(quarters.precision_bits()).get(), MPFR_RNDN);
  mpfr_div_2ui(quarters.get(), quarters.get(), 2, MPFR_RNDN);
  mpfr_sin_cos(sin.get(), cos.get(), quarters.get(), MPFR_RNDN);
  return TurnedByQuarters({.cos = Enclose(cos), .sin = Enclose(sin)}, turned);
}

Phasor PhasorCells::UnitAt(int64_t position, int64_t k) const {
  const Phasor phasor = PhasorAt(turns_[k], position);
  return IsUnknown(phasor) ? FarAt(Coordinate(position), k) : phasor;
}

Phasor PhasorCells::At(int64_t position, int64_t k) const {
  return Magnified(UnitAt(position, k));
}

Phasor PhasorCells::Magnified(const Phasor& unit) const {
  const Enclosure& m = magnitude_.enclosure();
  if (magnitude_.is_one()) return {.cos = WithoutNegativeZero(unit.cos), .sin = WithoutNegativeZero(unit.sin)};
  return {.cos = Product(unit.cos, m), .sin = Product(unit.sin, m)};
}

PhasorCells::Bits PhasorCells::Rounded(const Phasor& unit, const Coordinate& coordinate,
                                       int64_t k) const {
  const Phasor phasor = Magnified(unit);
  const std::optional<uint64_t> cos = RoundTo(type_, phasor.cos);
  const std::optional<uint64_t> sin = RoundTo(type_, phasor.sin);
  return {cos ? *cos : Ziv(coordinate, k, false), sin ? *sin : Ziv(coordinate, k, true)};
}

PhasorCells::Bits PhasorCells::RoundedAt(int64_t position, int64_t k) const {
  const Phasor phasor = At(position, k);
  const std::optional<uint64_t> cos = RoundTo(type_, phasor.cos);
  const std::optional<uint64_t> sin = RoundTo(type_, phasor.sin);
  if (cos && sin) return {*cos, *sin};
  return Rounded(UnitAt(position, k), Coordinate(position), k);
}

std::vector<Real> PhasorCells::RealTurns() const {
  std::vector<Real> result;
  result.reserve(turns_.size());
  source_->ForEach(kRealBits, [&](int64_t, const Real& value) {
    result.push_back(AsTurns(*source_, value));
  });
  return result;
}

PhasorCells::Bits PhasorCells::RoundedAt(const Coordinate& coordinate,
                                         const std::vector<Real>& frequencies, int64_t k) const {
  Real turns = coordinate.Times(frequencies[k]);
  const int sign = mpfr_sgn(turns.get()) < 0 ? -1 : 1;
  mpfr_abs(turns.get(), turns.get(), MPFR_RNDN);
  Phasor phasor = PhasorAt(TurnsOf(turns, source_->in_turns()), sign);
  if (IsUnknown(phasor)) phasor = FarAt(coordinate, k);
  return Rounded(phasor, coordinate, k);
}

PhasorCells::Bits PhasorCells::RoundedByZiv(const Coordinate& coordinate, int64_t k) const {
  return {Ziv(coordinate, k, false), Ziv(coordinate, k, true)};
}

uint64_t PhasorCells::Ziv(const Coordinate& coordinate, int64_t k, bool sine) const {
  return RoundByZiv(type_, [&](int64_t bits, Real& value) {
    const Real angle = coordinate.Times(AsRadians(*source_, source_->At(k, bits)));
    const Real magnitude = magnitude_.At(bits);
    (sine ? mpfr_sin : mpfr_cos)(value.get(), angle.get(), MPFR_RNDN);
    mpfr_mul(value.get(), value.get(), magnitude.get(), MPFR_RNDN);
    if (mpfr_zero_p(value.get())) return kExactly;
    if (mpfr_zero_p(angle.get())) {
      return magnitude_.exact() ? kExactly : mpfr_get_exp(value.get()) - bits + 4;
    }
    // The angle is good to 2^-bits of itself, and so is the sine to 2^-bits of itself and of the
    // angle, and the product to as much of itself.
    const int64_t angle_exponent = mpfr_get_exp(angle.get()) + mpfr_get_exp(magnitude.get());
    return std::max<int64_t>(angle_exponent, mpfr_get_exp(value.get())) - bits + 4;
  });
}

}  // namespace posenc
