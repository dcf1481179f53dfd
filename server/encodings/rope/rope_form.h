// The form of rotary tables (Su et al. 2021): shape, layout and axes, whatever the arithmetic.
// Pure; safe from any thread.

#ifndef POSENC_SERVER_ENCODINGS_ROPE_ROPE_FORM_H_
#define POSENC_SERVER_ENCODINGS_ROPE_ROPE_FORM_H_

#include "server/core/element_type.h"
#include "server/core/specs/rope_spec.h"
#include "server/encodings/phasors/phasor_table.h"

namespace posenc {

// True for the layouts that hold angles, frequencies or periods instead of cosines and sines. Their
// forms have one segment of cosines, which are the angles.
bool HoldsAngles(RopeLayout layout);

// Requires: the spec is normalised, and has no dual_chunk (chunk_generator.h). With xpos the tensors are
// q_cos, q_sin, k_cos, k_sin and the segment's places those of the first two.
PhasorForm RopeForm(const RopeSpec& spec, ElementType type);

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_ROPE_ROPE_FORM_H_
