// The geometric rule: frequencies base^(-k / D), D = twice_pairs / 2 − shift, and its scalings.
//
// The rule of Vaswani et al. 2017 (section 3.5) and Su et al. 2021, with the scalings of a rotary table
// (core/specs/rope_scaling.h has their formulas and sources), or the caller's own list. Times position_scale;
// times 2π with full_turns. A value.

#ifndef POSENC_SERVER_ENCODINGS_EXACT_FREQUENCY_RULE_H_
#define POSENC_SERVER_ENCODINGS_EXACT_FREQUENCY_RULE_H_

#include <cstdint>
#include <optional>

#include "server/core/specs/rope_spec.h"
#include "server/encodings/exact/frequency_source.h"

namespace posenc {

struct FrequencyRule {
  int64_t count = 0;        // k = 0 … count − 1
  int64_t twice_pairs = 0;  // 2D before the shift: the width that the exponent is counted in
  double base = 10000.0;
  double shift = 0.0;
  bool clamp_denominator = false;  // D at least 1
  double position_scale = 1.0;
  bool full_turns = false;
  RopeScaling scaling = {};
  std::optional<int64_t> effective_length = std::nullopt;  // of dynamic and longrope scaling
};

// Requires: the scaling is that of a normalised spec.
Frequencies MakeFrequencies(const FrequencyRule& rule);

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_EXACT_FREQUENCY_RULE_H_
