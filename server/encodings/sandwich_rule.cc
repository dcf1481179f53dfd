// MakeSandwichRule of distance_rule.h: (Σ_k cos(r·w_k) − n) · heads / (8 (h + 1)), w_k = 10000^(−2k/head_dim)
// for k = 1 … n = head_dim / 2.
//
// The sum is −2 Σ sin²(r·w_k/2), whose terms have one sign: it keeps its relative accuracy where the
// cosines are near 1. It is the same for all heads, and is kept for every distance.

#include <algorithm>
#include <cmath>
#include <vector>

#include "server/encodings/distance_rule.h"

namespace posenc {
namespace {

// Precision of the frequencies that are kept; more is computed when it is needed.
constexpr int64_t kKeptBits = 256;

// Half of w_k, relative error below 2^(6 − bits).
Real HalfFrequency(int64_t k, int64_t head_dim, int64_t bits) {
  Real w(bits, 10000.0);
  mpfr_log(w.get(), w.get(), MPFR_RNDN);
  mpfr_mul_si(w.get(), w.get(), -2 * k, MPFR_RNDN);
  mpfr_div_si(w.get(), w.get(), head_dim, MPFR_RNDN);
  mpfr_exp(w.get(), w.get(), MPFR_RNDN);
  mpfr_div_2ui(w.get(), w.get(), 1, MPFR_RNDN);
  return w;
}

class SandwichRule final : public DistanceRule {
 public:
  SandwichRule(const SandwichBias& rule, const RelativeBiasSpec& spec)
      : head_dim_(rule.head_dim), heads_(spec.heads) {
    for (int64_t k = 1; k <= head_dim_ / 2; ++k) halves_.push_back(HalfFrequency(k, head_dim_, kKeptBits));
    std::vector<double> halves;
    for (const Real& half : halves_) halves.push_back(mpfr_get_d(half.get(), MPFR_RNDN));
    sums_.reserve(spec.max_len);
    for (int64_t r = 0; r < spec.max_len; ++r) sums_.push_back(SumOf(static_cast<double>(r), halves));
  }

  size_t footprint_bytes() const override {
    return sizeof(*this) + sums_.capacity() * sizeof(Approximation) + halves_.size() * (sizeof(Real) + kKeptBits / 8);
  }

  Approximation Approximate(const BiasCell& cell) const override {
    const double factor = static_cast<double>(heads_) / static_cast<double>(8 * (cell.head + 1));
    const Approximation& sum = sums_[cell.distance];
    return {sum.value * factor, sum.error * factor * 1.001 + std::fabs(sum.value) * factor * 0x1p-51};
  }

  // With 64 bits more than asked for: angles are below 2^20 and sines add up over at most 2^15 terms, each
  // with an error below angle · 2^(8 − work), so the absolute error is below 2^(47 − work) before the
  // factor, which is at most 2^9.
  int64_t Compute(const BiasCell& cell, int64_t bits, Real& value) const override {
    if (cell.distance == 0) return kExactly;
    const int64_t work = bits + 64;
    Real sum(work), term(work);
    for (int64_t k = 1; k <= head_dim_ / 2; ++k) {
      const bool kept = work <= kKeptBits;
      const Real half = kept ? Real(1) : HalfFrequency(k, head_dim_, work);
      mpfr_mul_si(term.get(), (kept ? halves_[k - 1] : half).get(), cell.distance, MPFR_RNDN);
      mpfr_sin(term.get(), term.get(), MPFR_RNDN);
      mpfr_sqr(term.get(), term.get(), MPFR_RNDN);
      mpfr_add(sum.get(), sum.get(), term.get(), MPFR_RNDN);
    }
    mpfr_mul_si(sum.get(), sum.get(), -2 * heads_, MPFR_RNDN);
    mpfr_div_si(value.get(), sum.get(), 8 * (cell.head + 1), MPFR_RNDN);
    return std::max<int64_t>(56 - work, mpfr_get_exp(value.get()) - bits) + 1;
  }

 private:
  // An angle a is off by less than 2^-51 · a, its sin² by |sin 2a| · 2^-51 · a ≤ min(a, 2a²) · 2^-51 and
  // the square of that; the sine and the square add three units of 2^-52 of the term, the sum half a unit
  // of what it has reached for each term.
  static Approximation SumOf(double distance, const std::vector<double>& halves) {
    double sum = 0, error = 0, partial_sums = 0;
    for (const double half : halves) {
      const double angle = distance * half, sine = std::sin(angle), term = sine * sine;
      sum += term;
      partial_sums += sum;
      error += std::min(angle, 2 * angle * angle) + 2 * term;
    }
    return {-2 * sum, 2 * (error * 0x1p-50 + partial_sums * 0x1p-52)};
  }

  const int64_t head_dim_;
  const int64_t heads_;
  std::vector<Real> halves_;
  std::vector<Approximation> sums_;
};

}  // namespace

std::unique_ptr<const DistanceRule> MakeSandwichRule(const SandwichBias& rule, const RelativeBiasSpec& spec) {
  return std::make_unique<SandwichRule>(rule, spec);
}

}  // namespace posenc
