#include "server/encodings/exact/frequency_rule.h"

#include <variant>

namespace posenc {
namespace {

// Repeated multiplication over up to 2^16 frequencies loses 17 bits, and exp of −k/D · ln(base) 11
// as long as the result is above 2^-1100; below, no sine or product with it differs from 0 by the
// least F64.
constexpr int64_t kGuardBits = 64;

void ScaleBy(const std::monostate&, int64_t, Real&) {}

void ScaleBy(const LinearScaling& scaling, int64_t, Real& w) {
  mpfr_div_d(w.get(), w.get(), scaling.factor, MPFR_RNDN);
}

// With r = L0 / wavelength = L0 · w / 2π: r > high keeps w, r < low divides it, and between them w
// is multiplied by (1 − t) / factor + t, t = (r − low) / (high − low). r is transcendental, so it
// equals neither bound, and low == high leaves nothing between.
void ScaleBy(const Llama3Scaling& scaling, int64_t, Real& w) {
  const int64_t bits = w.precision_bits();
  Real ratio(bits), t(bits), width(bits, scaling.high_freq_factor);
  mpfr_div(ratio.get(), w.get(), TwoPi(bits).get(), MPFR_RNDN);
  mpfr_mul_si(ratio.get(), ratio.get(), scaling.original_max_len, MPFR_RNDN);
  if (mpfr_cmp_d(ratio.get(), scaling.high_freq_factor) > 0) return;
  if (mpfr_cmp_d(ratio.get(), scaling.low_freq_factor) < 0) {
    mpfr_div_d(w.get(), w.get(), scaling.factor, MPFR_RNDN);
    return;
  }
  mpfr_sub_d(width.get(), width.get(), scaling.low_freq_factor, MPFR_RNDN);
  mpfr_sub_d(t.get(), ratio.get(), scaling.low_freq_factor, MPFR_RNDN);
  mpfr_div(t.get(), t.get(), width.get(), MPFR_RNDN);
  mpfr_ui_sub(width.get(), 1, t.get(), MPFR_RNDN);
  mpfr_div_d(width.get(), width.get(), scaling.factor, MPFR_RNDN);
  mpfr_add(t.get(), t.get(), width.get(), MPFR_RNDN);
  mpfr_mul(w.get(), w.get(), t.get(), MPFR_RNDN);
}

void ScaleBy(const ExplicitFrequencies& scaling, int64_t k, Real& w) {
  mpfr_set_d(w.get(), scaling.inverse_frequencies[k], MPFR_RNDN);
}

}  // namespace

Real FrequencyRule::LogRatio(int64_t bits) const {
  Real denominator(bits, static_cast<double>(twice_pairs) / 2), log(bits, base);
  mpfr_sub_d(denominator.get(), denominator.get(), shift, MPFR_RNDN);
  if (clamp_denominator && mpfr_cmp_ui(denominator.get(), 1) < 0) {
    mpfr_set_ui(denominator.get(), 1, MPFR_RNDN);
  }
  mpfr_log(log.get(), log.get(), MPFR_RNDN);
  mpfr_div(log.get(), log.get(), denominator.get(), MPFR_RNDN);
  mpfr_neg(log.get(), log.get(), MPFR_RNDN);
  return log;
}

void FrequencyRule::Scale(int64_t k, Real& w) const {
  std::visit([&](const auto& rule) { ScaleBy(rule, k, w); }, scaling);
  if (position_scale != 1) mpfr_mul_d(w.get(), w.get(), position_scale, MPFR_RNDN);
}

Real FrequencyRule::At(int64_t k, int64_t precision_bits) const {
  const int64_t bits = precision_bits + kGuardBits;
  Real w(bits, 1.0);
  if (k > 0 && !std::holds_alternative<ExplicitFrequencies>(scaling)) {
    w = LogRatio(bits);
    mpfr_mul_si(w.get(), w.get(), k, MPFR_RNDN);
    mpfr_exp(w.get(), w.get(), MPFR_RNDN);
  }
  Scale(k, w);
  return w;
}

void FrequencyRule::ForEach(int64_t precision_bits,
                            const std::function<void(int64_t k, const Real& w)>& visit) const {
  const int64_t bits = precision_bits + kGuardBits;
  Real ratio(bits, 1.0), power(bits, 1.0), w(bits);
  if (count > 1 && !std::holds_alternative<ExplicitFrequencies>(scaling)) {
    ratio = LogRatio(bits);
    mpfr_exp(ratio.get(), ratio.get(), MPFR_RNDN);
  }
  for (int64_t k = 0; k < count; ++k) {
    mpfr_set(w.get(), power.get(), MPFR_RNDN);
    Scale(k, w);
    visit(k, w);
    mpfr_mul(power.get(), power.get(), ratio.get(), MPFR_RNDN);
  }
}

}  // namespace posenc
