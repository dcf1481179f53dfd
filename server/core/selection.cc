#include "server/core/selection.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "server/core/limits.h"
#include "server/core/violations.h"

namespace posenc {
namespace {

// Violations of form and of range are kept apart, since they have different status codes.
struct Findings {
  Violations form;
  Violations range;

  absl::Status ToStatus() const {
    if (!form.empty()) return form.ToStatus();
    return range.ToStatus(absl::StatusCode::kOutOfRange);
  }
};

// A map of buckets: queries by keys, the same for all heads.
bool IsMap(const TableShape& shape) { return shape.tensors.front().name == "buckets"; }

// Resolves an optional range within [0, size).
RowRun ResolveRange(const std::optional<Range>& range, int64_t size, absl::string_view field,
                    Findings& findings) {
  if (!range) return {0, size};
  const int64_t end = range->end.value_or(size);
  const std::string begin_field = absl::StrCat(field, ".begin");
  const std::string end_field = absl::StrCat(field, ".end");
  if (range->begin < 0 || range->begin > size) {
    findings.range.Add(begin_field, range->begin, absl::StrCat("0 to ", size));
  } else if (end > size || end < 0) {
    findings.range.Add(end_field, end, absl::StrCat(range->begin, " to ", size));
  } else if (end < range->begin) {
    findings.form.Add(end_field, end, absl::StrCat("at least the begin, ", range->begin));
  } else {
    return {range->begin, end};
  }
  return {};
}

// The list of positions that a selection has, under the name that requests give it: whole numbers or real ones.
struct PositionList {
  absl::string_view field;
  std::span<const int64_t> whole = {};
  std::span<const double> real = {};
  bool per_axis = false;

  int64_t size() const { return static_cast<int64_t>(whole.size() + real.size()); }
};

std::vector<PositionList> PositionListsOf(const Selection& selection) {
  std::vector<PositionList> lists;
  const auto add = [&](PositionList list) {
    if (list.size() > 0) lists.push_back(list);
  };
  add({.field = "selection.positions", .whole = selection.positions});
  add({.field = "selection.real_positions", .real = selection.real_positions});
  add({.field = "selection.axis_positions", .whole = selection.axis_positions, .per_axis = true});
  return lists;
}

// Whether this table's rows can be named as `list` does.
bool CheckKind(const PositionList& list, const TableShape& shape, Findings& findings) {
  const auto refuse = [&](std::string description) {
    findings.form.AddText(list.field, std::move(description));
    return false;
  };
  if (shape.row_kind != RowKind::kPositions) {
    return refuse("is given, but the rows of this table have no positions");
  }
  if (!list.real.empty() && !shape.real_positions) {
    return refuse("is given, but this table has whole positions only; allowed: positions");
  }
  if (list.per_axis && shape.position_axes == 1) {
    return refuse("is given, but this table has one position axis; allowed: positions");
  }
  const int64_t count = list.size();
  if (list.per_axis && count % shape.position_axes != 0) {
    return refuse(absl::StrCat("has ", count, " entries; allowed: a multiple of the ",
                               shape.position_axes, " axes"));
  }
  const int64_t rows = list.per_axis ? count / shape.position_axes : count;
  if (rows <= limits::kMaxPositionsPerRequest) return true;
  return refuse(absl::StrCat("has ", rows, " entries; allowed: at most ", limits::kMaxPositionsPerRequest));
}

// Whole numbers are compared as such: no double is 2^53 + 1. Real ones may lie between the last row and the end;
// NaN is outside of everything.
template <typename Position>
void CheckPositions(absl::string_view field, std::span<const Position> positions, const TableShape& shape,
                    Findings& findings) {
  const auto begin = static_cast<Position>(shape.positions_begin);
  const auto end = static_cast<Position>(shape.positions_end);
  for (size_t i = 0; i < positions.size(); ++i) {
    if (positions[i] >= begin && positions[i] < end) continue;
    const std::string allowed =
        std::is_same_v<Position, double>
            ? absl::StrCat(shape.positions_begin, " to less than ", shape.positions_end)
            : absl::StrCat(shape.positions_begin, " to ", shape.positions_end - 1);
    findings.range.Add(absl::StrCat(field, "[", i, "]"), positions[i], allowed);
  }
}

// Text rows of a table with several axes stand at the same position on each that moves with text. Whole numbers
// that passed the check are exact as doubles.
std::vector<double> PerAxis(const PositionList& list, const TableShape& shape) {
  if (!list.real.empty()) return {list.real.begin(), list.real.end()};
  if (list.per_axis || shape.position_axes == 1) return {list.whole.begin(), list.whole.end()};
  std::vector<double> all;
  all.reserve(list.whole.size() * static_cast<size_t>(shape.position_axes));
  for (const int64_t position : list.whole) {
    all.insert(all.end(), static_cast<size_t>(shape.position_axes), static_cast<double>(position));
    if (shape.last_axis_still) all.back() = 0;
  }
  return all;
}

void ResolvePositions(const Selection& selection, const std::vector<PositionList>& lists,
                      const TableShape& shape, Findings& findings, SlicePlan& plan) {
  const PositionList& list = lists.front();
  if (lists.size() > 1) {
    findings.form.AddText(lists[1].field, absl::StrCat("stands beside ", list.field, "; allowed: one of the two"));
  }
  if (selection.rows) findings.form.AddText(list.field, "stands beside rows; allowed: one of the two");
  if (!CheckKind(list, shape, findings)) return;
  CheckPositions(list.field, list.whole, shape, findings);
  CheckPositions(list.field, list.real, shape, findings);
  plan.position_axes = shape.position_axes;
  plan.positions = PerAxis(list, shape);
  plan.row_dims = {static_cast<int64_t>(plan.positions.size()) / plan.position_axes};
}

bool HasKeys(const TableShape& shape) {
  return shape.row_kind == RowKind::kHeadQueries || shape.row_kind == RowKind::kHeads || IsMap(shape);
}

void CheckApplies(const Selection& selection, const TableShape& shape, Findings& findings) {
  const bool slopes = shape.row_kind == RowKind::kSingle && shape.tensors.front().name == "slopes";
  const bool heads = shape.row_kind == RowKind::kHeadQueries || shape.row_kind == RowKind::kHeads || slopes;
  if (selection.heads && !heads) {
    findings.form.AddText("selection.heads", "is given, but this table has no heads");
  }
  if (selection.keys && !HasKeys(shape)) {
    findings.form.AddText("selection.keys", "is given, but this table has no keys");
  }
  if (selection.columns && (heads || HasKeys(shape))) {
    findings.form.AddText("selection.columns", "is given, but this table has heads and keys instead");
  }
  if (selection.rows && shape.row_kind == RowKind::kHeads) {
    findings.form.AddText("selection.rows", "is given, but the rows of this table are heads; allowed: heads");
  }
}

void ResolveColumns(const Selection& selection, const TableShape& shape, Findings& findings,
                    SlicePlan& plan) {
  const int64_t columns = shape.tensors.front().columns();
  RowRun run;
  if (HasKeys(shape)) {
    run = ResolveRange(selection.keys, columns, "selection.keys", findings);
  } else if (selection.heads) {
    run = ResolveRange(selection.heads, columns, "selection.heads", findings);
  } else {
    run = ResolveRange(selection.columns, columns, "selection.columns", findings);
  }
  plan.column_begin = run.begin;
  plan.column_end = run.end;
  plan.whole_rows = run.count() == columns;
}

void ResolveRows(const Selection& selection, const TableShape& shape, Findings& findings,
                 SlicePlan& plan) {
  const std::vector<PositionList> lists = PositionListsOf(selection);
  if (!lists.empty()) return ResolvePositions(selection, lists, shape, findings, plan);
  if (shape.row_kind == RowKind::kHeads) {
    plan.runs = {ResolveRange(selection.heads, shape.rows(), "selection.heads", findings)};
    plan.row_dims = {plan.runs.front().count()};
    return;
  }
  const RowRun rows =
      ResolveRange(selection.rows, shape.row_dims.back(), "selection.rows", findings);
  if (shape.row_kind != RowKind::kHeadQueries) {
    plan.runs = {rows};
    if (shape.row_kind != RowKind::kSingle) plan.row_dims = {rows.count()};
    return;
  }
  const int64_t queries = shape.row_dims.back();
  const RowRun heads =
      ResolveRange(selection.heads, shape.row_dims.front(), "selection.heads", findings);
  plan.row_dims = {heads.count(), rows.count()};
  if (rows.count() == queries) {
    plan.runs = {{heads.begin * queries, heads.end * queries}};
    return;
  }
  for (int64_t head = heads.begin; head < heads.end; ++head) {
    plan.runs.push_back({head * queries + rows.begin, head * queries + rows.end});
  }
}

}  // namespace

int64_t SlicePlan::row_count() const {
  int64_t count = static_cast<int64_t>(positions.size()) / position_axes;
  for (const RowRun& run : runs) count += run.count();
  return count;
}

int64_t SlicePlan::row_bytes(const TableShape& shape) const {
  int64_t bytes = 0;
  for (const TensorShape& tensor : shape.tensors) {
    bytes += (column_end - column_begin) * tensor.column_bytes();
  }
  return bytes;
}

uint64_t SlicePlan::total_bytes(const TableShape& shape) const {
  return SaturatedProduct(row_count(), row_bytes(shape));
}

std::vector<int64_t> SlicePlan::TensorDims(const TensorShape& tensor) const {
  std::vector<int64_t> dims;
  dims.reserve(row_dims.size() + tensor.row_shape.size());
  dims.assign(row_dims.begin(), row_dims.end());
  dims.push_back(column_end - column_begin);
  dims.insert(dims.end(), tensor.row_shape.begin() + 1, tensor.row_shape.end());
  return dims;
}

std::optional<int64_t> RowOfPosition(const TableShape& shape, const SlicePlan& plan, int64_t out_row) {
  const auto first = plan.positions.begin() + out_row * plan.position_axes;
  const auto last = first + plan.position_axes - (shape.last_axis_still ? 1 : 0);
  if (!std::all_of(first, last, [&](double other) { return other == *first; })) return std::nullopt;
  if (shape.last_axis_still && *last != 0) return std::nullopt;
  const double offset = *first - static_cast<double>(shape.first_position);
  const double row = shape.descending ? -offset : offset;
  if (!(row >= 0 && row < static_cast<double>(shape.rows())) || row != std::floor(row)) return std::nullopt;
  return static_cast<int64_t>(row);
}

absl::StatusOr<SlicePlan> ResolveSelection(const Selection& selection, const TableShape& shape) {
  Findings findings;
  SlicePlan plan;
  CheckApplies(selection, shape, findings);
  ResolveRows(selection, shape, findings, plan);
  ResolveColumns(selection, shape, findings, plan);
  if (absl::Status status = findings.ToStatus(); !status.ok()) return status;
  return plan;
}

}  // namespace posenc
