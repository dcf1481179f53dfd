#include "client/cli/row_names.h"

#include <variant>

namespace posenc::cli {
namespace {

int64_t BeginOf(const std::optional<Range>& range) { return range ? range->begin : 0; }

}  // namespace

size_t RowRank(const TableSpec& spec) {
  if (const auto* alibi = std::get_if<AlibiSpec>(&spec.family)) {
    return alibi->form == AlibiForm::kSlopes ? 0 : 2;
  }
  const auto* rope = std::get_if<RopeSpec>(&spec.family);
  const bool one_row =
      rope && (rope->layout == RopeLayout::kFrequencies || rope->layout == RopeLayout::kPeriods);
  return one_row ? 0 : 1;
}

RowNames NameRows(const TableSpec& spec, const Selection& selection,
                  const std::vector<int64_t>& row_dims) {
  RowNames names;
  names.counts = row_dims;
  switch (RowRank(spec)) {
    case 0:
      names.first_column = BeginOf(selection.heads ? selection.heads : selection.columns);
      break;
    case 1:
      names.headings = {selection.positions.empty() ? "row" : "position"};
      names.first = {BeginOf(selection.rows)};
      names.positions = selection.positions;
      names.first_column = BeginOf(selection.columns);
      break;
    default:
      names.headings = {"head", "query"};
      names.first = {BeginOf(selection.heads), BeginOf(selection.rows)};
      names.first_column = BeginOf(selection.keys);
      names.column_heading = "key";
  }
  return names;
}

std::vector<int64_t> RowNames::NumbersOf(int64_t row) const {
  if (!positions.empty()) return {positions[row]};
  std::vector<int64_t> numbers(headings.size());
  for (size_t i = headings.size(); i-- > 0;) {
    numbers[i] = first[i] + row % counts[i];
    row /= counts[i];
  }
  return numbers;
}

}  // namespace posenc::cli
