// The parameters of sinusoidal tables over a grid. A value; spec.h says what holds for all specs.

#ifndef POSENC_SERVER_CORE_SPECS_GRID_SINUSOIDAL_SPEC_H_
#define POSENC_SERVER_CORE_SPECS_GRID_SINUSOIDAL_SPEC_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "server/core/limits.h"
#include "server/core/specs/field.h"
#include "server/core/specs/grid.h"
#include "server/core/specs/rope_axes.h"

namespace posenc {

// Where a row's sines and cosines stand. Blocks come in the order of axis_order.
//  kSinCos        each block its sines, then its cosines: MAE, diffusers, tensor2tensor.
//  kInterleaved   each block s0 c0 s1 c1 …: positional-encodings, DETR.
//  kCosSin        each block its cosines, then its sines.
//  kSinThenCos    the sines of all blocks, then the cosines of all blocks: timm.
enum class GridOrder : uint8_t { kSinCos = 1, kInterleaved = 2, kCosSin = 3, kSinThenCos = 4 };
constexpr auto EnumNames(GridOrder) {
  return std::to_array<absl::string_view>({"sin-cos", "interleaved", "cos-sin", "sin-then-cos"});
}

// Sinusoidal table [rows, d_model] over a grid of patches (Dosovitskiy et al. 2021; He et al. 2022): each
// axis fills a block of columns with the sinusoidal encoding of its coordinate.
struct GridSinusoidalSpec {
  static constexpr absl::string_view kName = "grid_sinusoidal";

  int64_t d_model = 0;  // required
  Grid grid = {};       // required
  double base = 10000.0;
  GridOrder order = GridOrder::kSinCos;
  // The axis that each block encodes, counted in grid.sizes; none: 0, 1, …. MAE and diffusers put the
  // column first: 1, 0.
  std::vector<int64_t> axis_order = {};
  // Even widths of the blocks; none: d_model / axes each. More than d_model in sum: what is beyond it is cut
  // off (positional-encodings); less: the rest is zero (tensor2tensor).
  std::vector<int64_t> axis_widths = {};
  FrequencyBands bands = FrequencyBands::kGeometric;
  double max_frequency = 224.0;  // of the pixel bands
  double frequency_shift = 0.0;  // frequencies base^(-k/(K − shift)), K pairs of a block
  double position_scale = 1.0;
  bool full_turns = false;       // coordinates times 2π (DETR with kUnit)

  template <typename Self, typename Visit>
  static void Fields(Self& self, Visit&& visit) {
    using namespace limits;
    visit(Field{.name = "d_model", .help = "Width of a row", .low = 1, .high = kMaxWidth, .required = true},
          self.d_model);
    visit(Field{.name = "grid", .help = "The grid of patches", .required = true}, self.grid);
    visit(Field{.name = "base", .help = "Base of the frequencies (temperature)", .low = kMinBase,
                .high = kMaxBase}, self.base);
    visit(Field{.name = "order", .help = "Where sines and cosines stand"}, self.order);
    visit(Field{.name = "axis_order", .help = "Axis of each block of columns: 1,0 for the column first",
                .low = 0, .high = kMaxAxes - 1}, self.axis_order);
    visit(Field{.name = "axis_widths", .help = "Columns of each block, even", .low = 2, .high = kMaxWidth},
          self.axis_widths);
    visit(Field{.name = "bands", .help = "Frequencies of a block"}, self.bands);
    visit(Field{.name = "max_frequency", .help = "Of the pixel bands", .low = 2, .high = kMaxFactor},
          self.max_frequency);
    visit(Field{.name = "frequency_shift", .help = "1 makes a block's last frequency 1/base", .low = 0,
                .high = 1024}, self.frequency_shift);
    visit(Field{.name = "position_scale", .help = "Factor on coordinates", .low = kMinFrequency,
                .high = kMaxFrequency}, self.position_scale);
    visit(Field{.name = "full_turns", .help = "Coordinates times 2 pi (DETR)"}, self.full_turns);
  }
};

absl::Status NormalizeFamily(GridSinusoidalSpec& spec);

}  // namespace posenc

#endif  // POSENC_SERVER_CORE_SPECS_GRID_SINUSOIDAL_SPEC_H_
