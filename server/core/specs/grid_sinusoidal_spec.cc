#include "server/core/specs/grid_sinusoidal_spec.h"

#include <algorithm>

#include "server/core/specs/field_checks.h"

namespace posenc {
namespace {

constexpr char kWidths[] = "grid_sinusoidal.axis_widths";

void CheckAxisOrder(const GridSinusoidalSpec& spec, int64_t axes, Violations& bad) {
  CheckCount("grid_sinusoidal.axis_order", spec.axis_order, axes, "axis", bad);
  std::vector<int64_t> sorted = spec.axis_order;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] == static_cast<int64_t>(i)) continue;
    bad.AddText("grid_sinusoidal.axis_order", "names an axis twice or not at all; allowed: each axis once");
    return;
  }
}

// Every block needs pairs, and a denominator above 0.
void CheckWidths(const GridSinusoidalSpec& spec, Violations& bad) {
  for (size_t i = 0; i < spec.axis_widths.size(); ++i) {
    const std::string path = absl::StrCat(kWidths, "[", i, "]");
    const int64_t width = spec.axis_widths[i];
    if (width % 2 != 0) bad.Add(path, width, "an even number");
    const bool divides = static_cast<double>(width / 2) > spec.frequency_shift;
    if (spec.frequency_shift != 0 && !divides) {
      bad.Add("grid_sinusoidal.frequency_shift", spec.frequency_shift,
              absl::StrCat("less than the ", width / 2, " pairs of a block"));
    }
    const bool pixels = spec.bands != FrequencyBands::kGeometric;
    if (pixels && width < 4) bad.Add(path, width, "at least 4 with these bands");
  }
}

}  // namespace

absl::Status NormalizeFamily(GridSinusoidalSpec& spec) {
  Violations bad;
  CheckGrid("grid_sinusoidal.grid", spec.grid, bad);
  if (!bad.empty()) return bad.ToStatus();
  const auto axes = static_cast<int64_t>(spec.grid.sizes.size());
  if (spec.axis_order.empty()) {
    for (int64_t axis = 0; axis < axes; ++axis) spec.axis_order.push_back(axis);
  }
  CheckAxisOrder(spec, axes, bad);
  if (spec.axis_widths.empty()) {
    if (spec.d_model % (2 * axes) != 0) {
      bad.Add("grid_sinusoidal.d_model", spec.d_model,
              absl::StrCat("a multiple of ", 2 * axes, ", or axis_widths"));
    }
    spec.axis_widths.assign(static_cast<size_t>(axes), spec.d_model / axes);
  }
  CheckCount(kWidths, spec.axis_widths, axes, "axis", bad);
  if (bad.empty()) CheckWidths(spec, bad);
  CheckRisingBase("grid_sinusoidal.base", spec.bands, spec.base, bad);
  spec.frequency_shift = WithoutNegativeZero(spec.frequency_shift);
  if (spec.bands != FrequencyBands::kPixelLinear && spec.bands != FrequencyBands::kPixelLog) {
    spec.max_frequency = GridSinusoidalSpec().max_frequency;
  }
  return bad.ToStatus();
}

}  // namespace posenc
