// Sinusoidal tables over grids (Dosovitskiy et al. 2021; He et al. 2022): a spec in, the table's form and
// numbers out. Pure; safe from any thread.

#ifndef POSENC_SERVER_ENCODINGS_SINUSOIDAL_GRID_SINUSOIDAL_H_
#define POSENC_SERVER_ENCODINGS_SINUSOIDAL_GRID_SINUSOIDAL_H_

#include "server/core/element_type.h"
#include "server/core/specs/grid_sinusoidal_spec.h"
#include "server/encodings/phasors/phasor_table.h"

namespace posenc {

// Requires: the spec is normalised.
PhasorForm GridSinusoidalForm(const GridSinusoidalSpec& spec, ElementType type);
PhasorTable DescribeGridSinusoidal(const GridSinusoidalSpec& spec, ElementType type);

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_SINUSOIDAL_GRID_SINUSOIDAL_H_
