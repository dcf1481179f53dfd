// The sinusoidal family (Vaswani et al. 2017): a spec in, the table's form and numbers out.
// Pure; safe from any thread.

#ifndef POSENC_SERVER_ENCODINGS_SINUSOIDAL_SINUSOIDAL_H_
#define POSENC_SERVER_ENCODINGS_SINUSOIDAL_SINUSOIDAL_H_

#include "server/core/element_type.h"
#include "server/core/specs/sinusoidal_spec.h"
#include "server/encodings/phasors/phasor_table.h"

namespace posenc {

// Requires: the spec is normalised.
PhasorForm SinusoidalForm(const SinusoidalSpec& spec, ElementType type);
PhasorTable DescribeSinusoidal(const SinusoidalSpec& spec, ElementType type);

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_SINUSOIDAL_SINUSOIDAL_H_
