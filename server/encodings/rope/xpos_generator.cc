#include "server/encodings/rope/xpos_generator.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "server/encodings/exact/ziv.h"

namespace posenc {
namespace {

// Bits of the powers that enclosures are made of.
constexpr int64_t kScaleBits = 192;
// A product about doubles the error of an enclosure, which begins with 2^-118.
constexpr int64_t kRowsPerPower = 16;
// Farther out, in units of max(1, scale_base), every scale is beyond the range of every element type, on
// whichever side: the least |ln g| is 10/7d > 2^-16, for the widest d, so that scales are 2^±2^24 and more
// there. The greatest is 1.26 < 2^1 and scale_base at least 2^-10, so that none is beyond 2^±2^52, well within
// Real's exponents.
constexpr double kFarthest = 0x1p40;

Enclosure Enclose(const Real& value) {
  Enclosure result = RoundedToOdd(value).Normalized();
  result.error = Uint128{1} << 8;  // RoundedToOdd keeps 120 of the 127 bits
  return result;
}

Enclosure Exponential(const Real& log) {
  if (mpfr_zero_p(log.get())) return Enclosure::Exactly(1.0);
  Real value(log.precision_bits());
  mpfr_exp(value.get(), log.get(), MPFR_RNDN);
  return Enclose(value);
}

}  // namespace

XPosGenerator::XPosGenerator(const PhasorTable& table, const XPos& xpos, int64_t rotary_dim)
    : form_(table.form),
      source_(table.frequencies),
      xpos_(xpos),
      rotary_dim_(rotary_dim),
      cells_(table.frequencies, table.magnitude, table.form.element_type),
      facts_(FactsOf(table)) {
  facts_.inverse_frequencies = cells_.frequencies();
}

Real XPosGenerator::LogStep(int64_t k, int64_t bits) const {
  Real result(bits);
  mpfr_set_si(result.get(), 10 * k + 2 * rotary_dim_, MPFR_RNDN);
  mpfr_div_si(result.get(), result.get(), 7 * rotary_dim_, MPFR_RNDN);
  mpfr_log(result.get(), result.get(), MPFR_RNDN);
  mpfr_div_d(result.get(), result.get(), xpos_.scale_base, MPFR_RNDN);
  return result;
}

Real XPosGenerator::DistanceOf(double position, int64_t bits) const {
  Real distance(bits, position);
  mpfr_sub_d(distance.get(), distance.get(), xpos_.centre, MPFR_RNDN);
  const double farthest = kFarthest * std::max(1.0, xpos_.scale_base);
  if (mpfr_cmp_d(distance.get(), farthest) > 0) mpfr_set_d(distance.get(), farthest, MPFR_RNDN);
  if (mpfr_cmp_d(distance.get(), -farthest) < 0) mpfr_set_d(distance.get(), -farthest, MPFR_RNDN);
  return distance;
}

XPosGenerator::Scales XPosGenerator::ScalesAt(const Real& log_step, double position) const {
  Real log = DistanceOf(position, log_step.precision_bits() + 64);
  mpfr_mul(log.get(), log.get(), log_step.get(), MPFR_RNDN);
  Scales scales{.query = Exponential(log), .key = {}};
  mpfr_neg(log.get(), log.get(), MPFR_RNDN);
  scales.key = Exponential(log);
  return scales;
}

uint64_t XPosGenerator::Ziv(int64_t position, int64_t k, bool sine, bool key) const {
  return RoundByZiv(form_.element_type, [&](int64_t bits, Real& value) {
    Real log = LogStep(k, bits + 128);
    mpfr_mul(log.get(), log.get(), DistanceOf(static_cast<double>(position), bits + 128).get(), MPFR_RNDN);
    if (key) mpfr_neg(log.get(), log.get(), MPFR_RNDN);
    mpfr_exp(log.get(), log.get(), MPFR_RNDN);
    mpfr_mul(log.get(), log.get(), cells_.magnitude().At(bits).get(), MPFR_RNDN);
    const Real angle = Coordinate(position).Times(AsRadians(*source_, source_->At(k, bits)));
    (sine ? mpfr_sin : mpfr_cos)(value.get(), angle.get(), MPFR_RNDN);
    mpfr_mul(value.get(), value.get(), log.get(), MPFR_RNDN);
    if (mpfr_zero_p(value.get())) return kExactly;
    const int64_t size = mpfr_zero_p(angle.get()) ? 0 : mpfr_get_exp(angle.get()) + mpfr_get_exp(log.get());
    return std::max<int64_t>(size, mpfr_get_exp(value.get())) - bits + 5;
  });
}

uint64_t XPosGenerator::Round(const Enclosure& unit, const Enclosure& scale, int64_t position, int64_t k,
                              bool sine, bool key) const {
  const Enclosure value = Product(Product(unit, cells_.magnitude().enclosure()), scale);
  const std::optional<uint64_t> bits = RoundTo(form_.element_type, value);
  return bits ? *bits : Ziv(position, k, sine, key);
}

void XPosGenerator::WritePair(int64_t position, int64_t k, const Scales& scales, int64_t row,
                              std::span<std::byte* const> out) const {
  const Phasor phasor = cells_.UnitAt(position, k);
  for (const bool key : {false, true}) {
    const Enclosure& scale = key ? scales.key : scales.query;
    const uint64_t cos = Round(phasor.cos, scale, position, k, false, key);
    const uint64_t sin = Round(phasor.sin, scale, position, k, true, key);
    StorePair(form_.layout.segments.front(), k, cos, sin, form_.element_bytes(),
              [&](int tensor) { return out[tensor + (key ? 2 : 0)] + row * form_.row_bytes(); });
  }
}

void XPosGenerator::Generate(int64_t first_row, int64_t row_count,
                             std::span<std::byte* const> out) const {
  for (int64_t k = 0; k < cells_.count(); ++k) {
    const Real log_step = LogStep(k, kScaleBits);
    Real inverse = log_step;
    mpfr_neg(inverse.get(), inverse.get(), MPFR_RNDN);
    const Scales step{.query = Exponential(log_step), .key = Exponential(inverse)};
    Scales scales;
    for (int64_t row = 0; row < row_count; ++row) {
      const int64_t position = PositionOfRow(form_.shape, first_row + row);
      if (row % kRowsPerPower == 0) {
        scales = ScalesAt(log_step, static_cast<double>(position));
      } else {
        scales = {Product(scales.query, step.query), Product(scales.key, step.key)};
      }
      WritePair(position, k, scales, row, out);
    }
  }
}

void XPosGenerator::GenerateAt(std::span<const double> positions,
                               std::span<std::byte* const> out) const {
  for (int64_t k = 0; k < cells_.count(); ++k) {
    const Real log_step = LogStep(k, kScaleBits);
    for (size_t row = 0; row < positions.size(); ++row) {
      WritePair(static_cast<int64_t>(positions[row]), k, ScalesAt(log_step, positions[row]),
                static_cast<int64_t>(row), out);
    }
  }
}

}  // namespace posenc
