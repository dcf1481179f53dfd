#include "server/encodings/sinusoidal/sinusoidal.h"

#include <algorithm>

#include "server/encodings/exact/frequency_rule.h"

namespace posenc {
namespace {

// Whether an odd width has a last pair of its own, cut in half.
bool HasOddPair(const SinusoidalSpec& spec) {
  const OddWidth rule = spec.odd_width.value_or(OddWidth::kReject);
  return spec.d_model % 2 != 0 && (rule == OddWidth::kExtraSine || rule == OddWidth::kDropCosine);
}

// With K = floor(d / 2): K pairs for an even width and before a zero column; an odd width otherwise
// is that of K + 1 pairs without its last column, a cosine unless the cosines come first.
RowLayout LayoutOf(const SinusoidalSpec& spec) {
  const int64_t half = spec.d_model / 2;
  const bool odd_pair = HasOddPair(spec);
  const bool extra_cosine = odd_pair && spec.order == SinusoidalOrder::kCosSin;
  const int64_t cosines = half + (extra_cosine ? 1 : 0);
  const int64_t sines = half + (odd_pair && !extra_cosine ? 1 : 0);
  Segment segment{.cosines = cosines, .sines = sines};
  switch (spec.order) {
    case SinusoidalOrder::kInterleaved:
      segment.form = StoreForm::kPairs;
      segment.cos[0].begin = 1;
      break;
    case SinusoidalOrder::kSinCos:
      segment.cos[0].begin = sines;
      break;
    case SinusoidalOrder::kCosSin:
      segment.sin[0].begin = cosines;
      break;
  }
  const bool zero_column = spec.d_model % 2 != 0 && !odd_pair;
  return {.segments = {segment}, .pairs = segment.pairs(), .zero_columns = zero_column ? 1 : 0};
}

// The width that exponents are counted in: Marian and DistilBERT keep an odd d,
// positional-encodings rounds it up, the rest counts whole pairs.
int64_t ExponentWidth(const SinusoidalSpec& spec) {
  if (spec.d_model % 2 == 0) return spec.d_model;
  const OddWidth rule = spec.odd_width.value_or(OddWidth::kReject);
  if (rule == OddWidth::kExtraSine) return spec.d_model;
  return rule == OddWidth::kDropCosine ? spec.d_model + 1 : spec.d_model - 1;
}

TableShape ShapeOf(const SinusoidalSpec& spec, ElementType type) {
  const int64_t last = spec.first_position + (spec.descending ? 1 : spec.max_len) - 1;
  const int64_t first = spec.descending ? spec.first_position - spec.max_len + 1 : spec.first_position;
  return {.row_dims = {spec.max_len},
          .tensors = {{.name = "table", .element_type = type, .row_shape = {spec.d_model}}},
          .row_kind = RowKind::kPositions,
          .first_position = spec.first_position,
          .positions_begin = std::min(first, 1 - spec.max_len),
          .positions_end = last + 1,
          .real_positions = true,
          .descending = spec.descending};
}

}  // namespace

PhasorForm SinusoidalForm(const SinusoidalSpec& spec, ElementType type) {
  PhasorForm form;
  form.element_type = type;
  form.layout = LayoutOf(spec);
  form.shape = ShapeOf(spec, type);
  form.zero_row = spec.zero_row;
  return form;
}

PhasorTable DescribeSinusoidal(const SinusoidalSpec& spec, ElementType type) {
  PhasorTable table{.form = SinusoidalForm(spec, type), .frequencies = {}, .magnitude = Magnitude(spec.row_scale)};
  FrequencyRule rule{.count = table.form.layout.pairs,
                     .twice_pairs = ExponentWidth(spec),
                     .base = spec.base,
                     .shift = spec.frequency_shift,
                     .clamp_denominator = spec.clamp_denominator,
                     .position_scale = spec.position_scale,
                     .full_turns = spec.full_turns};
  if (!spec.inverse_frequencies.empty()) rule.scaling = ExplicitFrequencies{spec.inverse_frequencies};
  table.frequencies = MakeFrequencies(rule);
  return table;
}

}  // namespace posenc
