// Which axis each pair of a rotary table takes its position from, and where its frequency comes from:
// the rules of core/rope_axes.h. Pure functions, safe from any thread.

#ifndef POSENC_SERVER_ENCODINGS_ROPE_AXIS_MAPS_H_
#define POSENC_SERVER_ENCODINGS_ROPE_AXIS_MAPS_H_

#include <cstdint>
#include <vector>

#include "server/core/specs/rope_axes.h"
#include "server/encodings/exact/axis_frequencies.h"

namespace posenc {

// Whether every axis has frequencies of its own; part is then the axis, otherwise 0 for all.
bool HasOwnSpectra(AxisMap map);

// Returns the origin of each of the `pairs` pairs. Requires: the axes are those of a normalised spec.
std::vector<PairOrigin> PairOrigins(const RopeAxes& axes, int64_t pairs);

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_ROPE_AXIS_MAPS_H_
