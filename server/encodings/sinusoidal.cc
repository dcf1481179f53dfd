#include "server/encodings/sinusoidal.h"

#include <algorithm>

namespace posenc {
namespace {

// With K = floor(d / 2): K pairs for an even width and before a zero column; an odd width otherwise
// is that of K + 1 pairs without its last column, a cosine unless the cosines come first.
RowLayout LayoutOf(const SinusoidalSpec& spec, bool odd_pair) {
  const int64_t half = spec.d_model / 2;
  const bool extra_cosine = odd_pair && spec.order == SinusoidalOrder::kCosSin;
  const int64_t cosines = half + (extra_cosine ? 1 : 0);
  const int64_t sines = half + (odd_pair && !extra_cosine ? 1 : 0);
  RowLayout layout{.cosines = cosines, .sines = sines};
  layout.zero_column = spec.d_model % 2 != 0 && !odd_pair;
  switch (spec.order) {
    case SinusoidalOrder::kInterleaved:
      layout.form = StoreForm::kPairs;
      layout.cos[0].begin = 1;
      break;
    case SinusoidalOrder::kSinCos:
      layout.cos[0].begin = sines;
      break;
    case SinusoidalOrder::kCosSin:
      layout.sin[0].begin = cosines;
      break;
  }
  return layout;
}

// The width that exponents are counted in: Marian and DistilBERT keep an odd d,
// positional-encodings rounds it up, the rest counts whole pairs.
int64_t ExponentWidth(const SinusoidalSpec& spec, OddWidth rule) {
  if (spec.d_model % 2 == 0) return spec.d_model;
  if (rule == OddWidth::kExtraSine) return spec.d_model;
  return rule == OddWidth::kDropCosine ? spec.d_model + 1 : spec.d_model - 1;
}

TableShape ShapeOf(const SinusoidalSpec& spec, ElementType type) {
  return {.row_dims = {spec.max_len},
          .tensors = {{.name = "table", .element_type = type, .row_shape = {spec.d_model}}},
          .row_kind = RowKind::kPositions,
          .first_position = spec.first_position,
          .positions_begin = std::min(spec.first_position, 1 - spec.max_len),
          .positions_end = spec.first_position + spec.max_len};
}

}  // namespace

PhasorTable DescribeSinusoidal(const SinusoidalSpec& spec, ElementType type) {
  const OddWidth rule = spec.odd_width.value_or(OddWidth::kReject);
  const bool odd_pair =
      spec.d_model % 2 != 0 && (rule == OddWidth::kExtraSine || rule == OddWidth::kDropCosine);
  PhasorTable table;
  table.layout = LayoutOf(spec, odd_pair);
  table.rule = {.count = table.layout.pairs(),
                .twice_pairs = ExponentWidth(spec, rule),
                .base = spec.base,
                .shift = spec.frequency_shift,
                .clamp_denominator = spec.clamp_denominator,
                .position_scale = spec.position_scale,
                .scaling = {}};
  table.magnitude = spec.row_scale;
  table.element_type = type;
  table.shape = ShapeOf(spec, type);
  table.zero_row = spec.zero_row;
  return table;
}

}  // namespace posenc
