#include "server/encodings/float32/float32_tables.h"

#include <utility>

#include "server/encodings/float32/float32_generator.h"
#include "server/encodings/rope/chunk_generator.h"
#include "server/encodings/rope/rope_form.h"
#include "server/encodings/rope/still_axis.h"
#include "server/encodings/sinusoidal/grid_sinusoidal.h"
#include "server/encodings/sinusoidal/sinusoidal.h"

namespace posenc {
namespace {

using Generator = std::shared_ptr<const TableGenerator>;

Float32Angles AnglesOf(const RopeSpec& spec, Arithmetic arithmetic, std::vector<int32_t> axis_of_pair) {
  std::optional<RunningAngles> running;
  if (arithmetic == Arithmetic::kFloat32Ggml) {
    running = GgmlAngles(spec);
    arithmetic = Arithmetic::kFloat32;  // where ggml has no such table
  }
  return {RopeSteps(spec, arithmetic), std::move(running), std::move(axis_of_pair)};
}

Float32Cells CellsOf(RopeLayout layout) {
  if (layout == RopeLayout::kPeriods) return Float32Cells::kPeriods;
  return HoldsAngles(layout) ? Float32Cells::kAngles : Float32Cells::kPhasors;
}

Generator MakeRows(const RopeSpec& spec, ElementType type, Arithmetic arithmetic) {
  PhasorForm form = RopeForm(spec, type);
  Float32Angles angles = AnglesOf(spec, arithmetic, form.axis_of_pair);
  Float32Table table{.form = std::move(form),
                     .angles = std::move(angles),
                     .cells = CellsOf(spec.layout),
                     .magnitude = static_cast<float>(RopeMagnitude(spec).high()),
                     .softmax_scale = RopeSoftmaxScale(spec),
                     .xpos = spec.xpos};
  if (table.form.grid) return MakeFloat32Grid(std::move(table));
  return std::make_shared<Float32Generator>(std::move(table));
}

// MakeRows, and what text tokens leave still.
Generator MakeTextRows(const RopeSpec& spec, ElementType type, Arithmetic arithmetic) {
  Generator rows = MakeRows(spec, type, arithmetic);
  if (!rows->shape().last_axis_still) return rows;
  return std::make_shared<StillAxisGenerator>(std::move(rows), RopeForm(spec, type));
}

}  // namespace

Generator MakeFloat32Sinusoidal(const SinusoidalSpec& spec, ElementType type) {
  return std::make_shared<Float32Generator>(
      Float32Table{.form = SinusoidalForm(spec, type),
                   .angles = {SinusoidalSteps(spec), std::nullopt, {}},
                   .magnitude = static_cast<float>(spec.row_scale)});
}

Generator MakeFloat32GridSinusoidal(const GridSinusoidalSpec& spec, ElementType type) {
  AngleSteps steps;
  for (int64_t width : spec.axis_widths) {
    const AngleSteps block = GridSteps(spec, width / 2);
    steps.position_factor = block.position_factor;
    steps.frequencies.insert(steps.frequencies.end(), block.frequencies.begin(), block.frequencies.end());
  }
  PhasorForm form = GridSinusoidalForm(spec, type);
  Float32Angles angles(std::move(steps), std::nullopt, form.axis_of_pair);
  return MakeFloat32Grid({.form = std::move(form), .angles = std::move(angles)});
}

Generator MakeFloat32Rope(const RopeSpec& spec, ElementType type, Arithmetic arithmetic) {
  Generator rows = MakeTextRows(PlainRows(spec), type, arithmetic);
  if (!spec.dual_chunk || rows->shape().row_kind == RowKind::kSingle) return rows;
  return std::make_shared<ChunkGenerator>(std::move(rows), *spec.dual_chunk, spec.max_len);
}

}  // namespace posenc
