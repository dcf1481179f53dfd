#include "server/encodings/exact/frequency_scaling.h"

#include <memory>
#include <type_traits>
#include <utility>
#include <variant>

namespace posenc {
namespace {

Real Log(int64_t bits, double value) {
  Real result(bits, value);
  mpfr_log(result.get(), result.get(), MPFR_RNDN);
  return result;
}

// x · d / (d − 2).
Real Stretched(Real x, int64_t d) {
  mpfr_mul_si(x.get(), x.get(), d, MPFR_RNDN);
  mpfr_div_si(x.get(), x.get(), d - 2, MPFR_RNDN);
  return x;
}

// s·ℓ/L0 − (s − 1) as 1 + s·(ℓ − L0)/L0, which cancels nothing.
Real DynamicFactor(const DynamicScaling& scaling, int64_t length, int64_t bits) {
  Real result(bits, scaling.factor);
  mpfr_mul_si(result.get(), result.get(), length - scaling.original_max_len, MPFR_RNDN);
  mpfr_div_si(result.get(), result.get(), scaling.original_max_len, MPFR_RNDN);
  mpfr_add_ui(result.get(), result.get(), 1, MPFR_RNDN);
  return result;
}

ScaleFrequency DivideBy(double factor) {
  return [factor](int64_t, Real& w) { mpfr_div_d(w.get(), w.get(), factor, MPFR_RNDN); };
}

ScaleFrequency DivideByList(const std::vector<double>& list) {
  return [&list](int64_t k, Real& w) { mpfr_div_d(w.get(), w.get(), list[k], MPFR_RNDN); };
}

// With r = L0 / wavelength = L0 · w / 2π: r > high keeps w, r < low divides it, and between them w
// is multiplied by (1 − t) / factor + t, t = (r − low) / (high − low). r is transcendental, so it
// equals neither bound, and low == high leaves nothing between.
void ScaleAsLlama3(const Llama3Scaling& scaling, const Real& two_pi, Real& w) {
  const int64_t bits = w.precision_bits();
  Real ratio(bits), t(bits), width(bits, scaling.high_freq_factor);
  mpfr_div(ratio.get(), w.get(), two_pi.get(), MPFR_RNDN);
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

// clamp((k − low) / (high − low), 0, 1).
Real RampAt(const YarnRamp& ramp, int64_t k, int64_t bits) {
  Real result(bits), width(bits);
  mpfr_si_sub(result.get(), k, ramp.low.get(), MPFR_RNDN);
  mpfr_sub(width.get(), ramp.high.get(), ramp.low.get(), MPFR_RNDN);
  mpfr_div(result.get(), result.get(), width.get(), MPFR_RNDN);
  if (mpfr_cmp_ui(result.get(), 0) < 0) mpfr_set_ui(result.get(), 0, MPFR_RNDN);
  if (mpfr_cmp_ui(result.get(), 1) > 0) mpfr_set_ui(result.get(), 1, MPFR_RNDN);
  return result;
}

// w · keep + w/s · (1 − keep), or the geometric mean w · s^-(1 − keep).
void ScaleAsYarn(const YarnScaling& scaling, const YarnRamp& ramp, int64_t k, Real& w) {
  const int64_t bits = w.precision_bits();
  Real keep = RampAt(ramp, k, bits), divide(bits);
  mpfr_ui_sub(keep.get(), 1, keep.get(), MPFR_RNDN);
  mpfr_mul_d(keep.get(), keep.get(), scaling.extrapolation_factor, MPFR_RNDN);
  mpfr_ui_sub(divide.get(), 1, keep.get(), MPFR_RNDN);
  if (scaling.log_mix) {
    mpfr_mul(divide.get(), divide.get(), Log(bits, scaling.factor).get(), MPFR_RNDN);
    mpfr_neg(divide.get(), divide.get(), MPFR_RNDN);
    mpfr_exp(keep.get(), divide.get(), MPFR_RNDN);
  } else {
    mpfr_div_d(divide.get(), divide.get(), scaling.factor, MPFR_RNDN);
    mpfr_add(keep.get(), keep.get(), divide.get(), MPFR_RNDN);
  }
  mpfr_mul(w.get(), w.get(), keep.get(), MPFR_RNDN);
}

// w / exp(A · (k + 1)^b), A = ln(s) / n^b: w · exp(−ln(s) · ((k + 1) / n)^b).
void ScaleAsMixed(double mixed_b, const Real& log_factor, int64_t n, int64_t k, Real& w) {
  const int64_t bits = w.precision_bits();
  Real power(bits, static_cast<double>(k + 1)), exponent(64, mixed_b);
  mpfr_div_si(power.get(), power.get(), n, MPFR_RNDN);
  mpfr_pow(power.get(), power.get(), exponent.get(), MPFR_RNDN);
  mpfr_mul(power.get(), power.get(), log_factor.get(), MPFR_RNDN);
  mpfr_neg(power.get(), power.get(), MPFR_RNDN);
  mpfr_exp(power.get(), power.get(), MPFR_RNDN);
  mpfr_mul(w.get(), w.get(), power.get(), MPFR_RNDN);
}

ScaleFrequency Prepare(const NtkScaling& scaling, const FrequencyRule& rule, int64_t bits) {
  if (scaling.rule == NtkRule::kMixed) {
    return [b = scaling.mixed_b.value_or(1.0), log = Log(bits, scaling.factor),
            n = rule.twice_pairs / 2](int64_t k, Real& w) { ScaleAsMixed(b, log, n, k, w); };
  }
  if (scaling.rule != NtkRule::kVllm) return [](int64_t, Real&) {};
  Real divisor = Log(bits, scaling.factor);  // s^(2/d)
  mpfr_mul_ui(divisor.get(), divisor.get(), 2, MPFR_RNDN);
  mpfr_div_si(divisor.get(), divisor.get(), rule.twice_pairs, MPFR_RNDN);
  mpfr_exp(divisor.get(), divisor.get(), MPFR_RNDN);
  return [divisor](int64_t, Real& w) { mpfr_div(w.get(), w.get(), divisor.get(), MPFR_RNDN); };
}

ScaleFrequency Prepare(const LinearScaling& scaling, const FrequencyRule&, int64_t) {
  return DivideBy(scaling.factor);
}

ScaleFrequency Prepare(const Llama3Scaling& scaling, const FrequencyRule&, int64_t bits) {
  return [&scaling, two_pi = TwoPi(bits)](int64_t, Real& w) { ScaleAsLlama3(scaling, two_pi, w); };
}

ScaleFrequency Prepare(const ExplicitFrequencies& scaling, const FrequencyRule&, int64_t) {
  return [&scaling](int64_t k, Real& w) {
    mpfr_set_d(w.get(), scaling.inverse_frequencies[k], MPFR_RNDN);
  };
}

ScaleFrequency Prepare(const YarnScaling& scaling, const FrequencyRule& rule, int64_t bits) {
  return [&scaling, ramp = YarnRampOf(scaling, rule.twice_pairs, rule.base, bits)](
             int64_t k, Real& w) { ScaleAsYarn(scaling, ramp, k, w); };
}

ScaleFrequency Prepare(const LongRopeScaling& scaling, const FrequencyRule& rule, int64_t) {
  const bool is_long = rule.effective_length.value_or(0) > scaling.original_max_len;
  return DivideByList(is_long ? scaling.long_factor : scaling.short_factor);
}

// How many pairs rotate is the integer part of a product of doubles, as systems compute it.
ScaleFrequency Prepare(const ProportionalScaling& scaling, const FrequencyRule& rule, int64_t) {
  const auto rotating = static_cast<int64_t>(scaling.fraction * static_cast<double>(rule.count));
  return [factor = scaling.factor, rotating](int64_t k, Real& w) {
    if (k < rotating) {
      mpfr_div_d(w.get(), w.get(), factor, MPFR_RNDN);
    } else {
      mpfr_set_zero(w.get(), 1);
    }
  };
}

ScaleFrequency Prepare(const FrequencyDivisors& scaling, const FrequencyRule&, int64_t) {
  return DivideByList(scaling.divisors);
}

// What only raises the base.
ScaleFrequency Keep() {
  return [](int64_t, Real&) {};
}
ScaleFrequency Prepare(const std::monostate&, const FrequencyRule&, int64_t) { return Keep(); }
ScaleFrequency Prepare(const NtkAlphaScaling&, const FrequencyRule&, int64_t) { return Keep(); }
ScaleFrequency Prepare(const DynamicScaling&, const FrequencyRule&, int64_t) { return Keep(); }

// d · ln(L0 / (2π·turns)) / (2·ln(base)): the pair that turns so often within L0.
Real CorrectionPair(const YarnScaling& scaling, int64_t d, double base, double turns, int64_t bits) {
  Real result = TwoPi(bits), length(64);
  mpfr_set_si(length.get(), scaling.original_max_len, MPFR_RNDN);
  mpfr_mul_d(result.get(), result.get(), turns, MPFR_RNDN);
  mpfr_div(result.get(), length.get(), result.get(), MPFR_RNDN);
  mpfr_log(result.get(), result.get(), MPFR_RNDN);
  mpfr_mul_si(result.get(), result.get(), d, MPFR_RNDN);
  mpfr_div(result.get(), result.get(), Log(bits, base).get(), MPFR_RNDN);
  mpfr_div_2ui(result.get(), result.get(), 1, MPFR_RNDN);
  return result;
}

}  // namespace

YarnRamp YarnRampOf(const YarnScaling& scaling, int64_t rotary_dim, double base, int64_t bits) {
  YarnRamp ramp{CorrectionPair(scaling, rotary_dim, base, scaling.beta_fast, bits),
                CorrectionPair(scaling, rotary_dim, base, scaling.beta_slow, bits)};
  if (scaling.truncate) {
    mpfr_floor(ramp.low.get(), ramp.low.get());
    mpfr_ceil(ramp.high.get(), ramp.high.get());
  }
  if (mpfr_cmp_ui(ramp.low.get(), 0) < 0) mpfr_set_ui(ramp.low.get(), 0, MPFR_RNDN);
  if (mpfr_cmp_si(ramp.high.get(), rotary_dim - 1) > 0) {
    mpfr_set_si(ramp.high.get(), rotary_dim - 1, MPFR_RNDN);
  }
  if (mpfr_equal_p(ramp.low.get(), ramp.high.get())) {
    Real guard(bits, 1.0);
    mpfr_div_ui(guard.get(), guard.get(), 1000, MPFR_RNDN);
    mpfr_add(ramp.high.get(), ramp.high.get(), guard.get(), MPFR_RNDN);
  }
  return ramp;
}

Real LogBaseFactor(const FrequencyRule& rule, int64_t bits) {
  const int64_t d = rule.twice_pairs;
  if (const auto* ntk = std::get_if<NtkScaling>(&rule.scaling)) {
    if (ntk->rule == NtkRule::kExponent) return Stretched(Log(bits, ntk->factor), d);
    return ntk->rule == NtkRule::kMixed ? Real(bits) : Log(bits, ntk->factor);
  }
  if (const auto* ntk = std::get_if<NtkAlphaScaling>(&rule.scaling)) {
    return Stretched(Log(bits, ntk->alpha), d);
  }
  if (const auto* dynamic = std::get_if<DynamicScaling>(&rule.scaling)) {
    const int64_t length = rule.effective_length.value_or(0);
    if (length <= dynamic->original_max_len) return Real(bits);
    Real factor = DynamicFactor(*dynamic, length, bits);
    mpfr_log(factor.get(), factor.get(), MPFR_RNDN);
    return Stretched(std::move(factor), d);
  }
  return Real(bits);
}

ScaleFrequency PrepareScaling(const FrequencyRule& rule, int64_t bits) {
  return std::visit([&](const auto& scaling) { return Prepare(scaling, rule, bits); }, rule.scaling);
}

}  // namespace posenc
