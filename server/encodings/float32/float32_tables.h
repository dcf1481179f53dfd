// The generator of a sinusoidal, grid-sinusoidal or rotary table in the arithmetic of float32 pipelines.
// Pure; safe from any thread.

#ifndef POSENC_SERVER_ENCODINGS_FLOAT32_FLOAT32_TABLES_H_
#define POSENC_SERVER_ENCODINGS_FLOAT32_FLOAT32_TABLES_H_

#include <memory>

#include "server/core/specs/spec.h"
#include "server/encodings/table_generator.h"

namespace posenc {

// Requires: the spec is normalised; the arithmetic is not kExact.
std::shared_ptr<const TableGenerator> MakeFloat32Sinusoidal(const SinusoidalSpec& spec, ElementType type);
std::shared_ptr<const TableGenerator> MakeFloat32GridSinusoidal(const GridSinusoidalSpec& spec,
                                                                ElementType type);
std::shared_ptr<const TableGenerator> MakeFloat32Rope(const RopeSpec& spec, ElementType type,
                                                      Arithmetic arithmetic);

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_FLOAT32_FLOAT32_TABLES_H_
