#include "tests/unit/encodings/reference_rope.h"

#include <algorithm>
#include <cmath>
#include <variant>

namespace posenc {
namespace {

constexpr mpfr_rnd_t kNear = MPFR_RNDN;

// base^(numerator / denominator).
void Power(mpfr_srcptr base, double numerator, double denominator, mpfr_ptr result) {
  Number exponent;
  mpfr_set_d(exponent.value, numerator, kNear);
  mpfr_div_d(exponent.value, exponent.value, denominator, kNear);
  mpfr_pow(result, base, exponent.value, kNear);
}

void Plain(double base, int64_t k, int64_t d, mpfr_ptr w) {
  Number b;
  mpfr_set_d(b.value, base, kNear);
  Power(b.value, static_cast<double>(-2 * k), static_cast<double>(d), w);
}

// w of the base times factor^(d/(d−2)).
void Ntk(const RopeSpec& spec, int64_t k, mpfr_srcptr factor, mpfr_ptr w) {
  const auto d = static_cast<double>(spec.rotary_dim);
  Number base;
  Power(factor, d, d - 2, base.value);
  mpfr_mul_d(base.value, base.value, spec.base, kNear);
  Power(base.value, static_cast<double>(-2 * k), d, w);
}

void Scale(const std::monostate&, const RopeSpec&, int64_t, mpfr_ptr) {}

void Scale(const LinearScaling& scaling, const RopeSpec&, int64_t, mpfr_ptr w) {
  mpfr_div_d(w, w, scaling.factor, kNear);
}

void Scale(const ExplicitFrequencies& given, const RopeSpec&, int64_t k, mpfr_ptr w) {
  mpfr_set_d(w, given.inverse_frequencies[k], kNear);
}

void Scale(const FrequencyDivisors& given, const RopeSpec&, int64_t k, mpfr_ptr w) {
  mpfr_div_d(w, w, given.divisors[k], kNear);
}

void Scale(const Llama3Scaling& scaling, const RopeSpec&, int64_t, mpfr_ptr w) {
  Number turns, divided, width;
  mpfr_const_pi(turns.value, kNear);
  mpfr_mul_si(turns.value, turns.value, 2, kNear);
  mpfr_div(turns.value, w, turns.value, kNear);
  mpfr_mul_si(turns.value, turns.value, scaling.original_max_len, kNear);
  if (mpfr_cmp_d(turns.value, scaling.high_freq_factor) > 0) return;
  mpfr_div_d(divided.value, w, scaling.factor, kNear);
  if (mpfr_cmp_d(turns.value, scaling.low_freq_factor) < 0) {
    mpfr_set(w, divided.value, kNear);
    return;
  }
  // w' = divided + t · (w − divided).
  mpfr_set_d(width.value, scaling.high_freq_factor, kNear);
  mpfr_sub_d(width.value, width.value, scaling.low_freq_factor, kNear);
  mpfr_sub_d(turns.value, turns.value, scaling.low_freq_factor, kNear);
  mpfr_div(turns.value, turns.value, width.value, kNear);
  mpfr_sub(w, w, divided.value, kNear);
  mpfr_mul(w, w, turns.value, kNear);
  mpfr_add(w, w, divided.value, kNear);
}

void Scale(const NtkScaling& scaling, const RopeSpec& spec, int64_t k, mpfr_ptr w) {
  const auto d = static_cast<double>(spec.rotary_dim);
  Number factor, base, power;
  mpfr_set_d(factor.value, scaling.factor, kNear);
  mpfr_mul_d(base.value, factor.value, spec.base, kNear);
  switch (scaling.rule) {
    case NtkRule::kExponent:
      return Ntk(spec, k, factor.value, w);
    case NtkRule::kBase:
      return Power(base.value, static_cast<double>(-2 * k), d, w);
    case NtkRule::kVllm:
      Power(base.value, static_cast<double>(-2 * k), d, w);
      Power(factor.value, 2, d, power.value);
      mpfr_div(w, w, power.value, kNear);
      return;
    case NtkRule::kMixed:  // A = ln(s) / (d/2)^b
      mpfr_set_d(base.value, d / 2, kNear);
      Power(base.value, *scaling.mixed_b, 1, power.value);
      mpfr_log(factor.value, factor.value, kNear);
      mpfr_div(factor.value, factor.value, power.value, kNear);
      mpfr_set_si(base.value, k + 1, kNear);
      Power(base.value, *scaling.mixed_b, 1, power.value);
      mpfr_mul(power.value, power.value, factor.value, kNear);
      mpfr_exp(power.value, power.value, kNear);
      mpfr_div(w, w, power.value, kNear);
      return;
  }
}

void Scale(const NtkAlphaScaling& scaling, const RopeSpec& spec, int64_t k, mpfr_ptr w) {
  Number alpha;
  mpfr_set_d(alpha.value, scaling.alpha, kNear);
  Ntk(spec, k, alpha.value, w);
}

void Scale(const DynamicScaling& scaling, const RopeSpec& spec, int64_t k, mpfr_ptr w) {
  Number factor, s;
  mpfr_set_d(s.value, scaling.factor, kNear);
  mpfr_mul_si(factor.value, s.value, *spec.effective_length, kNear);
  mpfr_div_si(factor.value, factor.value, scaling.original_max_len, kNear);
  mpfr_sub_si(s.value, s.value, 1, kNear);
  mpfr_sub(factor.value, factor.value, s.value, kNear);
  Ntk(spec, k, factor.value, w);
}

// find_correction_dim of the YaRN code.
void CorrectionDim(const YarnScaling& scaling, const RopeSpec& spec, double rotations, mpfr_ptr dim) {
  Number log, pi;
  mpfr_const_pi(pi.value, kNear);
  mpfr_mul_d(pi.value, pi.value, rotations, kNear);
  mpfr_mul_si(pi.value, pi.value, 2, kNear);
  mpfr_si_div(dim, scaling.original_max_len, pi.value, kNear);
  mpfr_log(dim, dim, kNear);
  mpfr_mul_si(dim, dim, spec.rotary_dim, kNear);
  mpfr_set_d(log.value, spec.base, kNear);
  mpfr_log(log.value, log.value, kNear);
  mpfr_mul_si(log.value, log.value, 2, kNear);
  mpfr_div(dim, dim, log.value, kNear);
}

// linear_ramp_mask of the YaRN code.
void Ramp(const YarnScaling& scaling, const RopeSpec& spec, int64_t k, mpfr_ptr ramp) {
  Number low, high;
  CorrectionDim(scaling, spec, scaling.beta_fast, low.value);
  CorrectionDim(scaling, spec, scaling.beta_slow, high.value);
  if (scaling.truncate) mpfr_floor(low.value, low.value);
  if (scaling.truncate) mpfr_ceil(high.value, high.value);
  if (mpfr_sgn(low.value) < 0) mpfr_set_si(low.value, 0, kNear);
  if (mpfr_cmp_si(high.value, spec.rotary_dim - 1) > 0) mpfr_set_si(high.value, spec.rotary_dim - 1, kNear);
  if (mpfr_cmp(low.value, high.value) == 0) {
    mpfr_set_si(ramp, 1, kNear);
    mpfr_div_si(ramp, ramp, 1000, kNear);
    mpfr_add(high.value, high.value, ramp, kNear);
  }
  mpfr_sub(high.value, high.value, low.value, kNear);
  mpfr_si_sub(ramp, k, low.value, kNear);
  mpfr_div(ramp, ramp, high.value, kNear);
  if (mpfr_sgn(ramp) < 0) mpfr_set_si(ramp, 0, kNear);
  if (mpfr_cmp_si(ramp, 1) > 0) mpfr_set_si(ramp, 1, kNear);
}

void Scale(const YarnScaling& scaling, const RopeSpec& spec, int64_t k, mpfr_ptr w) {
  Number mask, other, interpolated;
  Ramp(scaling, spec, k, mask.value);
  mpfr_si_sub(mask.value, 1, mask.value, kNear);
  mpfr_mul_d(mask.value, mask.value, scaling.extrapolation_factor, kNear);
  mpfr_si_sub(other.value, 1, mask.value, kNear);
  mpfr_div_d(interpolated.value, w, scaling.factor, kNear);
  if (scaling.log_mix) {
    mpfr_log(w, w, kNear);
    mpfr_log(interpolated.value, interpolated.value, kNear);
  }
  mpfr_mul(w, w, mask.value, kNear);
  mpfr_mul(interpolated.value, interpolated.value, other.value, kNear);
  mpfr_add(w, w, interpolated.value, kNear);
  if (scaling.log_mix) mpfr_exp(w, w, kNear);
}

void Scale(const LongRopeScaling& scaling, const RopeSpec&, int64_t k, mpfr_ptr w) {
  const auto& list = scaling.long_factor.empty() ? scaling.short_factor : scaling.long_factor;
  mpfr_div_d(w, w, list[k], kNear);
}

void Scale(const ProportionalScaling& scaling, const RopeSpec& spec, int64_t k, mpfr_ptr w) {
  const double rotating = std::floor(scaling.fraction * static_cast<double>(spec.rotary_dim / 2));
  mpfr_div_d(w, w, scaling.factor, kNear);
  if (static_cast<double>(k) >= rotating) mpfr_set_si(w, 0, kNear);
}

// Frequency k of an axis of `count` pairs in bands of π, divided by π.
void PiBand(const RopeSpec& spec, double count, int64_t k, mpfr_ptr w) {
  const RopeAxes& axes = *spec.axes;
  Number base, share;
  mpfr_set_si(share.value, k, kNear);
  if (count > 1) mpfr_div_d(share.value, share.value, count - 1, kNear);
  mpfr_set_d(base.value, axes.max_frequency / 2, kNear);
  switch (axes.bands) {
    case FrequencyBands::kPixelLinear:
      mpfr_sub_si(w, base.value, 1, kNear);
      mpfr_mul(w, w, share.value, kNear);
      mpfr_add_si(w, w, 1, kNear);
      return;
    case FrequencyBands::kPixelLog:
      mpfr_pow(w, base.value, share.value, kNear);
      return;
    default:
      mpfr_set_d(base.value, spec.base, kNear);
      mpfr_pow(w, base.value, share.value, kNear);
      mpfr_div_si(w, w, 2, kNear);
  }
}

// Frequency k of an axis of `count` pairs.
void Band(const RopeSpec& spec, size_t axis, int64_t k, mpfr_ptr w) {
  const RopeAxes& axes = *spec.axes;
  const auto count = static_cast<double>(axes.sections[axis]);
  Number base, factor;
  mpfr_set_d(base.value, spec.base, kNear);
  if (!axes.ntk_factors.empty()) {
    mpfr_set_d(factor.value, axes.ntk_factors[axis], kNear);
    Power(factor.value, 2 * count, 2 * count - 2, factor.value);
    mpfr_mul(base.value, base.value, factor.value, kNear);
  }
  if (axes.bands == FrequencyBands::kGeometric) {
    return Power(base.value, static_cast<double>(-k), count - axes.frequency_shift, w);
  }
  PiBand(spec, count, k, w);
  if (!axes.full_turns) return;
  mpfr_const_pi(base.value, kNear);
  mpfr_mul(w, w, base.value, kNear);
}

}  // namespace

AngleUnit ReferenceUnit(const RopeSpec& spec) {
  if (!spec.axes) return AngleUnit::kRadians;
  if (spec.axes->full_turns) return AngleUnit::kTurns;
  return spec.axes->bands == FrequencyBands::kGeometric ? AngleUnit::kRadians : AngleUnit::kHalfTurns;
}

namespace {

// The axis that a pair takes its position from.
size_t ReferenceAxis(const RopeSpec& spec, int64_t pair) {
  const RopeAxes& axes = *spec.axes;
  const auto in_sections = [&](int64_t first) {
    size_t axis = 0;
    for (int64_t end = first + axes.sections[0]; pair >= end; end += axes.sections[axis]) ++axis;
    return axis;
  };
  const int64_t h = axes.sections.size() > 1 ? axes.sections[1] : 0;
  const int64_t w = axes.sections.size() > 2 ? axes.sections[2] : 0;
  switch (axes.map) {
    case AxisMap::kInterleaved:
      if (pair % 3 == 1 && pair < 3 * h) return 1;
      return pair % 3 == 2 && pair < 3 * w ? 2 : 0;
    case AxisMap::kInterleavedGgml:
      return pair < 3 * axes.sections[pair % 3] ? static_cast<size_t>(pair % 3) : 3;
    case AxisMap::kAlternating:
      return pair < h + w ? 1 + static_cast<size_t>(pair % 2) : 0;
    case AxisMap::kEvenOdd:
      return 2 * pair < spec.rotary_dim / 2 ? 0 : 1;
    case AxisMap::kRoundRobin:
      return static_cast<size_t>(std::max<int64_t>(0, pair - axes.identity_pairs)) % axes.sections.size();
    default:
      return pair < axes.identity_pairs ? 0 : in_sections(axes.identity_pairs);
  }
}

}  // namespace

double ReferenceCoordinate(const RopeSpec& spec, int64_t pair, const std::vector<double>& position) {
  if (!spec.axes) return position.front();
  const size_t axis = ReferenceAxis(spec, pair);
  if (position.size() > 1) return position[axis];
  return spec.axes->map == AxisMap::kInterleavedGgml && axis == 3 ? 0 : position.front();
}

void ReferenceRopeFrequency(const RopeSpec& spec, int64_t pair, mpfr_ptr w) {
  const bool own = spec.axes && (spec.axes->map == AxisMap::kSeparate || spec.axes->map == AxisMap::kRoundRobin);
  int64_t k = pair;
  if (own) {
    k -= spec.axes->identity_pairs;
    if (k < 0) return mpfr_set_zero(w, 1);
    const size_t axis = ReferenceAxis(spec, pair);
    if (spec.axes->map == AxisMap::kRoundRobin) k /= static_cast<int64_t>(spec.axes->sections.size());
    if (spec.axes->map == AxisMap::kSeparate) {
      for (size_t before = 0; before < axis; ++before) k -= spec.axes->sections[before];
    }
    Band(spec, axis, k, w);
  } else {
    const int64_t half = (spec.rotary_dim / 2 + 1) / 2;
    const bool even_odd = spec.axes && spec.axes->map == AxisMap::kEvenOdd;
    if (even_odd) k = pair < half ? 2 * pair : 2 * (pair - half) + 1;
    Plain(spec.base, k, spec.rotary_dim, w);
  }
  std::visit([&](const auto& scaling) { Scale(scaling, spec, k, w); }, spec.scaling);
}

void ReferenceMagnitude(const RopeSpec& spec, mpfr_ptr m) {
  mpfr_set_d(m, spec.attention_factor.value_or(1.0), kNear);
  if (spec.attention_factor) return;
  Number log, other;
  if (const auto* yarn = std::get_if<YarnScaling>(&spec.scaling); yarn && yarn->factor > 1) {
    mpfr_set_d(log.value, yarn->factor, kNear);
    mpfr_log(log.value, log.value, kNear);
    mpfr_div_si(log.value, log.value, 10, kNear);
    const bool both = yarn->mscale != 0 && yarn->mscale_all_dim != 0;
    mpfr_mul_d(m, log.value, both ? yarn->mscale : 1.0, kNear);
    mpfr_add_si(m, m, 1, kNear);
    mpfr_mul_d(other.value, log.value, both ? yarn->mscale_all_dim : 0.0, kNear);
    mpfr_add_si(other.value, other.value, 1, kNear);
    mpfr_div(m, m, other.value, kNear);
  }
  if (const auto* longrope = std::get_if<LongRopeScaling>(&spec.scaling); longrope && longrope->factor > 1) {
    mpfr_set_d(log.value, longrope->factor, kNear);
    mpfr_log(log.value, log.value, kNear);
    mpfr_set_si(other.value, longrope->original_max_len, kNear);
    mpfr_log(other.value, other.value, kNear);
    mpfr_div(m, log.value, other.value, kNear);
    mpfr_add_si(m, m, 1, kNear);
    mpfr_sqrt(m, m, kNear);
  }
}

void ReferenceXPosScale(const RopeSpec& spec, int64_t pair, bool key, mpfr_srcptr position, mpfr_ptr m) {
  Number g, z, d;
  mpfr_set_si(d.value, 2 * spec.rotary_dim, kNear);  // 0.4 d = 2d / 5, 1.4 d = 7d / 5
  mpfr_div_si(g.value, d.value, 5, kNear);
  mpfr_add_si(g.value, g.value, 2 * pair, kNear);
  mpfr_mul_si(d.value, d.value, 7, kNear);
  mpfr_div_si(d.value, d.value, 10, kNear);
  mpfr_div(g.value, g.value, d.value, kNear);
  mpfr_sub_d(z.value, position, spec.xpos->centre, kNear);
  mpfr_div_d(z.value, z.value, spec.xpos->scale_base, kNear);
  if (key) mpfr_neg(z.value, z.value, kNear);
  mpfr_pow(g.value, g.value, z.value, kNear);
  mpfr_mul(m, m, g.value, kNear);
}

}  // namespace posenc
