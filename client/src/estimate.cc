#include "client/src/estimate.h"

#include <algorithm>
#include <optional>
#include <variant>

namespace posenc {
namespace {

// Rows, columns along which a row is cut, and elements in one column over all tensors.
struct Extent {
  double rows = 1;
  double columns = 1;
  double column_elements = 1;
  double heads = 1;
};

double Length(const std::optional<Range>& range, double size) {
  if (!range) return size;
  const double end = range->end ? static_cast<double>(*range->end) : size;
  return std::clamp(end - static_cast<double>(range->begin), 0.0, size);
}

Extent ExtentOf(const SinusoidalSpec& spec) {
  return {static_cast<double>(spec.max_len), static_cast<double>(spec.d_model)};
}

Extent ExtentOf(const RopeSpec& spec) {
  const auto width = static_cast<double>(spec.rotary_dim > 0 ? spec.rotary_dim : spec.head_dim);
  const auto rows = static_cast<double>(spec.max_len);
  switch (spec.layout) {
    case RopeLayout::kSplitHalf:
    case RopeLayout::kPairs:
    case RopeLayout::kComplex:
      return {rows, width / 2, 2};
    case RopeLayout::kSplitDuplicated:
    case RopeLayout::kSplitRepeated:
    case RopeLayout::kPairsDuplicated:
      return {rows, width, 2};
    case RopeLayout::kCosSin:
    case RopeLayout::kSinCos:
    case RopeLayout::kAnglesDuplicated:
    case RopeLayout::kAnglesRepeated:
      return {rows, width};
    case RopeLayout::kCosSinDuplicated:
    case RopeLayout::kSinCosRepeated:
      return {rows, 2 * width};
    case RopeLayout::kAngles:
      return {rows, width / 2};
    case RopeLayout::kFrequencies:
    case RopeLayout::kPeriods:
      return {1, width / 2};
  }
  return {};
}

Extent ExtentOf(const AlibiSpec& spec) {
  const auto heads = static_cast<double>(spec.heads);
  const auto length = static_cast<double>(spec.max_len);
  if (spec.form == AlibiForm::kSlopes) return {1, 1, 1, heads};
  return {length, length, 1, heads};
}

}  // namespace

double EstimateBytes(const TableSpec& spec, const Selection& selection) {
  const Extent extent = std::visit([](const auto& family) { return ExtentOf(family); }, spec.family);
  const double rows = selection.positions.empty() ? Length(selection.rows, extent.rows)
                                                  : static_cast<double>(selection.positions.size());
  const auto& columns = selection.keys ? selection.keys : selection.columns;
  const double elements = rows * Length(columns, extent.columns) * extent.column_elements *
                          Length(selection.heads, extent.heads);
  return std::max(0.0, elements * static_cast<double>(ElementSizeBytes(spec.element_type)));
}

}  // namespace posenc
