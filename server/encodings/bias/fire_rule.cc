// MakeFireRule of distance_rule.h: output_bias + Σ_j output_weight_j · max(0, input_weight_j · x + input_bias_j)
// with x = ψ(r) / ψ(max(q, threshold)), ψ(t) = ln(c·t + 1).

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "server/encodings/bias/distance_rule.h"

namespace posenc {
namespace {

// Enough for sums of products of three doubles of the sizes that a spec may have, without a rounding.
constexpr int64_t kExactBits = 4096;

class FireRule final : public TypedRule<FireRule> {
 public:
  FireRule(const FireBias& rule, const RelativeBiasSpec& spec)
      : rule_(rule), hidden_(static_cast<int64_t>(rule.input_weight.size())), threshold_(Psi(rule.threshold)) {
    for (int64_t r = 0; r < spec.max_len; ++r) psi_.push_back(Psi(static_cast<long double>(r)));
    for (int64_t head = 0; head < spec.heads; ++head) {
      double slope = 0, rest = std::fabs(rule.output_bias[head]);
      for (int64_t j = 0; j < hidden_; ++j) {
        slope += std::fabs(Output(head, j) * rule.input_weight[j]);
        rest += std::fabs(Output(head, j) * rule.input_bias[j]);
      }
      sizes_.push_back({slope, rest});
    }
  }

  bool depends_on_query() const override { return true; }
  size_t footprint_bytes() const override {
    const size_t weights = 2 * rule_.input_weight.size() + rule_.output_weight.size() + rule_.output_bias.size();
    return sizeof(*this) + sizeof(double) * (weights + 2 * psi_.capacity() + 2 * sizes_.capacity());
  }

  // ψ is off by at most 8ε, x by 17ε; a unit of the layer by that and three roundings, and since max(0, ·)
  // stretches nothing, so is its share of the sum, which itself rounds once for each unit.
  template <typename Float>
  Approximation<Float> Value(const BiasCell& cell) const {
    const Float x = static_cast<Float>(psi_[cell.distance]) / static_cast<Float>(Normaliser(cell.query));
    Float value = rule_.output_bias[cell.head];
    for (int64_t j = 0; j < hidden_; ++j) {
      const Float unit = rule_.input_weight[j] * x + rule_.input_bias[j];
      value += Output(cell.head, j) * std::max(Float{0}, unit);
    }
    const Float units = static_cast<Float>(hidden_ + 32) * std::numeric_limits<Float>::epsilon();
    return {value, static_cast<Float>(SizeAt(cell.head, static_cast<double>(x))) * units};
  }

  int64_t Compute(const BiasCell& cell, int64_t bits, Real& value) const override {
    const bool one = static_cast<double>(cell.query) >= rule_.threshold && cell.distance == cell.query;
    if (cell.distance == 0 || one) {
      Sum(cell.head, Real(64, cell.distance == 0 ? 0.0 : 1.0), kExactBits, value);
      return kExactly;
    }
    const int64_t work = bits + 32;
    Real x = PsiOf(static_cast<double>(cell.distance), work);
    const double last = std::max(static_cast<double>(cell.query), rule_.threshold);
    mpfr_div(x.get(), x.get(), PsiOf(last, work).get(), MPFR_RNDN);
    if (!Sum(cell.head, x, work, value)) return kExactly;
    // Each term is off by less than 2^(4 − work) of its size, and the sum by a unit for each.
    // Products of weights that are below every double are missing in the size.
    const double size = std::max(SizeAt(cell.head, mpfr_get_d(x.get(), MPFR_RNDN)), std::numeric_limits<double>::min());
    return std::ilogb(size) + 1 + 16 - work;
  }

 private:
  struct Size {
    double slope = 0;  // Σ |output_weight · input_weight|
    double rest = 0;   // Σ |output_weight · input_bias| + |output_bias|
  };

  double Output(int64_t head, int64_t j) const { return rule_.output_weight[head * hidden_ + j]; }
  long double Psi(long double t) const { return std::log1p(rule_.c * t); }
  long double Normaliser(int64_t query) const {
    return static_cast<double>(query) >= rule_.threshold ? psi_[query] : threshold_;
  }
  double SizeAt(int64_t head, double x) const { return 1.001 * (sizes_[head].slope * x + sizes_[head].rest); }

  Real PsiOf(double t, int64_t bits) const {
    Real x(bits + 128, rule_.c);
    mpfr_mul_d(x.get(), x.get(), t, MPFR_RNDN);
    mpfr_log1p(x.get(), x.get(), MPFR_RNDN);
    return x;
  }

  // Sets value to the sum for x, and returns whether a unit of the layer is not certainly 0: if none is,
  // the value is the output's bias itself.
  bool Sum(int64_t head, const Real& x, int64_t work, Real& value) const {
    Real unit(work), sum(work, rule_.output_bias[head]), margin(64);
    bool active = false;
    for (int64_t j = 0; j < hidden_; ++j) {
      if (Output(head, j) == 0) continue;
      mpfr_mul_d(unit.get(), x.get(), rule_.input_weight[j], MPFR_RNDN);
      mpfr_set(margin.get(), unit.get(), MPFR_RNDN);
      mpfr_abs(margin.get(), margin.get(), MPFR_RNDN);
      mpfr_div_2si(margin.get(), margin.get(), work - 8, MPFR_RNDN);
      mpfr_add_d(unit.get(), unit.get(), rule_.input_bias[j], MPFR_RNDN);
      mpfr_add(margin.get(), margin.get(), unit.get(), MPFR_RNDU);
      active |= mpfr_sgn(margin.get()) >= 0;
      if (mpfr_sgn(unit.get()) <= 0) continue;
      mpfr_mul_d(unit.get(), unit.get(), Output(head, j), MPFR_RNDN);
      mpfr_add(sum.get(), sum.get(), unit.get(), MPFR_RNDN);
    }
    mpfr_set_prec(value.get(), work);
    mpfr_set(value.get(), sum.get(), MPFR_RNDN);
    return active;
  }

  const FireBias rule_;
  const int64_t hidden_;
  const long double threshold_;  // ψ(threshold)
  std::vector<long double> psi_;
  std::vector<Size> sizes_;
};

}  // namespace

std::unique_ptr<const DistanceRule> MakeFireRule(const FireBias& rule, const RelativeBiasSpec& spec) {
  return std::make_unique<FireRule>(rule, spec);
}

}  // namespace posenc
