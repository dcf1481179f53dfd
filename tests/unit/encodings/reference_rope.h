// The formulas of rotary tables in MPFR, for Reference: each as its system writes it, pair by pair.

#ifndef POSENC_TESTS_UNIT_ENCODINGS_REFERENCE_ROPE_H_
#define POSENC_TESTS_UNIT_ENCODINGS_REFERENCE_ROPE_H_

#include <mpfr.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/core/specs/rope_spec.h"
#include "tests/unit/encodings/reference.h"

namespace posenc {

AngleUnit ReferenceUnit(const RopeSpec& spec);

// Frequency of a pair, in that unit.
void ReferenceRopeFrequency(const RopeSpec& spec, int64_t pair, mpfr_ptr w);

// What a pair turns by, of a position that has one coordinate for each axis, or one for all. Text has 0 on
// the fourth axis of llama.cpp's interleaving.
double ReferenceCoordinate(const RopeSpec& spec, int64_t pair, const std::vector<double>& position);

// The factor on cosines and sines.
void ReferenceMagnitude(const RopeSpec& spec, mpfr_ptr m);

// Multiplies `m` by xPos' scale of queries or keys.
void ReferenceXPosScale(const RopeSpec& spec, int64_t pair, bool key, mpfr_srcptr position, mpfr_ptr m);

}  // namespace posenc

#endif  // POSENC_TESTS_UNIT_ENCODINGS_REFERENCE_ROPE_H_
