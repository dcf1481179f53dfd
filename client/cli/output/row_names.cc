#include "client/cli/output/row_names.h"

#include <variant>

#include "absl/strings/str_cat.h"
#include "client/cli/flags/field_text.h"

namespace posenc::cli {
namespace {

int64_t BeginOf(const std::optional<Range>& range) { return range ? range->begin : 0; }

template <typename Number>
std::vector<std::string> Texts(const std::vector<Number>& numbers) {
  std::vector<std::string> texts;
  for (Number number : numbers) texts.push_back(ValueText(number));
  return texts;
}

// What the columns of a table are, and its rows where there is one row for each head or query.
struct Headings {
  size_t rank = 1;
  const char* row = "row";
  const char* column = "";
};

Headings HeadingsOf(const AlibiSpec& spec) {
  switch (spec.form) {
    case AlibiForm::kSlopes:
      return {.rank = 0};
    case AlibiForm::kRow:
    case AlibiForm::kKeyIndex:
      return {.row = "head", .column = "key"};
    case AlibiForm::kCausal:
    case AlibiForm::kSymmetric:
      break;
  }
  return {.rank = 2, .column = "key"};
}

Headings HeadingsOf(const RopeSpec& spec) {
  const bool one_row = spec.layout == RopeLayout::kFrequencies || spec.layout == RopeLayout::kPeriods;
  return {.rank = one_row ? size_t{0} : size_t{1}};
}

Headings HeadingsOf(const RelativeBucketSpec& spec) {
  return {.rank = spec.weight.empty() ? size_t{1} : size_t{2}, .row = "query", .column = "key"};
}

Headings HeadingsOf(const RelativeBiasSpec&) { return {.rank = 2, .column = "key"}; }
Headings HeadingsOf(const SinusoidalSpec&) { return {}; }
Headings HeadingsOf(const GridSinusoidalSpec&) { return {}; }
Headings HeadingsOf(const LearnedSpec&) { return {}; }
Headings HeadingsOf(const QueryTemperatureSpec&) { return {}; }

Headings HeadingsOf(const TableSpec& spec) {
  return std::visit([](const auto& family) { return HeadingsOf(family); }, spec.family);
}

// Names rows by the positions that were asked for; nothing for rows by index.
void NamePositions(const Selection& selection, int64_t rows, RowNames& names) {
  names.positions = Texts(selection.positions);
  if (!selection.real_positions.empty()) names.positions = Texts(selection.real_positions);
  if (!names.positions.empty()) names.headings = {"position"};
  if (selection.axis_positions.empty() || rows == 0) return;
  names.positions = Texts(selection.axis_positions);
  names.headings.clear();
  const auto axes = static_cast<int64_t>(names.positions.size()) / rows;
  for (int64_t axis = 0; axis < axes; ++axis) names.headings.push_back(absl::StrCat("position_", axis));
}

}  // namespace

size_t RowRank(const TableSpec& spec) { return HeadingsOf(spec).rank; }

RowNames NameRows(const TableSpec& spec, const Selection& selection,
                  const std::vector<int64_t>& row_dims) {
  RowNames names;
  names.counts = row_dims;
  const Headings headings = HeadingsOf(spec);
  names.column_heading = headings.column;
  const bool keys = !names.column_heading.empty();
  names.first_column = BeginOf(keys ? selection.keys : selection.columns);
  switch (headings.rank) {
    case 0:
      if (selection.heads) names.first_column = selection.heads->begin;
      break;
    case 1:
      names.headings = {headings.row};
      names.first = {BeginOf(names.headings.front() == "head" ? selection.heads : selection.rows)};
      NamePositions(selection, row_dims.front(), names);
      break;
    default:
      names.headings = {"head", "query"};
      names.first = {BeginOf(selection.heads), BeginOf(selection.rows)};
  }
  return names;
}

std::vector<std::string> RowNames::TextsOf(int64_t row) const {
  const auto width = static_cast<int64_t>(headings.size());
  if (!positions.empty()) {
    const auto begin = positions.begin() + row * width;
    return {begin, begin + width};
  }
  std::vector<std::string> texts(headings.size());
  for (size_t i = headings.size(); i-- > 0;) {
    texts[i] = absl::StrCat(first[i] + row % counts[i]);
    row /= counts[i];
  }
  return texts;
}

}  // namespace posenc::cli
