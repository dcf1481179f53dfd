#include "client/cli/diff/diff_report.h"

#include <map>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/cli/flags/field_text.h"
#include "client/cli/output/number_text.h"
#include "nlohmann/json.hpp"

namespace posenc::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string SourceOf(const DiffSide& side, const std::string& path) {
  for (const ValueOrigin& origin : side.origins()) {
    if (origin.field == path) return absl::StrCat(origin.defaulted ? "default: " : "from ", origin.source);
  }
  return "";
}

std::string BinText(const UlpBin& bin) {
  if (bin.from == kUnmeasurable) return "not finite on one side";
  if (bin.to == kUnmeasurable - 1) return absl::StrCat("more than ", bin.from - 1);
  return bin.from == bin.to ? absl::StrCat(bin.from) : absl::StrCat(bin.from, " to ", bin.to);
}

std::string UlpText(uint64_t ulps) { return ulps == kUnmeasurable ? "no number" : absl::StrCat(ulps); }

// "position 3" or "head 0, query 5".
std::string RowText(const RowNames& names, int64_t row) {
  const std::vector<std::string> texts = names.TextsOf(row);
  std::vector<std::string> parts;
  for (size_t i = 0; i < texts.size(); ++i) parts.push_back(absl::StrCat(names.headings[i], " ", texts[i]));
  return absl::StrJoin(parts, ", ");
}

// The column that a person counts, of a complex number both parts' the same.
int64_t ColumnOf(const DiffReport& report, const CellDiff& cell) {
  return cell.column / PartsOf(report.a.tensors().front().element_type) + report.names.first_column;
}

int64_t PairOf(const DiffReport& report, const CellDiff& cell) {
  const auto& spec = report.a.spec() ? report.a.spec() : report.b.spec();
  return spec ? PairOfColumn(*spec, ColumnOf(report, cell)) : -1;
}

void PrintCell(const char* title, const DiffReport& report, const CellDiff& cell, std::ostream& out) {
  const std::string row = RowText(report.names, cell.row);
  const int64_t pair = PairOf(report, cell);
  out << absl::StrFormat("%-12s", title) << report.tensors[cell.tensor] << (row.empty() ? "" : ", ") << row
      << ", column " << ColumnOf(report, cell) << (pair < 0 ? "" : absl::StrCat(" (pair ", pair, ")")) << ": A "
      << cell.a_text << ", B " << cell.b_text << ", " << UlpText(cell.ulps) << (cell.ulps == 1 ? " ulp" : " ulps")
      << '\n';
}

Json CellJson(const DiffReport& report, const CellDiff& cell) {
  Json json = {{"tensor", report.tensors[cell.tensor]}};
  const std::vector<std::string> texts = report.names.TextsOf(cell.row);
  for (size_t i = 0; i < texts.size(); ++i) json[report.names.headings[i]] = texts[i];
  json["column"] = ColumnOf(report, cell);
  const int64_t pair = PairOf(report, cell);
  if (pair >= 0) json["pair"] = pair;
  json["a"] = cell.a_text;
  json["b"] = cell.b_text;
  json["ulps"] = cell.ulps == kUnmeasurable ? Json() : Json(cell.ulps);
  return json;
}

Json SideJson(const DiffSide& side) {
  Json json = {{"name", side.name()}};
  if (side.spec()) json["spec"] = SpecCommand(*side.spec());
  if (!side.key().empty()) json["key"] = side.key();
  return json;
}

void PrintSide(const char* title, const DiffSide& side, std::ostream& out) {
  out << absl::StrFormat("%-12s", title) << side.name() << '\n';
  if (!side.spec()) return;
  const std::string command = SpecCommand(*side.spec());
  if (command != side.name()) out << "            " << Shortened(command, 200) << '\n';
  out << "            key " << side.key() << '\n';
}

void PrintUlps(const DiffTally& tally, std::ostream& out) {
  out << "ulps\n";
  for (size_t i = 0; i < kUlpBins.size(); ++i) {
    if (tally.bins[i] == 0) continue;
    const double share = 100.0 * static_cast<double>(tally.bins[i]) / static_cast<double>(tally.cells);
    out << absl::StrFormat("  %-22s  %12d  %8.4f %%\n", BinText(kUlpBins[i]), tally.bins[i], share);
  }
}

int64_t PairOfColumn(const RopeSpec& spec, int64_t column) {
  const int64_t pairs = (spec.rotary_dim > 0 ? spec.rotary_dim : spec.head_dim) / 2;
  switch (spec.layout) {
    case RopeLayout::kSplitRepeated:
    case RopeLayout::kAnglesRepeated:
      return column / 2;
    case RopeLayout::kSinCosRepeated:
      return column % (2 * pairs) / 2;
    case RopeLayout::kSplitAxisDuplicated:
      return -1;
    default:  // every n columns are the n pairs
      return column % pairs;
  }
}

int64_t PairOfColumn(const SinusoidalSpec& spec, int64_t column) {
  if (spec.order == SinusoidalOrder::kInterleaved) return column / 2;
  return spec.d_model % 2 == 0 ? column % (spec.d_model / 2) : -1;
}

template <typename Family>
int64_t PairOfColumn(const Family&, int64_t) {
  return -1;
}

}  // namespace

int64_t PairOfColumn(const TableSpec& normalized, int64_t column) {
  return std::visit([&](const auto& family) { return PairOfColumn(family, column); }, normalized.family);
}

std::vector<ParameterDiff> CompareSpecs(const DiffSide& a, const DiffSide& b) {
  std::vector<ParameterDiff> found;
  if (!a.spec() || !b.spec()) return found;
  std::vector<SpecField> a_fields = SpecFieldsOf(*a.spec());
  std::map<std::string, std::string> b_texts;
  for (const SpecField& field : SpecFieldsOf(*b.spec())) b_texts[field.path] = field.text;
  const auto add = [&](const std::string& path, const std::string& a_text, const std::string& b_text) {
    if (a_text != b_text) found.push_back({path, a_text, b_text, SourceOf(a, path), SourceOf(b, path)});
  };
  std::map<std::string, bool> seen;
  for (const SpecField& field : a_fields) {
    seen[field.path] = true;
    const auto other = b_texts.find(field.path);
    add(field.path, field.text, other == b_texts.end() ? "(none)" : other->second);
  }
  for (const auto& [path, text] : b_texts) {
    if (!seen[path]) add(path, "(none)", text);
  }
  return found;
}

void PrintReport(const DiffReport& report, std::ostream& out) {
  PrintSide("A", report.a, out);
  PrintSide("B", report.b, out);
  if (!report.parameters.empty()) out << "parameters that differ\n";
  for (const ParameterDiff& parameter : report.parameters) {
    const auto side = [](const std::string& text, const std::string& source) {
      return absl::StrCat(Shortened(text, 40), source.empty() ? "" : absl::StrCat(" (", source, ")"));
    };
    out << absl::StrFormat("  %-32s  A ", parameter.path) << side(parameter.a, parameter.a_source) << ", B "
        << side(parameter.b, parameter.b_source) << '\n';
  }
  for (const std::string& reason : report.unlike) out << "different   " << reason << '\n';
  const DiffTally& tally = report.tally;
  if (tally.cells > 0) {
    out << "compared    " << absl::StrJoin(report.tensors, ", ") << ": " << report.rows << " rows, " << tally.cells
        << " numbers\n";
  }
  if (report.equal()) {
    out << "equal\n";
    return;
  }
  if (tally.different() == 0) return;
  out << "different   " << tally.different() << " numbers, by at most "
      << absl::StrFormat("%.6g", tally.largest_difference) << '\n';
  PrintCell("first", report, *tally.first, out);
  PrintCell("worst", report, *tally.worst, out);
  PrintUlps(tally, out);
}

Json ReportJson(const DiffReport& report) {
  Json parameters = Json::array();
  for (const ParameterDiff& parameter : report.parameters) {
    Json item = {{"field", parameter.path}, {"a", parameter.a}, {"b", parameter.b}};
    if (!parameter.a_source.empty()) item["a_source"] = parameter.a_source;
    if (!parameter.b_source.empty()) item["b_source"] = parameter.b_source;
    parameters.push_back(std::move(item));
  }
  const DiffTally& tally = report.tally;
  Json bins = Json::array();
  for (size_t i = 0; i < kUlpBins.size(); ++i) {
    bins.push_back({{"ulps", BinText(kUlpBins[i])}, {"numbers", tally.bins[i]}});
  }
  Json json = {{"equal", report.equal()},       {"a", SideJson(report.a)},
               {"b", SideJson(report.b)},       {"parameters", std::move(parameters)},
               {"unlike", report.unlike},       {"tensors", report.tensors},
               {"rows", report.rows},           {"numbers", tally.cells},
               {"different", tally.different()}, {"largest_difference", tally.largest_difference}};
  if (tally.first) json["first"] = CellJson(report, *tally.first);
  if (tally.worst) json["worst"] = CellJson(report, *tally.worst);
  json["ulps"] = std::move(bins);
  return json;
}

}  // namespace posenc::cli
