// What a RopeScaling makes of geometric frequencies, at one precision.
//
// A scaling acts in three places: it may raise the base (the NTK family), put a factor on every
// frequency, or treat each frequency by itself (YaRN, Llama 3, lists). What does not depend on k is
// computed once, when the scaling is prepared. Formulas: core/specs/rope_scaling.h, ntk_scaling.h,
// yarn_scaling.h. Pure functions, safe from any thread.

#ifndef POSENC_SERVER_ENCODINGS_EXACT_FREQUENCY_SCALING_H_
#define POSENC_SERVER_ENCODINGS_EXACT_FREQUENCY_SCALING_H_

#include <cstdint>
#include <functional>

#include "server/encodings/exact/frequency_rule.h"

namespace posenc {

// Returns ln of the factor that the rule's scaling puts on its base.
Real LogBaseFactor(const FrequencyRule& rule, int64_t bits);

// Changes frequency k, which has the raised base already.
using ScaleFrequency = std::function<void(int64_t k, Real& w)>;
ScaleFrequency PrepareScaling(const FrequencyRule& rule, int64_t bits);

// The ends of YaRN's ramp, in pairs: rounded to whole ones when the scaling truncates.
struct YarnRamp {
  Real low;
  Real high;
};
YarnRamp YarnRampOf(const YarnScaling& scaling, int64_t rotary_dim, double base, int64_t bits);

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_EXACT_FREQUENCY_SCALING_H_
