#include "server/encodings/exact/magnitude.h"

#include <utility>
#include <variant>

namespace posenc {
namespace {

constexpr int64_t kGuardBits = 32;

// YaRN's g(k) = 0.1·k·ln(s) + 1, 1 for s ≤ 1. The 0.1 is 1/10.
Real YarnScale(double factor, double k, int64_t bits) {
  Real result(bits, 1.0), log(bits, factor);
  if (factor <= 1) return result;
  mpfr_log(log.get(), log.get(), MPFR_RNDN);
  mpfr_mul_d(log.get(), log.get(), k, MPFR_RNDN);
  mpfr_div_ui(log.get(), log.get(), 10, MPFR_RNDN);
  mpfr_add(result.get(), result.get(), log.get(), MPFR_RNDN);
  return result;
}

Magnitude MagnitudeOf(const YarnScaling& yarn) {
  const double factor = yarn.factor, mscale = yarn.mscale, all = yarn.mscale_all_dim;
  const bool ratio = mscale != 0 && all != 0;
  if (factor <= 1 || (ratio && mscale == all)) return Magnitude(1.0);
  return Magnitude([=](int64_t precision_bits) {
    const int64_t bits = precision_bits + kGuardBits;
    Real result = YarnScale(factor, ratio ? mscale : 1.0, bits);
    if (!ratio) return result;
    mpfr_div(result.get(), result.get(), YarnScale(factor, all, bits).get(), MPFR_RNDN);
    return result;
  });
}

Magnitude MagnitudeOf(const LongRopeScaling& longrope) {
  if (longrope.factor <= 1) return Magnitude(1.0);
  return Magnitude([factor = longrope.factor, length = longrope.original_max_len](int64_t precision_bits) {
    const int64_t bits = precision_bits + kGuardBits;
    Real result(bits, factor), trained(bits, static_cast<double>(length));
    mpfr_log(result.get(), result.get(), MPFR_RNDN);
    mpfr_log(trained.get(), trained.get(), MPFR_RNDN);
    mpfr_div(result.get(), result.get(), trained.get(), MPFR_RNDN);
    mpfr_add_ui(result.get(), result.get(), 1, MPFR_RNDN);
    mpfr_sqrt(result.get(), result.get(), MPFR_RNDN);
    return result;
  });
}

template <typename Scaling>
Magnitude MagnitudeOf(const Scaling&) {
  return Magnitude(1.0);
}

// Bits at which a formula's value is taken to be the double that it agrees with: a square root that
// comes out even.
constexpr int64_t kSnapBits = 256;

}  // namespace

Magnitude::Magnitude(double exact)
    : enclosure_(Enclosure::Exactly(exact)), parts_(ToDoubleDouble(enclosure_)) {}

Magnitude::Magnitude(Formula formula) : formula_(std::move(formula)) {
  Real value = formula_(kSnapBits + kGuardBits), snapped(value);
  mpfr_prec_round(snapped.get(), kSnapBits, MPFR_RNDN);
  const double rounded = mpfr_get_d(snapped.get(), MPFR_RNDN);
  if (mpfr_cmp_d(snapped.get(), rounded) == 0) {
    *this = Magnitude(rounded);
    return;
  }
  enclosure_ = RoundedToOdd(value).Normalized();
  enclosure_.error = Uint128{1} << 8;  // RoundedToOdd keeps 120 of the 127 bits
  parts_ = ToDoubleDouble(enclosure_);
}

Real Magnitude::At(int64_t precision_bits) const {
  return formula_ ? formula_(precision_bits) : Real(64, high());
}

Magnitude RopeMagnitude(const RopeSpec& spec) {
  if (spec.attention_factor) return Magnitude(*spec.attention_factor);
  return std::visit([](const auto& scaling) { return MagnitudeOf(scaling); }, spec.scaling);
}

double RopeSoftmaxScale(const RopeSpec& spec) {
  const auto* yarn = std::get_if<YarnScaling>(&spec.scaling);
  if (yarn == nullptr || yarn->mscale_all_dim == 0) return 1.0;
  Real result = YarnScale(yarn->factor, yarn->mscale_all_dim, kSnapBits);
  mpfr_sqr(result.get(), result.get(), MPFR_RNDN);
  return mpfr_get_d(result.get(), MPFR_RNDN);
}

}  // namespace posenc
