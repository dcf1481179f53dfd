#include "server/encodings/bias/distance_rule.h"

#include <cmath>
#include <variant>

namespace posenc {
namespace {

class ProximalRule final : public TypedRule<ProximalRule> {
 public:
  size_t footprint_bytes() const override { return sizeof(*this); }
  template <typename Float>
  Approximation<Float> Value(const BiasCell& cell) const {
    const Float value = std::log1p(static_cast<Float>(cell.distance));
    return {-value, value * kLibraryError<Float>};
  }
  int64_t Compute(const BiasCell& cell, int64_t bits, Real& value) const override {
    if (cell.distance == 0) return kExactly;
    mpfr_set_sj(value.get(), cell.distance, MPFR_RNDN);
    mpfr_log1p(value.get(), value.get(), MPFR_RNDN);
    mpfr_neg(value.get(), value.get(), MPFR_RNDN);
    return mpfr_get_exp(value.get()) - bits + 1;
  }
};

// −r1 · ln(1 + r2 · r).
class KerpleLogRule final : public TypedRule<KerpleLogRule> {
 public:
  explicit KerpleLogRule(const KerpleBias& rule) : rule_(rule) {}
  size_t footprint_bytes() const override { return sizeof(*this) + 16 * rule_.r1.size(); }
  template <typename Float>
  Approximation<Float> Value(const BiasCell& cell) const {
    const Float inner = rule_.r2[cell.head] * static_cast<Float>(cell.distance);
    const Float value = rule_.r1[cell.head] * std::log1p(inner);
    return {-value, value * kLibraryError<Float>};
  }
  int64_t Compute(const BiasCell& cell, int64_t bits, Real& value) const override {
    if (cell.distance == 0) return kExactly;
    Real x(bits, rule_.r2[cell.head]);
    mpfr_mul_si(x.get(), x.get(), cell.distance, MPFR_RNDN);
    mpfr_log1p(x.get(), x.get(), MPFR_RNDN);
    mpfr_mul_d(value.get(), x.get(), -rule_.r1[cell.head], MPFR_RNDN);
    return mpfr_get_exp(value.get()) - bits + 3;
  }

 private:
  const KerpleBias rule_;
};

// −r1 · r^r2.
class KerplePowerRule final : public TypedRule<KerplePowerRule> {
 public:
  explicit KerplePowerRule(const KerpleBias& rule) : rule_(rule) {}
  size_t footprint_bytes() const override { return sizeof(*this) + 16 * rule_.r1.size(); }
  template <typename Float>
  Approximation<Float> Value(const BiasCell& cell) const {
    const Float power = std::pow(static_cast<Float>(cell.distance), Float{rule_.r2[cell.head]});
    const Float value = rule_.r1[cell.head] * power;
    return {-value, value * kLibraryError<Float>};
  }
  // A power of a whole number to a dyadic exponent is irrational or a whole number, which MPFR finds to be
  // exact: nothing else can sit on a boundary.
  int64_t Compute(const BiasCell& cell, int64_t bits, Real& value) const override {
    if (cell.distance == 0) return kExactly;
    Real x(bits, static_cast<double>(cell.distance));
    const Real exponent(53, rule_.r2[cell.head]);
    bool exact = mpfr_pow(x.get(), x.get(), exponent.get(), MPFR_RNDN) == 0;
    exact &= mpfr_mul_d(value.get(), x.get(), -rule_.r1[cell.head], MPFR_RNDN) == 0;
    return exact ? kExactly : mpfr_get_exp(value.get()) - bits + 2;
  }

 private:
  const KerpleBias rule_;
};

using RulePtr = std::unique_ptr<const DistanceRule>;

RulePtr Make(const ProximalBias&, const RelativeBiasSpec&) { return std::make_unique<ProximalRule>(); }
RulePtr Make(const SandwichBias& rule, const RelativeBiasSpec& spec) { return MakeSandwichRule(rule, spec); }
RulePtr Make(const FireBias& rule, const RelativeBiasSpec& spec) { return MakeFireRule(rule, spec); }
RulePtr Make(const KerpleBias& rule, const RelativeBiasSpec&) {
  if (rule.kind == KerpleKind::kPower) return std::make_unique<KerplePowerRule>(rule);
  return std::make_unique<KerpleLogRule>(rule);
}

}  // namespace

RulePtr MakeDistanceRule(const RelativeBiasSpec& spec) {
  return std::visit([&](const auto& rule) { return Make(rule, spec); }, spec.rule);
}

}  // namespace posenc
