// The format for people.

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/cli/output/formats.h"
#include "client/cli/output/number_text.h"

namespace posenc::cli {
namespace {

// Rows that are shown at the top, and as many at the bottom.
constexpr int64_t kEdgeRows = 10;

struct ValueRange {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  double highest_finite = 0;  // magnitude
};

ValueRange RangeOf(const Grid& grid) {
  ValueRange range;
  for (int64_t row = 0; row < grid.rows; ++row) {
    for (int64_t column = 0; column < grid.columns; ++column) {
      const double value = PartValue(grid.part_type, grid.At(row, column));
      range.low = std::min(range.low, value);
      range.high = std::max(range.high, value);
      if (std::isfinite(value)) range.highest_finite = std::max(range.highest_finite, std::fabs(value));
    }
  }
  return range;
}

// Four decimals show a sine well; numbers far from 1 get an exponent.
std::string CellText(ElementType type, double value, const ValueRange& range) {
  if (type == ElementType::kI32) return absl::StrFormat("%.0f", value);
  const bool fixed = range.highest_finite == 0 ||
                     (range.highest_finite >= 1e-2 && range.highest_finite < 1e6);
  return fixed ? absl::StrFormat("%.4f", value) : absl::StrFormat("%.5e", value);
}

// Indices 0 … count - 1 with the middle left out; -1 stands for what is left out.
std::vector<int64_t> Shown(int64_t count, int64_t at_begin, int64_t at_end) {
  std::vector<int64_t> shown;
  for (int64_t i = 0; i < count; ++i) {
    if (count > at_begin + at_end && i == at_begin) {
      shown.push_back(-1);
      i = count - at_end;
      if (at_end == 0) break;
    }
    shown.push_back(i);
  }
  return shown;
}

class TextTable {
 public:
  TextTable(const Grid& grid, const RowNames& names, const TextLayout& layout)
      : grid_(grid), names_(names), range_(RangeOf(grid)) {
    const int64_t edge_rows = layout.full ? grid.rows : kEdgeRows;
    rows_ = Shown(grid.rows, edge_rows, edge_rows);
    MeasureNames();
    MeasureCells();
    // The indent, and the dots in the middle.
    const int64_t room = std::max<int64_t>(layout.width_columns - name_width_ - 2 - 5, 0);
    const int64_t fitting = layout.full ? grid.columns : std::max<int64_t>(2, room / (cell_width_ + 2));
    const bool elided = fitting < grid.columns;
    columns_ = elided ? Shown(grid.columns, (fitting + 1) / 2, fitting / 2)
                      : Shown(grid.columns, grid.columns, 0);
  }

  void Write(std::ostream& out) const {
    out << grid_.info.name << " [" << absl::StrJoin(grid_.info.shape, ", ") << "] "
        << std::string(ElementTypeName(grid_.info.element_type));
    if (grid_.rows * grid_.columns == 0) {
      out << "  empty\n";
      return;
    }
    out << "  range [" << Short(range_.low) << ", " << Short(range_.high) << "]\n";
    WriteLine(absl::StrCat(absl::StrJoin(names_.headings, " "),
                           names_.column_heading.empty() ? "" : " \\ ", names_.column_heading),
              [&](int64_t column) { return grid_.ColumnName(column, names_.first_column); }, out);
    for (int64_t row : rows_) {
      if (row < 0) {
        out << "  " << absl::StrFormat("%*s", name_width_, "...") << '\n';
        continue;
      }
      WriteLine(NameOf(row), [&](int64_t column) { return Cell(row, column); }, out);
    }
  }

 private:
  static std::string Short(double value) { return absl::StrFormat("%.6g", value); }
  std::string NameOf(int64_t row) const { return absl::StrJoin(names_.TextsOf(row), " "); }
  std::string Cell(int64_t row, int64_t column) const {
    return CellText(grid_.part_type, PartValue(grid_.part_type, grid_.At(row, column)), range_);
  }

  template <typename Text>
  void WriteLine(const std::string& name, Text text, std::ostream& out) const {
    out << "  " << absl::StrFormat("%*s", name_width_, name);
    for (int64_t column : columns_) {
      out << "  " << (column < 0 ? "..." : absl::StrFormat("%*s", cell_width_, text(column)));
    }
    out << '\n';
  }

  void MeasureNames() {
    std::string heading = absl::StrJoin(names_.headings, " ");
    if (!names_.column_heading.empty()) absl::StrAppend(&heading, " \\ ", names_.column_heading);
    name_width_ = static_cast<int>(heading.size());
    for (int64_t row : rows_) {
      if (row >= 0) name_width_ = std::max(name_width_, static_cast<int>(NameOf(row).size()));
    }
  }

  void MeasureCells() {
    // The widest cell holds the lowest or the highest number, or a minus sign.
    for (double value : {range_.low, range_.high, -range_.highest_finite}) {
      if (!std::isfinite(value) && grid_.rows * grid_.columns == 0) continue;
      const bool shown = value >= range_.low;
      if (!shown) continue;
      const std::string text = CellText(grid_.part_type, value, range_);
      cell_width_ = std::max(cell_width_, static_cast<int>(text.size()));
    }
    const std::string last = grid_.ColumnName(std::max<int64_t>(grid_.columns - 1, 0), names_.first_column);
    cell_width_ = std::max(cell_width_, static_cast<int>(last.size()));
  }

  const Grid& grid_;
  const RowNames& names_;
  const ValueRange range_;
  std::vector<int64_t> rows_;
  std::vector<int64_t> columns_;
  int name_width_ = 0;
  int cell_width_ = 0;
};

}  // namespace

void WriteTable(const Table& table, const RowNames& names, const TextLayout& layout,
                std::ostream& out) {
  for (const TensorInfo& info : table.tensors()) {
    const Grid grid = GridOf(table, info, names);
    TextTable(grid, names, layout).Write(out);
  }
}

}  // namespace posenc::cli
