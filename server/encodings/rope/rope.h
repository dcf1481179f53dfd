// The rotary family (Su et al. 2021) in exact arithmetic: a spec in, the table's form and numbers out.
// Pure; safe from any thread.

#ifndef POSENC_SERVER_ENCODINGS_ROPE_ROPE_H_
#define POSENC_SERVER_ENCODINGS_ROPE_ROPE_H_

#include "server/core/element_type.h"
#include "server/core/specs/rope_spec.h"
#include "server/encodings/phasors/phasor_table.h"

namespace posenc {

// The frequencies of all pairs. Requires: the spec is normalised.
Frequencies RopeFrequencies(const RopeSpec& spec);

// Requires: the spec is normalised.
PhasorTable DescribeRope(const RopeSpec& spec, ElementType type);

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_ROPE_ROPE_H_
