#include "server/encodings/sinusoidal/grid_rows.h"

#include <algorithm>
#include <utility>

namespace posenc {
namespace {

int64_t EntryOr(const std::vector<int64_t>& list, size_t axis, int64_t other) {
  return list.empty() ? other : list[axis];
}

double ScaleOf(const Grid& grid, size_t axis) { return grid.scales.empty() ? 1.0 : grid.scales[axis]; }

Real Whole(int64_t value) {
  Real result(Coordinate::kBits);
  mpfr_set_si(result.get(), value, MPFR_RNDN);
  return result;
}

Real Times(Real value, double factor) {
  mpfr_mul_d(value.get(), value.get(), factor, MPFR_RNDN);
  return value;
}

// The side that centred coordinates are divided by.
int64_t NormalSide(const Grid& grid, size_t axis) {
  switch (grid.normalize) {
    case GridNormalize::kMax:
      return *std::max_element(grid.sizes.begin(), grid.sizes.end());
    case GridNormalize::kMin:
      return *std::min_element(grid.sizes.begin(), grid.sizes.end());
    default:
      return grid.sizes[axis];
  }
}

// 2·(start + j)·scale / reference − 1.
Coordinate Fraction(const Grid& grid, size_t axis, int64_t j) {
  const Real reference = Whole(grid.references[axis]);
  Real numerator = Times(Whole(2 * (EntryOr(grid.starts, axis, 0) + j)), ScaleOf(grid, axis));
  mpfr_sub(numerator.get(), numerator.get(), reference.get(), MPFR_RNDN);
  return {std::move(numerator), reference};
}

}  // namespace

std::optional<CellIndex> CellOfRow(const Grid& grid, int64_t row) {
  int64_t cell = row - grid.leading_rows;
  if (cell < 0 || cell >= grid.cells()) return std::nullopt;
  CellIndex index{};
  size_t outer = grid.sizes.size();
  if (grid.merge > 1) {  // the last two axes come in blocks
    outer -= 2;
    const int64_t merge = grid.merge, width = grid.sizes[outer + 1];
    const int64_t plane = grid.sizes[outer] * width, in_plane = cell % plane;
    const int64_t block = in_plane / (merge * merge), inside = in_plane % (merge * merge);
    const int64_t blocks_across = width / merge;
    index[outer] = block / blocks_across * merge + inside / merge;
    index[outer + 1] = block % blocks_across * merge + inside % merge;
    cell /= plane;
  }
  while (outer > 0) {
    --outer;
    index[outer] = cell % grid.sizes[outer];
    cell /= grid.sizes[outer];
  }
  return index;
}

Coordinate CoordinateOf(const Grid& grid, size_t axis, int64_t j) {
  const int64_t size = grid.sizes[axis], start = EntryOr(grid.starts, axis, 0);
  const double scale = ScaleOf(grid, axis);
  const auto quotient = [&](int64_t numerator, int64_t denominator) {
    return Coordinate(Times(Whole(numerator), scale), Whole(denominator));
  };
  switch (grid.coordinates) {
    case GridCoordinates::kIndex:
      return quotient(start + j, 1);
    case GridCoordinates::kCentred: {
      const int64_t side = NormalSide(grid, axis);
      return quotient(2 * j + 1 - side, side);
    }
    case GridCoordinates::kLinspace:
      return quotient(start * (size - 1) + j * (grid.stops[axis] - start), size - 1);
    case GridCoordinates::kCrop:
      return quotient(start * size + j * (grid.stops[axis] - start), size);
    case GridCoordinates::kResampled:
      return quotient(j * grid.references[axis] / size, 1);
    case GridCoordinates::kScaled:
      return {Times(Whole(j * grid.references[axis]), scale), Times(Whole(size), grid.interpolation_scale)};
    case GridCoordinates::kUnit:  // (j + 1) / (n + 10^-6)
      return quotient((j + 1) * 1000000, size * 1000000 + 1);
    case GridCoordinates::kFraction:
      return Fraction(grid, axis, j);
  }
  return Coordinate(0.0);
}

}  // namespace posenc
