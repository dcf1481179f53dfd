#include "server/encodings/float32/grid_coordinates.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "server/encodings/float32/linspace.h"

namespace posenc {
namespace {

double EntryOr(const std::vector<int64_t>& list, size_t axis, int64_t otherwise) {
  return static_cast<double>(list.empty() ? otherwise : list[axis]);
}

int64_t CentredSide(const Grid& grid, size_t axis) {
  switch (grid.normalize) {
    case GridNormalize::kOwn:
      return grid.sizes[axis];
    case GridNormalize::kMax:
      return *std::max_element(grid.sizes.begin(), grid.sizes.end());
    case GridNormalize::kMin:
      return *std::min_element(grid.sizes.begin(), grid.sizes.end());
  }
  return grid.sizes[axis];
}

// The end that is left out is what a linspace of n + 1 would have had last.
double CropEnd(double start, double stop, double size) { return start + (stop - start) * (size - 1) / size; }

// Before the axis' own scale.
float Unscaled(const Grid& grid, size_t axis, int64_t j) {
  const auto at = static_cast<float>(j);
  const int64_t count = grid.sizes[axis];
  const auto size = static_cast<double>(count);
  const double start = EntryOr(grid.starts, axis, 0), stop = EntryOr(grid.stops, axis, 0);
  const double reference = EntryOr(grid.references, axis, 1);
  switch (grid.coordinates) {
    case GridCoordinates::kIndex:
      return static_cast<float>(start) + at;
    case GridCoordinates::kCentred:
      return 2.0F * ((at + 0.5F) / static_cast<float>(CentredSide(grid, axis))) - 1.0F;
    case GridCoordinates::kLinspace:
      return LinspaceF32(static_cast<float>(start), static_cast<float>(stop), count, j);
    case GridCoordinates::kCrop:
      return LinspaceF32(static_cast<float>(start), static_cast<float>(CropEnd(start, stop, size)), count, j);
    case GridCoordinates::kResampled:  // whole numbers below 2^40: the quotient's floor is exact in integers
      return static_cast<float>(j * static_cast<int64_t>(reference) / count);
    case GridCoordinates::kScaled:
      return at / static_cast<float>(size / reference) / static_cast<float>(grid.interpolation_scale);
    case GridCoordinates::kUnit:
      return (at + 1.0F) / (static_cast<float>(size) + 1e-6F);
    case GridCoordinates::kFraction:
      return static_cast<float>(start) + at;
  }
  return at;
}

}  // namespace

float CoordinateF32(const Grid& grid, size_t axis, int64_t j) {
  const float scale = grid.scales.empty() ? 1.0F : static_cast<float>(grid.scales[axis]);
  const float coordinate = Unscaled(grid, axis, j) * scale;
  if (grid.coordinates != GridCoordinates::kFraction) return coordinate;
  return coordinate / static_cast<float>(EntryOr(grid.references, axis, 1)) * 2.0F - 1.0F;
}

}  // namespace posenc
