#include "server/core/specs/grid.h"

#include "server/core/names.h"
#include "server/core/specs/field_checks.h"

namespace posenc {
namespace {

bool Needs(GridCoordinates rule, absl::string_view list) {
  using enum GridCoordinates;
  if (list == "stops") return rule == kLinspace || rule == kCrop;
  return rule == kResampled || rule == kScaled || rule == kFraction;
}

void CheckSides(absl::string_view path, const Grid& grid, Violations& bad) {
  for (size_t axis = 0; axis < grid.sizes.size(); ++axis) {
    if (grid.coordinates == GridCoordinates::kLinspace && grid.sizes[axis] < 2) {
      bad.Add(absl::StrCat(path, ".sizes[", axis, "]"), grid.sizes[axis], "at least 2 with linspace");
    }
    if (axis + 2 >= grid.sizes.size() && grid.sizes[axis] % grid.merge != 0) {
      bad.Add(absl::StrCat(path, ".sizes[", axis, "]"), grid.sizes[axis],
              absl::StrCat("a multiple of merge, ", grid.merge));
    }
  }
  for (size_t axis = 0; axis < grid.references.size(); ++axis) {
    CheckRange(absl::StrCat(path, ".references[", axis, "]"), grid.references[axis], int64_t{1},
               limits::kMaxGridSide, bad);
  }
}

}  // namespace

void CheckGrid(absl::string_view path, const Grid& grid, Violations& bad) {
  const auto axes = static_cast<int64_t>(grid.sizes.size());
  if (axes < 1 || axes > limits::kMaxAxes) {
    bad.AddText(absl::StrCat(path, ".sizes"), absl::StrCat("has ", axes, " entries; allowed: 1 to ",
                                                           limits::kMaxAxes, ", one per axis"));
    return;
  }
  const auto per_axis = [&](absl::string_view name, const auto& list, bool needed) {
    if (list.empty() && !needed) return;
    CheckCount(absl::StrCat(path, ".", name), list, axes, "axis", bad);
  };
  per_axis("starts", grid.starts, grid.coordinates == GridCoordinates::kLinspace);
  per_axis("stops", grid.stops, Needs(grid.coordinates, "stops"));
  per_axis("references", grid.references, Needs(grid.coordinates, "references"));
  per_axis("scales", grid.scales, false);
  if (grid.merge > 1 && axes < 2) bad.Add(absl::StrCat(path, ".merge"), grid.merge, "1 with one axis");
  CheckSides(path, grid, bad);
  if (!bad.empty()) return;
  double cells = 1;
  for (int64_t size : grid.sizes) cells *= static_cast<double>(size);
  if (cells > static_cast<double>(limits::kMaxPosition) / 2) {
    bad.AddText(absl::StrCat(path, ".sizes"), "has too many cells; allowed: at most 2^52");
  }
}

}  // namespace posenc
