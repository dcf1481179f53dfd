// Biases as functions of the distance r between query and key, for each head: t2t's proximity bias,
// Sandwich, KERPLE, FIRE. A rule gives a value in double and in long double with a bound on its error,
// and with any number of bits; relative_bias.h rounds and lays out.
//
// Threads: immutable.

#ifndef POSENC_SERVER_ENCODINGS_BIAS_DISTANCE_RULE_H_
#define POSENC_SERVER_ENCODINGS_BIAS_DISTANCE_RULE_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "server/core/specs/relative_bias_spec.h"
#include "server/encodings/exact/approximation.h"
#include "server/encodings/exact/real.h"

namespace posenc {

// Where a value is wanted.
struct BiasCell {
  int64_t head = 0;
  int64_t query = 0;
  int64_t distance = 0;  // from 0
};

class DistanceRule {
 public:
  virtual ~DistanceRule() = default;

  // Whether the value depends on the query beside the distance.
  virtual bool depends_on_query() const { return false; }
  virtual size_t footprint_bytes() const = 0;

  virtual Approximation<double> Approximate(const BiasCell& cell) const = 0;
  virtual Approximation<long double> ApproximateFinely(const BiasCell& cell) const = 0;
  // As RealFunction (exact/ziv.h).
  virtual int64_t Compute(const BiasCell& cell, int64_t precision_bits, Real& value) const = 0;
};

// The two approximations of a rule that has `template <typename Float> Approximation<Float> Value(cell)`.
template <typename Rule>
class TypedRule : public DistanceRule {
 public:
  Approximation<double> Approximate(const BiasCell& cell) const final {
    return static_cast<const Rule*>(this)->template Value<double>(cell);
  }
  Approximation<long double> ApproximateFinely(const BiasCell& cell) const final {
    return static_cast<const Rule*>(this)->template Value<long double>(cell);
  }
};

// Costs a sine for every distance and pair of dimensions with the rule sandwich, a logarithm for every
// distance with fire. Requires: the spec is normalised.
std::unique_ptr<const DistanceRule> MakeDistanceRule(const RelativeBiasSpec& spec);
std::unique_ptr<const DistanceRule> MakeSandwichRule(const SandwichBias& rule, const RelativeBiasSpec& spec);
std::unique_ptr<const DistanceRule> MakeFireRule(const FireBias& rule, const RelativeBiasSpec& spec);

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_BIAS_DISTANCE_RULE_H_
