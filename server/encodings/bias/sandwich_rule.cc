// MakeSandwichRule of distance_rule.h: (Σ_k cos(r·w_k) − n) · heads / (8 (h + 1)), w_k = 10000^(−2k/head_dim)
// for k = 1 … n = head_dim / 2.
//
// The sum is −2 Σ sin²(r·w_k/2), whose terms have one sign: it keeps its relative accuracy where the
// cosines are near 1. It is the same for all heads, and is kept for every distance. r·w_k/2π is a product of
// whole numbers modulo 2^128, so that distances cost no accuracy.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "server/encodings/bias/distance_rule.h"

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

// w_k / 2π turns, times 2^128; w_k is below 1.
Uint128 TurnsOf(const Real& half_frequency) {
  Real turns(kKeptBits, 0.0), pi(kKeptBits, 0.0);
  mpfr_const_pi(pi.get(), MPFR_RNDN);
  mpfr_div(turns.get(), half_frequency.get(), pi.get(), MPFR_RNDN);
  mpfr_mul_2ui(turns.get(), turns.get(), 64, MPFR_RNDN);
  const auto high = static_cast<uint64_t>(mpfr_get_uj(turns.get(), MPFR_RNDZ));
  mpfr_sub_ui(turns.get(), turns.get(), high, MPFR_RNDN);
  mpfr_mul_2ui(turns.get(), turns.get(), 64, MPFR_RNDN);
  return (Uint128{high} << 64) | static_cast<uint64_t>(mpfr_get_uj(turns.get(), MPFR_RNDZ));
}

class SandwichRule final : public TypedRule<SandwichRule> {
 public:
  SandwichRule(const SandwichBias& rule, const RelativeBiasSpec& spec)
      : head_dim_(rule.head_dim), heads_(spec.heads) {
    for (int64_t k = 1; k <= head_dim_ / 2; ++k) halves_.push_back(HalfFrequency(k, head_dim_, kKeptBits));
    std::vector<Uint128> turns;
    for (const Real& half : halves_) turns.push_back(TurnsOf(half));
    for (int64_t r = 0; r < spec.max_len; ++r) AddSum(static_cast<Uint128>(r), turns);
  }

  size_t footprint_bytes() const override {
    return sizeof(*this) + sums_.capacity() * sizeof(long double) + errors_.capacity() * sizeof(float) +
           halves_.size() * (sizeof(Real) + kKeptBits / 8);
  }

  // The factor rounds once, and so does the product.
  template <typename Float>
  Approximation<Float> Value(const BiasCell& cell) const {
    const Float factor = static_cast<Float>(heads_) / static_cast<Float>(8 * (cell.head + 1));
    const Float value = static_cast<Float>(sums_[cell.distance]) * factor;
    const Float relative = errors_[cell.distance] + 4 * std::numeric_limits<Float>::epsilon();
    return {value, std::fabs(value) * relative};
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
  // The distance's turns are off by at most r · 2^-128 < 2^-107, and by 2^-64 of themselves as a long
  // double, where πt is off by two roundings more; up to π/2 a sine is off by no more of itself than its
  // angle is. With its own error and the square's, a term is off by less than 24ε of itself, and 2^-104; the
  // sum by half an ε of what it has reached for each term.
  void AddSum(Uint128 distance, const std::vector<Uint128>& turns) {
    constexpr long double kEpsilon = std::numeric_limits<long double>::epsilon();
    long double sum = 0, partial_sums = 0;
    for (const Uint128 turn : turns) {
      const auto fraction = static_cast<long double>(static_cast<__int128>(distance * turn)) * 0x1p-128L;
      const long double sine = std::sin(std::numbers::pi_v<long double> * fraction);
      sum += sine * sine;
      partial_sums += sum;
    }
    const long double error = kEpsilon * (24 * sum + partial_sums) + static_cast<long double>(turns.size()) * 0x1p-104L;
    sums_.push_back(-2 * sum);
    errors_.push_back(sum == 0 ? 0 : static_cast<float>(error / sum * 1.001L));
  }

  const int64_t head_dim_;
  const int64_t heads_;
  std::vector<Real> halves_;
  std::vector<long double> sums_;
  std::vector<float> errors_;  // relative
};

}  // namespace

std::unique_ptr<const DistanceRule> MakeSandwichRule(const SandwichBias& rule, const RelativeBiasSpec& spec) {
  return std::make_unique<SandwichRule>(rule, spec);
}

}  // namespace posenc
