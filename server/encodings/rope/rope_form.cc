#include "server/encodings/rope/rope_form.h"

#include <algorithm>
#include <string>
#include <utility>

#include "server/encodings/rope/axis_maps.h"

namespace posenc {
namespace {

TableShape PositionShape(const RopeSpec& spec) {
  TableShape shape{.row_dims = {spec.max_len},
                   .tensors = {},
                   .row_kind = RowKind::kPositions,
                   .first_position = spec.first_position,
                   .positions_begin = std::min(spec.first_position, 1 - spec.max_len),
                   .positions_end = spec.first_position + spec.max_len};
  if (spec.axes) shape.position_axes = static_cast<int64_t>(spec.axes->sections.size());
  if (!spec.grid) {
    shape.last_axis_still = spec.axes && spec.axes->map == AxisMap::kInterleavedGgml;
    return shape;
  }
  shape.row_dims = {spec.grid->rows()};
  shape.row_kind = RowKind::kCells;
  shape.first_position = shape.positions_begin = shape.positions_end = 0;
  return shape;
}

// cos and sin in tensors of their own.
Segment Split(StoreForm form, int copies, int64_t second) {
  return {.form = form,
          .copies = copies,
          .cos = {Place{0, 0}, Place{0, second}},
          .sin = {Place{1, 0}, Place{1, second}}};
}

// All cosines, then all sines, or the other way round, in one tensor.
Segment Joined(StoreForm form, int copies, int64_t cos, int64_t sin, int64_t second) {
  return {.form = form,
          .copies = copies,
          .cos = {Place{0, cos}, Place{0, cos + second}},
          .sin = {Place{0, sin}, Place{0, sin + second}}};
}

Segment SegmentOf(RopeLayout layout, int64_t n) {
  constexpr StoreForm kColumns = StoreForm::kColumns, kRepeated = StoreForm::kRepeated;
  switch (layout) {
    case RopeLayout::kSplitDuplicated:
    case RopeLayout::kAnglesDuplicated:
      return Split(kColumns, 2, n);
    case RopeLayout::kSplitRepeated:
    case RopeLayout::kAnglesRepeated:
      return Split(kRepeated, 2, 1);
    case RopeLayout::kCosSin:
      return Joined(kColumns, 1, 0, n, 0);
    case RopeLayout::kCosSinDuplicated:
      return Joined(kColumns, 2, 0, 2 * n, n);
    case RopeLayout::kSinCos:
      return Joined(kColumns, 1, n, 0, 0);
    case RopeLayout::kSinCosRepeated:
      return Joined(kRepeated, 2, 2 * n, 0, 1);
    case RopeLayout::kPairs:
    case RopeLayout::kComplex:
      return Joined(StoreForm::kPairs, 1, 0, 1, 0);
    case RopeLayout::kPairsDuplicated:
      return Joined(StoreForm::kPairs, 2, 0, 1, 2 * n);
    default:
      return Split(kColumns, 1, 0);
  }
}

// Each axis' block of pairs twice, block after block.
std::vector<Segment> AxisDuplicated(const RopeAxes& axes) {
  std::vector<Segment> segments;
  int64_t first = 0;
  const auto add = [&](int64_t pairs) {
    if (pairs == 0) return;
    Segment segment = Split(StoreForm::kColumns, 2, pairs);
    for (auto* places : {&segment.cos, &segment.sin}) {
      for (Place& place : *places) place.begin += 2 * first;
    }
    segment.first_pair = first;
    segment.cosines = segment.sines = pairs;
    segments.push_back(segment);
    first += pairs;
  };
  add(axes.identity_pairs);
  for (int64_t section : axes.sections) add(section);
  return segments;
}

std::vector<Segment> SegmentsOf(const RopeSpec& spec, int64_t n) {
  if (spec.layout == RopeLayout::kSplitAxisDuplicated) return AxisDuplicated(*spec.axes);
  Segment segment = SegmentOf(spec.layout, n);
  segment.cosines = n;
  segment.sines = HoldsAngles(spec.layout) ? 0 : n;
  return {segment};
}

std::vector<TensorShape> Named(std::vector<std::string> names, ElementType type, std::vector<int64_t> row) {
  std::vector<TensorShape> tensors;
  for (std::string& name : names) tensors.push_back({std::move(name), type, row});
  return tensors;
}

std::vector<TensorShape> TensorsOf(const RopeSpec& spec, ElementType type, int64_t n) {
  const std::vector<std::string> split =
      spec.xpos ? std::vector<std::string>{"q_cos", "q_sin", "k_cos", "k_sin"}
                : std::vector<std::string>{"cos", "sin"};
  switch (spec.layout) {
    case RopeLayout::kSplitHalf:
      return Named(split, type, {n});
    case RopeLayout::kSplitDuplicated:
    case RopeLayout::kSplitRepeated:
    case RopeLayout::kSplitAxisDuplicated:
      return Named(split, type, {2 * n});
    case RopeLayout::kCosSin:
    case RopeLayout::kSinCos:
      return Named({"table"}, type, {2 * n});
    case RopeLayout::kCosSinDuplicated:
    case RopeLayout::kSinCosRepeated:
      return Named({"table"}, type, {4 * n});
    case RopeLayout::kPairs:
      return Named({"table"}, type, {n, 2});
    case RopeLayout::kPairsDuplicated:
      return Named({"table"}, type, {2 * n, 2});
    case RopeLayout::kComplex:
      type = type == ElementType::kF64 ? ElementType::kComplex128 : ElementType::kComplex64;
      return Named({"table"}, type, {n});
    case RopeLayout::kAngles:
      return Named({"angles"}, type, {n});
    case RopeLayout::kAnglesDuplicated:
    case RopeLayout::kAnglesRepeated:
      return Named({"angles"}, type, {2 * n});
    case RopeLayout::kFrequencies:
      return Named({"inverse_frequencies"}, type, {n});
    case RopeLayout::kPeriods:
      return Named({"periods"}, type, {n});
  }
  return {};
}

bool IsSingleRow(RopeLayout layout) {
  return layout == RopeLayout::kFrequencies || layout == RopeLayout::kPeriods;
}

}  // namespace

bool HoldsAngles(RopeLayout layout) {
  return layout >= RopeLayout::kAngles && layout <= RopeLayout::kPeriods;
}

PhasorForm RopeForm(const RopeSpec& spec, ElementType type) {
  const int64_t n = spec.rotary_dim / 2;
  PhasorForm form;
  form.element_type = type;
  form.layout = {.segments = SegmentsOf(spec, n), .pairs = n};
  if (IsSingleRow(spec.layout)) {
    form.shape = {.row_dims = {1}, .tensors = {}, .row_kind = RowKind::kSingle};
  } else {
    form.shape = PositionShape(spec);
    form.shape.real_positions = !HoldsAngles(spec.layout) && !spec.axes && !spec.xpos;
    form.grid = spec.grid;
  }
  form.shape.tensors = TensorsOf(spec, type, n);
  if (!spec.axes) return form;
  for (const PairOrigin& origin : PairOrigins(*spec.axes, n)) form.axis_of_pair.push_back(origin.axis);
  return form;
}

}  // namespace posenc
