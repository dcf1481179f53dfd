// A grid of patches, and how its rows and coordinates are counted. A value.
//
// Shared by rotary tables of vision models (RopeSpec::grid) and by GridSinusoidalSpec. A table over a grid
// has one row for each cell, the last axis fastest; coordinate c_a(j) of index j on axis a, of n_a cells, is
// a real number by one of the rules of GridCoordinates.

#ifndef POSENC_SERVER_CORE_SPECS_GRID_H_
#define POSENC_SERVER_CORE_SPECS_GRID_H_

#include <array>
#include <cstdint>
#include <vector>

#include "server/core/limits.h"
#include "server/core/specs/field.h"

namespace posenc {

//  kIndex      start_a + j, start 0 unless given: Qwen2-VL, Pixtral, FLUX; start 1: Llama 4 vision, DETR.
//  kCentred    2·(j + 1/2) / N − 1, N by `normalize`: DINOv3 and timm.
//  kLinspace   start_a + j·(stop_a − start_a) / (n_a − 1), both ends included: timm's pixel bands (−1, 1).
//  kCrop       start_a + j·(stop_a − start_a) / n_a, the end left out: diffusers' 2-D and CogVideoX crops.
//  kResampled  ⌊j · reference_a / n_a⌋: CogView 4.
//  kScaled     j · reference_a / (n_a · interpolation_scale): diffusers' sincos tables (base_size).
//  kUnit       (j + 1) · scale / (n_a + 10^-6), scale 1 or with full turns 2π: DETR with normalize.
//  kFraction   2·(start_a + j) · scale_a / reference_a − 1: LTX-Video's normalised coordinates.
enum class GridCoordinates : uint8_t {
  kIndex = 1,
  kCentred = 2,
  kLinspace = 3,
  kCrop = 4,
  kResampled = 5,
  kScaled = 6,
  kUnit = 7,
  kFraction = 8,
};
constexpr auto EnumNames(GridCoordinates) {
  return std::to_array<absl::string_view>(
      {"index", "centred", "linspace", "crop", "resampled", "scaled", "unit", "fraction"});
}

// The N of kCentred: the axis' own size, the largest or the smallest of all.
enum class GridNormalize : uint8_t { kOwn = 1, kMax = 2, kMin = 3 };
constexpr auto EnumNames(GridNormalize) { return std::to_array<absl::string_view>({"own", "max", "min"}); }

struct Grid {
  std::vector<int64_t> sizes = {};  // cells of each axis, e.g. {height, width} or {time, height, width}
  GridCoordinates coordinates = GridCoordinates::kIndex;
  GridNormalize normalize = GridNormalize::kOwn;
  std::vector<int64_t> starts = {};      // one for each axis, or none
  std::vector<int64_t> stops = {};       // kLinspace, kCrop
  std::vector<int64_t> references = {};  // kResampled, kScaled, kFraction
  double interpolation_scale = 1.0;      // kScaled
  std::vector<double> scales = {};       // factor on each axis' coordinates (frame rates); none: 1
  // Rows of the last two axes come in blocks of merge × merge cells, block after block (Qwen2-VL).
  int64_t merge = 1;
  int64_t leading_rows = 0;   // rows before the grid, of class tokens: angle 0 in rotary tables, else zeros
  int64_t trailing_rows = 0;  // the same after it (Llama 4 vision)

  int64_t cells() const {
    int64_t count = 1;
    for (int64_t size : sizes) count *= size;
    return count;
  }
  int64_t rows() const { return leading_rows + cells() + trailing_rows; }

  template <typename Self, typename Visit>
  static void Fields(Self& self, Visit&& visit) {
    using namespace limits;
    visit(Field{.name = "sizes", .help = "Cells of each axis: height,width or time,height,width", .low = 1,
                .high = kMaxGridSide, .required = true}, self.sizes);
    visit(Field{.name = "coordinates", .help = "How an index becomes a coordinate"}, self.coordinates);
    visit(Field{.name = "normalize", .help = "Side that centred coordinates are divided by"}, self.normalize);
    const auto list = [&](absl::string_view name, absl::string_view help, auto& member) {
      visit(Field{.name = name, .help = help, .low = -kMaxGridSide, .high = kMaxGridSide}, member);
    };
    list("starts", "First coordinate of each axis", self.starts);
    list("stops", "Last coordinate of each axis (linspace, crop)", self.stops);
    list("references", "Reference size of each axis (resampled, scaled, fraction)", self.references);
    visit(Field{.name = "interpolation_scale", .help = "Divides scaled coordinates", .low = kMinFactor,
                .high = kMaxFactor}, self.interpolation_scale);
    visit(Field{.name = "scales", .help = "Factor on each axis' coordinates", .low = kMinFactor,
                .high = kMaxFactor}, self.scales);
    visit(Field{.name = "merge", .help = "Side of the blocks that rows come in (Qwen2-VL)", .low = 1,
                .high = kMaxGridSide}, self.merge);
    visit(Field{.name = "leading_rows", .help = "Rows of class tokens before the grid", .low = 0,
                .high = kMaxGridSide}, self.leading_rows);
    visit(Field{.name = "trailing_rows", .help = "Rows of class tokens after the grid", .low = 0,
                .high = kMaxGridSide}, self.trailing_rows);
  }
};

class Violations;

// Checks what the fields of a grid mean together; `path` is its own, e.g. "rope.grid".
void CheckGrid(absl::string_view path, const Grid& grid, Violations& bad);

}  // namespace posenc

#endif  // POSENC_SERVER_CORE_SPECS_GRID_H_
