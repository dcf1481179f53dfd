// The generator of a sinusoidal, grid-sinusoidal or rotary table in exact arithmetic: chooses among the
// generators of rows by position, of cells of grids, of angles, and their decorators.
// Pure; safe from any thread.

#ifndef POSENC_SERVER_ENCODINGS_PHASOR_TABLES_H_
#define POSENC_SERVER_ENCODINGS_PHASOR_TABLES_H_

#include <memory>

#include "server/core/specs/spec.h"
#include "server/encodings/table_generator.h"

namespace posenc {

// Requires: the spec is normalised.
std::shared_ptr<const TableGenerator> MakeExactSinusoidal(const SinusoidalSpec& spec, ElementType type);
std::shared_ptr<const TableGenerator> MakeExactGridSinusoidal(const GridSinusoidalSpec& spec,
                                                              ElementType type);
std::shared_ptr<const TableGenerator> MakeExactRope(const RopeSpec& spec, ElementType type);

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_PHASOR_TABLES_H_
