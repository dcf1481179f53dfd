// The sinusoidal family (Vaswani et al. 2017, section 3.5): a spec in, the table's frequencies,
// columns and shape out. Pure; safe from any thread.

#ifndef POSENC_SERVER_ENCODINGS_SINUSOIDAL_H_
#define POSENC_SERVER_ENCODINGS_SINUSOIDAL_H_

#include "server/core/element_type.h"
#include "server/core/sinusoidal_spec.h"
#include "server/encodings/phasor_generator.h"

namespace posenc {

// Requires: the spec is normalised.
PhasorTable DescribeSinusoidal(const SinusoidalSpec& spec, ElementType type);

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_SINUSOIDAL_H_
