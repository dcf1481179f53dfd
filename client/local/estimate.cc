#include "client/local/estimate.h"

#include <algorithm>
#include <optional>
#include <variant>

#include "client/remote/unary_slice.h"
#include "server/core/limits.h"

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

double RowsOf(const Grid& grid) {
  double rows = 1;
  for (int64_t size : grid.sizes) rows *= static_cast<double>(size);
  return rows + static_cast<double>(grid.leading_rows + grid.trailing_rows);
}

double RowsOf(const RopeSpec& spec) {
  if (spec.grid) return RowsOf(*spec.grid);
  if (spec.dual_chunk && spec.dual_chunk->role != ChunkRole::kKey) {
    return static_cast<double>(spec.dual_chunk->chunk_size - spec.dual_chunk->local_size);
  }
  return static_cast<double>(spec.max_len);
}

Extent ExtentOf(const RopeSpec& spec) {
  const auto width = static_cast<double>(spec.rotary_dim > 0 ? spec.rotary_dim : spec.head_dim);
  const double rows = RowsOf(spec);
  const double tensors = spec.xpos ? 4 : 2;  // where cosines and sines have their own
  switch (spec.layout) {
    case RopeLayout::kSplitHalf:
      return {rows, width / 2, tensors};
    case RopeLayout::kPairs:
    case RopeLayout::kComplex:
      return {rows, width / 2, 2};
    case RopeLayout::kSplitDuplicated:
    case RopeLayout::kSplitRepeated:
    case RopeLayout::kSplitAxisDuplicated:
      return {rows, width, tensors};
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
  const bool row = spec.form == AlibiForm::kRow || spec.form == AlibiForm::kKeyIndex;
  return {row ? 1 : length, length, 1, heads};
}

Extent ExtentOf(const GridSinusoidalSpec& spec) {
  return {RowsOf(spec.grid), static_cast<double>(spec.d_model)};
}

// The server alone knows the size of a stored tensor, and how many heads a weight has.
Extent ExtentOf(const LearnedSpec&) { return {}; }

Extent ExtentOf(const RelativeBucketSpec& spec) {
  const auto length = static_cast<double>(spec.max_len);
  return {length, length};
}

Extent ExtentOf(const RelativeBiasSpec& spec) {
  const auto length = static_cast<double>(spec.max_len);
  return {length, length, 1, static_cast<double>(spec.heads)};
}

Extent ExtentOf(const QueryTemperatureSpec& spec) { return {static_cast<double>(spec.max_len)}; }

double RowsOf(const Selection& selection, double all_rows) {
  const size_t listed = selection.positions.size() + selection.real_positions.size() +
                        selection.axis_positions.size();  // several of them are refused
  return listed > 0 ? static_cast<double>(listed) : Length(selection.rows, all_rows);
}

}  // namespace

double EstimateBytes(const TableSpec& spec, const Selection& selection) {
  const Extent extent = std::visit([](const auto& family) { return ExtentOf(family); }, spec.family);
  const double rows = RowsOf(selection, extent.rows);
  const size_t element_bytes = ElementSizeBytes(
      spec.element_type == ElementType::kUnspecified ? ElementType::kF32 : spec.element_type);
  const auto& columns = selection.keys ? selection.keys : selection.columns;
  const double elements = rows * Length(columns, extent.columns) * extent.column_elements *
                          Length(selection.heads, extent.heads);
  return std::max(0.0, elements * static_cast<double>(element_bytes));
}

bool FitsOneMessage(const TableSpec& spec, const Selection& selection, double bytes) {
  if (bytes > kMaxUnaryBytes) return false;
  if (!selection.columns && !selection.keys && !selection.heads) return true;
  Selection whole_rows = selection;
  whole_rows.columns = whole_rows.keys = whole_rows.heads = std::nullopt;
  return EstimateBytes(spec, whole_rows) <= static_cast<double>(limits::kMaxGatherBytes);
}

}  // namespace posenc
