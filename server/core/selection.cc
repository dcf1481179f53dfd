#include "server/core/selection.h"

#include <limits>
#include <string>

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

void CheckPositions(const Selection& selection, const TableShape& shape, Findings& findings) {
  const auto count = static_cast<int64_t>(selection.positions.size());
  if (selection.rows) {
    findings.form.AddText("selection.positions", "stands beside rows; allowed: one of the two");
  }
  if (shape.row_kind != RowKind::kPositions) {
    findings.form.AddText("selection.positions", "is given, but the rows of this table have no positions");
    return;
  }
  if (count > limits::kMaxPositionsPerRequest) {
    findings.form.AddText("selection.positions",
                          absl::StrCat("has ", count, " entries; allowed: at most ",
                                       limits::kMaxPositionsPerRequest));
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    const int64_t position = selection.positions[i];
    if (position >= shape.positions_begin && position < shape.positions_end) continue;
    findings.range.Add(absl::StrCat("selection.positions[", i, "]"), position,
                       absl::StrCat(shape.positions_begin, " to ", shape.positions_end - 1));
  }
}

void CheckApplies(const Selection& selection, const TableShape& shape, Findings& findings) {
  const bool bias = shape.row_kind == RowKind::kHeadQueries;
  const bool slopes = shape.row_kind == RowKind::kSingle && shape.tensors.front().name == "slopes";
  if (selection.heads && !bias && !slopes) {
    findings.form.AddText("selection.heads", "is given, but this table has no heads");
  }
  if (selection.keys && !bias) {
    findings.form.AddText("selection.keys", "is given, but this table has no keys");
  }
  if (selection.columns && (bias || slopes)) {
    findings.form.AddText("selection.columns", "is given, but this table has heads and keys instead");
  }
}

void ResolveColumns(const Selection& selection, const TableShape& shape, Findings& findings,
                    SlicePlan& plan) {
  const int64_t columns = shape.tensors.front().columns();
  RowRun run;
  if (shape.row_kind == RowKind::kHeadQueries) {
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
  if (!selection.positions.empty()) {
    CheckPositions(selection, shape, findings);
    plan.positions = selection.positions;
    plan.row_dims = {static_cast<int64_t>(selection.positions.size())};
    return;
  }
  const RowRun rows =
      ResolveRange(selection.rows, shape.row_dims.back(), "selection.rows", findings);
  if (shape.row_kind != RowKind::kHeadQueries) {
    plan.runs = {rows};
    if (shape.row_kind == RowKind::kPositions) plan.row_dims = {rows.count()};
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
  auto count = static_cast<int64_t>(positions.size());
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

int64_t SlicePlan::total_bytes(const TableShape& shape) const {
  int64_t bytes = 0;
  const bool overflow = __builtin_mul_overflow(row_count(), row_bytes(shape), &bytes);
  return overflow ? std::numeric_limits<int64_t>::max() : bytes;
}

std::vector<int64_t> SlicePlan::TensorDims(const TensorShape& tensor) const {
  std::vector<int64_t> dims = row_dims;
  dims.push_back(column_end - column_begin);
  dims.insert(dims.end(), tensor.row_shape.begin() + 1, tensor.row_shape.end());
  return dims;
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
