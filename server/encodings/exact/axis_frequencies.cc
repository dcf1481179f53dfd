#include "server/encodings/exact/axis_frequencies.h"

#include <utility>

#include "server/encodings/exact/frequency_rule.h"

namespace posenc {
namespace {

constexpr int64_t kGuardBits = 64;

// The bands that are fractions of π, in turns.
class PiBands final : public FrequencySource {
 public:
  explicit PiBands(BandRule rule) : rule_(rule) {}

  int64_t count() const override { return rule_.count; }
  bool in_turns() const override { return true; }

  Real At(int64_t k, int64_t precision_bits) const override {
    const int64_t bits = precision_bits + kGuardBits;
    Real value = InHalfTurns(k, bits);
    if (rule_.full_turns) {  // 2π times the frequency: that many turns
      mpfr_mul(value.get(), value.get(), TwoPi(bits).get(), MPFR_RNDN);
    }
    mpfr_div_2ui(value.get(), value.get(), 1, MPFR_RNDN);
    mpfr_mul_d(value.get(), value.get(), rule_.position_scale, MPFR_RNDN);
    return value;
  }

  void ForEach(int64_t precision_bits, const Visit& visit) const override {
    for (int64_t k = 0; k < rule_.count; ++k) visit(k, At(k, precision_bits));
  }

 private:
  // Frequency k divided by π.
  Real InHalfTurns(int64_t k, int64_t bits) const {
    const bool rising = rule_.bands == FrequencyBands::kRising;
    Real value(bits, rising ? rule_.base : rule_.max_frequency);
    if (rule_.bands == FrequencyBands::kPixelLinear) {  // 1 + k · (max/2 − 1) / (K − 1)
      mpfr_div_2ui(value.get(), value.get(), 1, MPFR_RNDN);
      mpfr_sub_ui(value.get(), value.get(), 1, MPFR_RNDN);
      MultiplyByShare(k, value);
      mpfr_add_ui(value.get(), value.get(), 1, MPFR_RNDN);
      return value;
    }
    if (!rising) mpfr_div_2ui(value.get(), value.get(), 1, MPFR_RNDN);
    mpfr_log(value.get(), value.get(), MPFR_RNDN);  // base^t / 2, or (max/2)^t, t = k / (K − 1)
    MultiplyByShare(k, value);
    mpfr_exp(value.get(), value.get(), MPFR_RNDN);
    if (rising) mpfr_div_2ui(value.get(), value.get(), 1, MPFR_RNDN);
    return value;
  }

  void MultiplyByShare(int64_t k, Real& value) const {
    mpfr_mul_si(value.get(), value.get(), k, MPFR_RNDN);
    if (rule_.count > 1) mpfr_div_si(value.get(), value.get(), rule_.count - 1, MPFR_RNDN);
  }

  BandRule rule_;
};

class ArrangedFrequencies final : public FrequencySource {
 public:
  ArrangedFrequencies(std::vector<Frequencies> parts, std::vector<PairOrigin> origins, double divisor)
      : parts_(std::move(parts)), origins_(std::move(origins)), divisor_(divisor) {}

  int64_t count() const override { return static_cast<int64_t>(origins_.size()); }
  bool in_turns() const override { return !parts_.empty() && parts_.front()->in_turns(); }

  Real At(int64_t k, int64_t precision_bits) const override {
    const PairOrigin& origin = origins_[k];
    if (origin.part < 0) return Real(precision_bits);
    return Divided(parts_[origin.part]->At(origin.index, precision_bits + 2));
  }

  void ForEach(int64_t precision_bits, const Visit& visit) const override {
    std::vector<std::vector<Real>> values(parts_.size());
    for (size_t part = 0; part < parts_.size(); ++part) {
      parts_[part]->ForEach(precision_bits + 2,
                            [&](int64_t, const Real& value) { values[part].push_back(Divided(value)); });
    }
    for (int64_t k = 0; k < count(); ++k) {
      const PairOrigin& origin = origins_[k];
      visit(k, origin.part < 0 ? Real(precision_bits) : values[origin.part][origin.index]);
    }
  }

 private:
  Real Divided(Real value) const {
    if (divisor_ != 1) mpfr_div_d(value.get(), value.get(), divisor_, MPFR_RNDN);
    return value;
  }

  std::vector<Frequencies> parts_;
  std::vector<PairOrigin> origins_;
  double divisor_;
};

}  // namespace

Frequencies MakeBands(const BandRule& rule) {
  if (rule.bands != FrequencyBands::kGeometric) return std::make_shared<PiBands>(rule);
  FrequencyRule geometric{.count = rule.count,
                          .twice_pairs = 2 * rule.count,
                          .base = rule.base,
                          .shift = rule.shift,
                          .position_scale = rule.position_scale,
                          .full_turns = rule.full_turns};
  if (rule.ntk_factor != 1) geometric.scaling = NtkScaling{.factor = rule.ntk_factor};
  return MakeFrequencies(geometric);
}

Frequencies Arrange(std::vector<Frequencies> parts, std::vector<PairOrigin> origins, double divisor) {
  return std::make_shared<ArrangedFrequencies>(std::move(parts), std::move(origins), divisor);
}

}  // namespace posenc
