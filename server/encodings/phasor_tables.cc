#include "server/encodings/phasor_tables.h"

#include "server/encodings/phasors/phasor_generator.h"
#include "server/encodings/phasors/product_generator.h"
#include "server/encodings/rope/chunk_generator.h"
#include "server/encodings/rope/rope.h"
#include "server/encodings/rope/rope_form.h"
#include "server/encodings/rope/still_axis.h"
#include "server/encodings/rope/xpos_generator.h"
#include "server/encodings/sinusoidal/grid_generator.h"
#include "server/encodings/sinusoidal/grid_sinusoidal.h"
#include "server/encodings/sinusoidal/sinusoidal.h"

namespace posenc {
namespace {

using Generator = std::shared_ptr<const TableGenerator>;

Generator MakeRows(const RopeSpec& spec, ElementType type) {
  const PhasorTable table = DescribeRope(spec, type);
  const bool angles = HoldsAngles(spec.layout);
  if (table.form.grid) return angles ? MakeAngleGrid(table) : MakePhasorGrid(table);
  if (angles) return std::make_shared<ProductGenerator>(table, spec.layout == RopeLayout::kPeriods);
  if (spec.xpos) return std::make_shared<XPosGenerator>(table, *spec.xpos, spec.rotary_dim);
  return std::make_shared<PhasorGenerator>(table);
}

// MakeRows, and what text tokens leave still.
Generator MakeTextRows(const RopeSpec& spec, ElementType type) {
  Generator rows = MakeRows(spec, type);
  if (!rows->shape().last_axis_still) return rows;
  return std::make_shared<StillAxisGenerator>(std::move(rows), RopeForm(spec, type));
}

}  // namespace

Generator MakeExactSinusoidal(const SinusoidalSpec& spec, ElementType type) {
  return std::make_shared<PhasorGenerator>(DescribeSinusoidal(spec, type));
}

Generator MakeExactGridSinusoidal(const GridSinusoidalSpec& spec, ElementType type) {
  return MakePhasorGrid(DescribeGridSinusoidal(spec, type));
}

Generator MakeExactRope(const RopeSpec& spec, ElementType type) {
  Generator rows = MakeTextRows(PlainRows(spec), type);
  if (!spec.dual_chunk || rows->shape().row_kind == RowKind::kSingle) return rows;
  return std::make_shared<ChunkGenerator>(std::move(rows), *spec.dual_chunk, spec.max_len);
}

}  // namespace posenc
