#include "server/encodings/sinusoidal/grid_sinusoidal.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "server/encodings/exact/axis_frequencies.h"

namespace posenc {
namespace {

// How many of `count` columns from `begin` on, `step` apart, stand before the end of the row.
int64_t Within(int64_t begin, int64_t count, int64_t step, int64_t end) {
  return std::clamp((end - begin + step - 1) / step, int64_t{0}, count);
}

// The block of `pairs` pairs whose columns begin at `column`; `half` is where the second half of a row
// begins that has all sines first.
Segment BlockOf(const GridSinusoidalSpec& spec, int64_t column, int64_t pairs, int64_t half) {
  Segment block{.first_pair = column / 2};
  int64_t sin = column, cos = column + pairs;
  switch (spec.order) {
    case GridOrder::kSinCos:
      break;
    case GridOrder::kInterleaved:
      block.form = StoreForm::kPairs;
      cos = column + 1;
      break;
    case GridOrder::kCosSin:
      std::swap(sin, cos);
      break;
    case GridOrder::kSinThenCos:
      sin = column / 2;
      cos = half + column / 2;
      break;
  }
  block.sin[0].begin = sin;
  block.cos[0].begin = cos;
  block.sines = Within(sin, pairs, block.step(), spec.d_model);
  block.cosines = Within(cos, pairs, block.step(), spec.d_model);
  return block;
}

}  // namespace

PhasorForm GridSinusoidalForm(const GridSinusoidalSpec& spec, ElementType type) {
  PhasorForm form;
  form.element_type = type;
  const int64_t width = std::accumulate(spec.axis_widths.begin(), spec.axis_widths.end(), int64_t{0});
  int64_t column = 0;
  for (size_t block = 0; block < spec.axis_widths.size(); ++block) {
    const int64_t pairs = spec.axis_widths[block] / 2;
    const Segment segment = BlockOf(spec, column, pairs, width / 2);
    if (segment.pairs() > 0) form.layout.segments.push_back(segment);
    form.axis_of_pair.insert(form.axis_of_pair.end(), pairs, static_cast<int32_t>(spec.axis_order[block]));
    column += 2 * pairs;
  }
  form.layout.pairs = width / 2;
  form.layout.zero_columns = std::max<int64_t>(0, spec.d_model - width);
  form.shape = {.row_dims = {spec.grid.rows()},
                .tensors = {{.name = "table", .element_type = type, .row_shape = {spec.d_model}}},
                .row_kind = RowKind::kCells,
                .position_axes = static_cast<int64_t>(spec.grid.sizes.size())};
  form.grid = spec.grid;
  form.zero_class_rows = true;
  return form;
}

PhasorTable DescribeGridSinusoidal(const GridSinusoidalSpec& spec, ElementType type) {
  std::vector<Frequencies> parts;
  std::vector<PairOrigin> origins;
  for (size_t block = 0; block < spec.axis_widths.size(); ++block) {
    const BandRule rule{.count = spec.axis_widths[block] / 2,
                        .bands = spec.bands,
                        .base = spec.base,
                        .max_frequency = spec.max_frequency,
                        .shift = spec.frequency_shift,
                        .position_scale = spec.position_scale,
                        .full_turns = spec.full_turns};
    parts.push_back(MakeBands(rule));
    for (int64_t index = 0; index < rule.count; ++index) {
      origins.push_back({.axis = static_cast<int32_t>(spec.axis_order[block]),
                         .part = static_cast<int32_t>(block),
                         .index = index});
    }
  }
  return {.form = GridSinusoidalForm(spec, type),
          .frequencies = Arrange(std::move(parts), std::move(origins)),
          .magnitude = Magnitude(1.0)};
}

}  // namespace posenc
