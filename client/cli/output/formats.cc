#include "client/cli/output/formats.h"

#include <array>
#include <cmath>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/output/number_text.h"

namespace posenc::cli {
namespace {

constexpr std::array<std::pair<absl::string_view, Format>, 6> kFormats = {{
    {"table", Format::kTable},
    {"json", Format::kJson},
    {"csv", Format::kCsv},
    {"npy", Format::kNpy},
    {"safetensors", Format::kSafetensors},
    {"raw", Format::kRaw},
}};

std::string JsonNumber(ElementType type, const std::byte* data) {
  const double value = PartValue(type, data);
  // Readers of JSON take -0 for the integer 0.
  if (value == 0 && std::signbit(value)) return "-0.0";
  if (std::isfinite(value)) return PartText(type, data);
  if (std::isnan(value)) return "\"NaN\"";
  return value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
}

// Writes the elements from `data` on as lists within lists.
const std::byte* WriteNested(const TensorInfo& info, size_t dim, const std::byte* data,
                             std::ostream& out) {
  const ElementType part = PartType(info.element_type);
  const int parts = PartsOf(info.element_type);
  const bool leaf = dim == info.shape.size();
  if (leaf && parts == 1) {
    out << JsonNumber(part, data);
    return data + ElementSizeBytes(part);
  }
  out << '[';
  const int64_t count = leaf ? parts : info.shape[dim];
  for (int64_t i = 0; i < count; ++i) {
    if (i > 0) out << ',';
    if (leaf) {
      out << JsonNumber(part, data);
      data += ElementSizeBytes(part);
    } else {
      data = WriteNested(info, dim + 1, data, out);
    }
  }
  out << ']';
  return data;
}

}  // namespace

absl::StatusOr<Format> ParseFormat(const std::string& name) {
  for (const auto& [known, format] : kFormats) {
    if (name == known) return format;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("format '", name, "' is unknown; allowed: table, json, csv, npy, safetensors, raw"));
}

Format FormatOfFile(const std::string& path) {
  if (absl::EndsWith(path, ".bin")) return Format::kRaw;
  for (const auto& [name, format] : kFormats) {
    if (absl::EndsWith(path, absl::StrCat(".", name))) return format;
  }
  return Format::kTable;
}

const std::byte* Grid::At(int64_t row, int64_t column) const {
  return data + (row * columns + column) * static_cast<int64_t>(ElementSizeBytes(part_type));
}

std::string Grid::ColumnName(int64_t column, int64_t first_column) const {
  if (PartsOf(info.element_type) == 2) {
    return absl::StrCat(first_column + column / 2, column % 2 == 0 ? ".re" : ".im");
  }
  // Only the pair layouts have a dimension after the columns.
  const bool pairs = info.name == "table" && info.shape.size() == 3;
  if (pairs) return absl::StrCat(first_column + column / 2, column % 2 == 0 ? ".cos" : ".sin");
  return absl::StrCat(first_column + column);
}

bool HasNoElements(const TensorInfo& info) { return absl::c_linear_search(info.shape, 0); }

Grid GridOf(const Table& table, const TensorInfo& info, const RowNames& names) {
  Grid grid{.info = info,
            .data = table.bytes(info.name).data(),
            .part_type = PartType(info.element_type),
            .rows = HasNoElements(info) ? 0 : 1};
  for (size_t i = 0; i < names.counts.size() && grid.rows > 0; ++i) grid.rows *= info.shape[i];
  grid.columns = PartsOf(info.element_type);
  for (size_t i = names.counts.size(); i < info.shape.size(); ++i) grid.columns *= info.shape[i];
  return grid;
}

void WriteJson(const Table& table, std::ostream& out) {
  out << "{\"key\":\"" << table.key() << "\",\"tensors\":[";
  const char* separator = "";
  for (const TensorInfo& info : table.tensors()) {
    out << separator << "{\"name\":\"" << info.name << "\",\"element_type\":\""
        << std::string(ElementTypeName(info.element_type)) << "\",\"shape\":["
        << absl::StrJoin(info.shape, ",") << "],\"data\":";
    if (HasNoElements(info)) {
      out << "[]";
    } else {
      WriteNested(info, 0, table.bytes(info.name).data(), out);
    }
    out << '}';
    separator = ",";
  }
  out << "]}\n";
}

void WriteCsv(const Table& table, const RowNames& names, std::ostream& out) {
  std::vector<Grid> grids;
  std::vector<std::string> headings = names.headings;
  for (const TensorInfo& info : table.tensors()) {
    const Grid& grid = grids.emplace_back(GridOf(table, info, names));
    for (int64_t column = 0; column < grid.columns; ++column) {
      headings.push_back(absl::StrCat(info.name, "_", grid.ColumnName(column, names.first_column)));
    }
  }
  out << absl::StrJoin(headings, ",") << '\n';
  const int64_t rows = grids.empty() ? 0 : grids.front().rows;
  for (int64_t row = 0; row < rows; ++row) {
    const char* separator = "";
    for (const std::string& name : names.TextsOf(row)) {
      out << separator << name;
      separator = ",";
    }
    for (const Grid& grid : grids) {
      for (int64_t column = 0; column < grid.columns; ++column) {
        out << separator << PartText(grid.part_type, grid.At(row, column));
        separator = ",";
      }
    }
    out << '\n';
  }
}

}  // namespace posenc::cli
