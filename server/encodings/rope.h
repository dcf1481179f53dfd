// The rotary family (Su et al. 2021): a spec in, the table's frequencies, form and shape out.
// Pure; safe from any thread.

#ifndef POSENC_SERVER_ENCODINGS_ROPE_H_
#define POSENC_SERVER_ENCODINGS_ROPE_H_

#include "server/core/element_type.h"
#include "server/core/rope_spec.h"
#include "server/encodings/phasor_generator.h"
#include "server/encodings/product_generator.h"

namespace posenc {

// True for the layouts that hold angles, frequencies or periods instead of cosines and sines.
bool HoldsAngles(RopeLayout layout);

// Requires: the spec is normalised and HoldsAngles(spec.layout) is false.
PhasorTable DescribeRope(const RopeSpec& spec, ElementType type);

// Requires: the spec is normalised and HoldsAngles(spec.layout) is true.
ProductTable DescribeRopeAngles(const RopeSpec& spec, ElementType type);

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_ROPE_H_
