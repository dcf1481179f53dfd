#include "server/encodings/exact/frequency_rule.h"

#include <utility>
#include <variant>

#include "server/encodings/exact/frequency_scaling.h"

namespace posenc {
namespace {

// Repeated multiplication over up to 2^16 frequencies loses 17 bits, and exp of −k/D · ln(base) 11
// as long as the result is above 2^-1100; below, no sine or product with it differs from 0 by the
// least F64.
constexpr int64_t kGuardBits = 64;

class RuleFrequencies final : public FrequencySource {
 public:
  explicit RuleFrequencies(FrequencyRule rule) : rule_(std::move(rule)) {}

  int64_t count() const override { return rule_.count; }
  bool in_turns() const override { return rule_.full_turns; }

  Real At(int64_t k, int64_t precision_bits) const override {
    const int64_t bits = precision_bits + kGuardBits;
    Real w(bits, 1.0);
    if (k > 0 && !IsList()) {
      w = LogRatio(bits);
      mpfr_mul_si(w.get(), w.get(), k, MPFR_RNDN);
      mpfr_exp(w.get(), w.get(), MPFR_RNDN);
    }
    PrepareScaling(rule_, bits)(k, w);
    if (rule_.position_scale != 1) mpfr_mul_d(w.get(), w.get(), rule_.position_scale, MPFR_RNDN);
    return w;
  }

  void ForEach(int64_t precision_bits, const Visit& visit) const override {
    const int64_t bits = precision_bits + kGuardBits;
    Real ratio(bits, 1.0), power(bits, 1.0), w(bits);
    if (rule_.count > 1 && !IsList()) {
      ratio = LogRatio(bits);
      mpfr_exp(ratio.get(), ratio.get(), MPFR_RNDN);
    }
    const ScaleFrequency scale = PrepareScaling(rule_, bits);
    for (int64_t k = 0; k < rule_.count; ++k) {
      mpfr_set(w.get(), power.get(), MPFR_RNDN);
      scale(k, w);
      if (rule_.position_scale != 1) mpfr_mul_d(w.get(), w.get(), rule_.position_scale, MPFR_RNDN);
      visit(k, w);
      mpfr_mul(power.get(), power.get(), ratio.get(), MPFR_RNDN);
    }
  }

 private:
  bool IsList() const { return std::holds_alternative<ExplicitFrequencies>(rule_.scaling); }

  Real LogRatio(int64_t bits) const {  // −ln(base) / D, the base raised by the scaling
    Real denominator(bits, static_cast<double>(rule_.twice_pairs) / 2), log(bits, rule_.base);
    mpfr_sub_d(denominator.get(), denominator.get(), rule_.shift, MPFR_RNDN);
    if (rule_.clamp_denominator && mpfr_cmp_ui(denominator.get(), 1) < 0) {
      mpfr_set_ui(denominator.get(), 1, MPFR_RNDN);
    }
    mpfr_log(log.get(), log.get(), MPFR_RNDN);
    mpfr_add(log.get(), log.get(), LogBaseFactor(rule_, bits).get(), MPFR_RNDN);
    mpfr_div(log.get(), log.get(), denominator.get(), MPFR_RNDN);
    mpfr_neg(log.get(), log.get(), MPFR_RNDN);
    return log;
  }

  FrequencyRule rule_;
};

}  // namespace

Frequencies MakeFrequencies(const FrequencyRule& rule) {
  return std::make_shared<RuleFrequencies>(rule);
}

}  // namespace posenc
