// What table: the parameters that decide its numbers, as plain structs.
//
// A spec is a value. Its defaults are the field's own defaults, so a spec with only the width set is
// complete. Widths, lengths and positions count elements and rows; base, factors and scales are pure
// numbers; angles are in radians. Normalise (normalize.h) checks a spec and fills in what depends on
// other fields; everything after it sees normalised specs only. proto/posenc/v1/spec.proto mirrors this
// file field by field, and the CLI's flags are the field names with dashes.

#ifndef POSENC_SERVER_CORE_SPEC_H_
#define POSENC_SERVER_CORE_SPEC_H_

#include <cstdint>
#include <variant>

#include "server/core/alibi_spec.h"
#include "server/core/element_type.h"
#include "server/core/rope_spec.h"
#include "server/core/sinusoidal_spec.h"

namespace posenc {

// How values are computed. kExact: the formula in real arithmetic, rounded once to the element type.
enum class Arithmetic : uint8_t { kExact = 1 };

using FamilySpec = std::variant<SinusoidalSpec, RopeSpec, AlibiSpec>;

// One table.
struct TableSpec {
  FamilySpec family = {};
  ElementType element_type = ElementType::kF32;
  Arithmetic arithmetic = Arithmetic::kExact;
};

}  // namespace posenc

#endif  // POSENC_SERVER_CORE_SPEC_H_
