#include "server/encodings/rope.h"

#include <algorithm>

namespace posenc {
namespace {

FrequencyRule RuleOf(const RopeSpec& spec) {
  return {.count = spec.rotary_dim / 2,
          .twice_pairs = spec.rotary_dim,
          .base = spec.base,
          .scaling = spec.scaling};
}

TableShape PositionShape(const RopeSpec& spec) {
  return {.row_dims = {spec.max_len},
          .tensors = {},
          .row_kind = RowKind::kPositions,
          .first_position = spec.first_position,
          .positions_begin = std::min(spec.first_position, 1 - spec.max_len),
          .positions_end = spec.first_position + spec.max_len};
}

// cos and sin in tensors of their own.
RowLayout Split(StoreForm form, int copies, int64_t second) {
  return {.form = form,
          .copies = copies,
          .cos = {Place{0, 0}, Place{0, second}},
          .sin = {Place{1, 0}, Place{1, second}}};
}

// All cosines, then all sines, or the other way round, in one tensor.
RowLayout Joined(StoreForm form, int copies, int64_t cos, int64_t sin, int64_t second) {
  return {.form = form,
          .copies = copies,
          .cos = {Place{0, cos}, Place{0, cos + second}},
          .sin = {Place{0, sin}, Place{0, sin + second}}};
}

RowLayout LayoutOf(RopeLayout layout, int64_t n) {
  constexpr StoreForm kColumns = StoreForm::kColumns, kRepeated = StoreForm::kRepeated;
  switch (layout) {
    case RopeLayout::kSplitDuplicated:
      return Split(kColumns, 2, n);
    case RopeLayout::kSplitRepeated:
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

std::vector<TensorShape> TensorsOf(RopeLayout layout, ElementType type, int64_t n) {
  const auto table = [&](std::vector<int64_t> row) {
    return std::vector<TensorShape>{{"table", type, std::move(row)}};
  };
  const auto split = [&](int64_t width) {
    return std::vector<TensorShape>{{"cos", type, {width}}, {"sin", type, {width}}};
  };
  switch (layout) {
    case RopeLayout::kSplitDuplicated:
    case RopeLayout::kSplitRepeated:
      return split(2 * n);
    case RopeLayout::kCosSin:
    case RopeLayout::kSinCos:
      return table({2 * n});
    case RopeLayout::kCosSinDuplicated:
    case RopeLayout::kSinCosRepeated:
      return table({4 * n});
    case RopeLayout::kPairs:
      return table({n, 2});
    case RopeLayout::kPairsDuplicated:
      return table({2 * n, 2});
    case RopeLayout::kComplex:
      type = type == ElementType::kF64 ? ElementType::kComplex128 : ElementType::kComplex64;
      return table({n});
    default:
      return split(n);
  }
}

}  // namespace

bool HoldsAngles(RopeLayout layout) { return layout >= RopeLayout::kAngles; }

PhasorTable DescribeRope(const RopeSpec& spec, ElementType type) {
  const int64_t n = spec.rotary_dim / 2;
  PhasorTable table;
  table.rule = RuleOf(spec);
  table.element_type = type;
  table.layout = LayoutOf(spec.layout, n);
  table.shape = PositionShape(spec);
  table.layout.cosines = table.layout.sines = n;
  table.shape.tensors = TensorsOf(spec.layout, type, n);
  return table;
}

ProductTable DescribeRopeAngles(const RopeSpec& spec, ElementType type) {
  const int64_t n = spec.rotary_dim / 2;
  ProductTable table{.rule = RuleOf(spec), .element_type = type, .shape = PositionShape(spec)};
  const auto single = [&](const char* name) {
    table.shape = {.row_dims = {1}, .tensors = {{name, type, {n}}}, .row_kind = RowKind::kSingle};
  };
  switch (spec.layout) {
    case RopeLayout::kFrequencies:
      single("inverse_frequencies");
      break;
    case RopeLayout::kPeriods:
      single("periods");
      table.inverted = true;
      break;
    default:
      table.form = spec.layout == RopeLayout::kAngles             ? ProductForm::kOnce
                   : spec.layout == RopeLayout::kAnglesDuplicated ? ProductForm::kDuplicated
                                                                  : ProductForm::kRepeated;
      table.shape.tensors = {{"angles", type, {table.form == ProductForm::kOnce ? n : 2 * n}}};
  }
  return table;
}

}  // namespace posenc
