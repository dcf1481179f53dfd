// The coordinates of a grid's cells as models compute them in float32. core/specs/grid.h has the rules.
// A pure function, safe from any thread.

#ifndef POSENC_SERVER_ENCODINGS_FLOAT32_GRID_COORDINATES_H_
#define POSENC_SERVER_ENCODINGS_FLOAT32_GRID_COORDINATES_H_

#include <cstddef>
#include <cstdint>

#include "server/core/specs/grid.h"

namespace posenc {

// Returns the coordinate of index j on an axis. Requires: the grid is that of a normalised spec.
float CoordinateF32(const Grid& grid, size_t axis, int64_t j);

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_FLOAT32_GRID_COORDINATES_H_
