// The frequencies of a table as real numbers, at any precision.
//
// w_k = position_scale · f(base^(-k / D)), D = twice_pairs / 2 − shift: the rule of Vaswani et al.
// 2017 (section 3.5) and Su et al. 2021, with f the scaling of a rotary table (linear: Chen et al.
// 2023; llama3: Meta's Llama 3.1), or the caller's own list. Parameters are the doubles given,
// taken exactly; comparisons are decided on far more bits than they need. A value; any method from
// any thread.

#ifndef POSENC_SERVER_ENCODINGS_EXACT_FREQUENCY_RULE_H_
#define POSENC_SERVER_ENCODINGS_EXACT_FREQUENCY_RULE_H_

#include <cstdint>
#include <functional>

#include "server/core/rope_spec.h"
#include "server/encodings/exact/real.h"

namespace posenc {

struct FrequencyRule {
  int64_t count = 0;        // k = 0 … count − 1
  int64_t twice_pairs = 0;  // 2D before the shift: the width that the exponent is counted in
  double base = 10000.0;
  double shift = 0.0;
  bool clamp_denominator = false;  // D at least 1
  double position_scale = 1.0;
  RopeScaling scaling = {};

  // Returns w_k in radians per position. Relative error below 2^-(precision_bits).
  Real At(int64_t k, int64_t precision_bits) const;

  // Calls `visit` with every w_k in order, by one logarithm and repeated multiplication.
  // Relative error below 2^-(precision_bits).
  void ForEach(int64_t precision_bits,
               const std::function<void(int64_t k, const Real& w)>& visit) const;

 private:
  Real LogRatio(int64_t bits) const;  // −ln(base) / D
  void Scale(int64_t k, Real& w) const;
};

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_EXACT_FREQUENCY_RULE_H_
