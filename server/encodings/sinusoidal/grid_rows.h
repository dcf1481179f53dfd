// The rows of a grid of patches: which cell each one is, and the exact coordinate of an index on an axis.
// core/specs/grid.h has the rules and who uses them. Pure functions, safe from any thread.

#ifndef POSENC_SERVER_ENCODINGS_SINUSOIDAL_GRID_ROWS_H_
#define POSENC_SERVER_ENCODINGS_SINUSOIDAL_GRID_ROWS_H_

#include <array>
#include <cstdint>
#include <optional>

#include "server/core/limits.h"
#include "server/core/specs/grid.h"
#include "server/encodings/exact/coordinate.h"

namespace posenc {

// The index of a cell on each axis.
using CellIndex = std::array<int64_t, limits::kMaxAxes>;

// Returns the cell that stands in `row`, nothing for a row of a class token.
std::optional<CellIndex> CellOfRow(const Grid& grid, int64_t row);

// Returns the coordinate of index j on an axis.
Coordinate CoordinateOf(const Grid& grid, size_t axis, int64_t j);

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_SINUSOIDAL_GRID_ROWS_H_
