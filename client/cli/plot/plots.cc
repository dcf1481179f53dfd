#include "client/cli/plot/plots.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <variant>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/cli/diff/pair_rows.h"
#include "client/cli/flags/field_text.h"
#include "client/cli/output/formats.h"
#include "client/cli/output/number_text.h"
#include "client/cli/output/row_names.h"
#include "client/cli/plot/plot_scripts.h"

namespace posenc::cli {
namespace {

// More would not be seen, and takes gnuplot minutes.
constexpr int64_t kMostCells = int64_t{1} << 22;

std::string TitleOf(const PlotRequest& request) { return Shortened(SpecCommand(request.subject.spec), 90); }

bool HasPositions(const Selection& selection) {
  return !selection.positions.empty() || !selection.real_positions.empty() || !selection.axis_positions.empty();
}

// Rows [0, most), as far as there are that many.
Range FirstRows(int64_t rows, int64_t most) { return {0, std::min(rows, most)}; }

// The selection, with a default for what it leaves open: `most` rows; of a bias one head, `most` keys.
Selection Visible(const PlotRequest& request, int64_t most) {
  Selection selection = request.selection;
  const std::vector<int64_t>& shape = request.description.tensors.front().shape;
  const size_t rank = RowRank(request.description.spec);
  const RowNames names = NameRows(request.description.spec, {}, {shape.begin(), shape.begin() + rank});
  const std::string& column = names.column_heading;
  if (rank == 2) {
    if (!selection.heads) selection.heads = Range{0, 1};
    if (!selection.rows) selection.rows = FirstRows(shape[1], most);
  } else if (rank == 1 && names.headings.front() == "head") {
    if (!selection.heads) selection.heads = FirstRows(shape[0], most);
  } else if (rank == 1 && !selection.rows && !HasPositions(selection)) {
    selection.rows = FirstRows(shape[0], most);
  }
  if (!column.empty() && rank > 0 && !selection.keys) selection.keys = FirstRows(shape[rank], most);
  return selection;
}

// The value of a field such as "first_position", wherever it is; 0 without one.
int64_t WholeNumberOf(const TableSpec& spec, absl::string_view name) {
  for (const SpecField& field : SpecFieldsOf(spec)) {
    if (absl::EndsWith(field.path, absl::StrCat(".", name))) return std::strtoll(field.text.c_str(), nullptr, 10);
  }
  return 0;
}

std::string RowLabel(const TableSpec& spec, const RowNames& names) {
  if (names.headings.empty()) return "";
  const std::string& heading = names.headings.back();
  return heading == "row" && WholeNumberOf(spec, "first_position") == 0 ? "position" : heading;
}

// A tensor's part as a panel: `rows` rows from `first` on.
HeatPanel PanelOf(const PlotRequest& request, const Grid& grid, const RowNames& names, int64_t first, int64_t rows) {
  const TableSpec& spec = request.description.spec;
  const bool rope = std::holds_alternative<RopeSpec>(spec.family);
  HeatPanel panel{.title = grid.info.name,
                  .row_label = RowLabel(spec, names),
                  .column_label = !names.column_heading.empty() ? names.column_heading
                                  : rope                        ? "pair"
                                                                : "dimension",
                  .first_row = names.first.empty() ? 0 : names.first.back(),
                  .first_column = names.first_column};
  for (int64_t row = first; row < first + rows; ++row) {
    std::vector<double>& values = panel.values.emplace_back();
    for (int64_t column = 0; column < grid.columns; ++column) {
      values.push_back(PartValue(grid.part_type, grid.At(row, column)));
    }
    if (!names.positions.empty()) panel.row_names.push_back(names.TextsOf(row).back());
  }
  return panel;
}

// Fetches, and names the rows.
Outcome FetchNamed(const PlotRequest& request, const Selection& selection, Table& table, RowNames& names) {
  Outcome outcome = FetchPart(request.session, request.subject, selection, table);
  if (!outcome.ok()) return outcome;
  const std::vector<int64_t>& shape = table.tensors().front().shape;
  const size_t rank = RowRank(request.description.spec);
  names = NameRows(request.description.spec, selection, {shape.begin(), shape.begin() + rank});
  if (HasNoElements(table.tensors().front())) return Usage("nothing is selected, so that there is nothing to draw");
  const auto cells = static_cast<int64_t>(table.size_bytes() / ElementSizeBytes(table.element_type()));
  if (cells <= kMostCells) return {};
  return Usage(absl::StrCat("a picture of ", cells, " numbers shows none of them; allowed: at most ", kMostCells,
                            " (--rows and --cols select)"));
}

std::vector<double> RowCoordinates(const Selection& selection, const RowNames& names, int64_t rows) {
  std::vector<double> x;
  for (int64_t row = 0; row < rows; ++row) {
    const bool named = !names.positions.empty() && selection.axis_positions.empty();
    x.push_back(named ? std::strtod(names.positions[row].c_str(), nullptr)
                      : static_cast<double>((names.first.empty() ? 0 : names.first.back()) + row));
  }
  return x;
}

// The dimensions to draw: those asked for, or the usual ones that there are.
Outcome ChooseDimensions(const PlotRequest& request, int64_t columns, std::vector<int64_t>& dimensions) {
  dimensions = request.dimensions;
  const bool asked = !dimensions.empty();
  if (!asked) dimensions = {0, 1, 30, 31, 100, 101, 300, 301};
  for (int64_t dimension : dimensions) {
    if (!asked || (dimension >= 0 && dimension < columns)) continue;
    return Usage(absl::StrCat("--dims has ", dimension, "; allowed: 0 to ", columns - 1));
  }
  std::erase_if(dimensions, [&](int64_t dimension) { return dimension >= columns; });
  return {};
}

}  // namespace

Outcome PlotHeatMap(const PlotRequest& request, Picture& picture) {
  const Selection selection = Visible(request, 100);
  Table table;
  RowNames names;
  if (Outcome outcome = FetchNamed(request, selection, table, names); !outcome.ok()) return outcome;
  std::vector<HeatPanel> panels;
  for (const TensorInfo& info : table.tensors()) {
    const Grid grid = GridOf(table, info, names);
    const int64_t heads = names.counts.size() == 2 ? names.counts[0] : 1;
    if (heads > 8) return Usage("more than 8 heads are no picture; --head-range selects");
    for (int64_t head = 0; head < heads; ++head) {
      const int64_t rows = grid.rows / heads;
      HeatPanel& panel = panels.emplace_back(PanelOf(request, grid, names, head * rows, rows));
      if (names.counts.size() == 2) panel.title = absl::StrCat("head ", names.first[0] + head);
    }
  }
  if (panels.size() == 1) panels.front().title.clear();
  picture = HeatMap(TitleOf(request), panels);
  return {};
}

Outcome PlotWaveforms(const PlotRequest& request, Picture& picture) {
  Selection selection = Visible(request, 200);
  selection.columns.reset();
  Table table;
  RowNames names;
  if (Outcome outcome = FetchNamed(request, selection, table, names); !outcome.ok()) return outcome;
  std::vector<int64_t> dimensions;
  const int64_t columns = GridOf(table, table.tensors().front(), names).columns;
  if (Outcome outcome = ChooseDimensions(request, columns, dimensions); !outcome.ok()) return outcome;
  const bool several = table.tensors().size() > 1;
  double scale = 0;
  std::vector<WavePanel> panels;
  for (int64_t dimension : dimensions) {
    WavePanel& panel = panels.emplace_back();
    panel.label = absl::StrCat(several ? "pair " : "dimension ", dimension);
    for (const TensorInfo& info : table.tensors()) {
      const Grid grid = GridOf(table, info, names);
      Curve& curve = panel.curves.emplace_back();
      if (several) curve.name = info.name;
      curve.x = RowCoordinates(selection, names, grid.rows);
      for (int64_t row = 0; row < grid.rows; ++row) {
        curve.y.push_back(PartValue(grid.part_type, grid.At(row, dimension)));
        scale = std::max(scale, std::fabs(curve.y.back()));
      }
    }
  }
  picture = Waveforms(TitleOf(request), RowLabel(request.description.spec, names),
                      scale > 0.5 && scale <= 1 ? 1 : scale > 0 ? scale : 1, panels);
  return {};
}

Outcome PlotDecay(const PlotRequest& request, Picture& picture) {
  Selection selection = Visible(request, 256);
  if (HasPositions(selection)) return Usage("decay is drawn over rows; allowed: --rows A:B");
  selection.columns.reset();
  const int64_t rows = request.description.rows;
  const int64_t begin = selection.rows->begin;
  const int64_t count = selection.rows->end.value_or(rows) - begin;
  // As many rows again, to see whether scores are the same from another place.
  selection.rows->end = std::min(rows, begin + 2 * count);
  PairRows pairs;
  Outcome outcome = FetchPairs(request.session, request.subject, selection, pairs);
  if (!outcome.ok()) return outcome;
  if (count < 2 || pairs.rows < count || count * pairs.pairs > kMostCells) {
    return Usage("decay needs 2 rows or more, and not more than 4 million pairs of them");
  }
  const int64_t other = pairs.rows - count;
  const double whole = pairs.Score(0, 0);
  Curve here{.name = absl::StrCat("q·k, query at row ", begin)};
  Curve there{.name = absl::StrCat("q·k, query at row ", begin + other), .style = "points pointtype 6 pointsize 0.8"};
  Curve bound{.name = "bound of Su et al. 2021, relative to its own"};
  for (int64_t offset = 0; offset < count; ++offset) {
    std::complex<double> sum = 0;
    double sums = 0;
    for (int64_t pair = 0; pair < pairs.pairs; ++pair) sums += std::abs(sum += pairs.Turn(0, offset, pair));
    const auto x = static_cast<double>(offset);
    here.x.push_back(x);
    here.y.push_back(pairs.Score(0, offset) / whole);
    bound.x.push_back(x);
    bound.y.push_back(sums / (whole * static_cast<double>(pairs.pairs + 1) / 2));
    if (other == 0 || offset % std::max<int64_t>(1, count / 64) != 0) continue;
    there.x.push_back(x);
    there.y.push_back(pairs.Score(other, other + offset) / pairs.Score(other, other));
  }
  std::vector<Curve> curves = {here, bound};
  if (other > 0) curves.push_back(there);
  picture = Curves({.title = TitleOf(request),
                    .x_label = "offset between query and key",
                    .y_label = "score relative to offset 0",
                    .more = "set xzeroaxis linecolor rgb '#888888'\n"},
                   curves);
  return {};
}

Outcome PlotFrequencies(const PlotRequest& request, Picture& picture) {
  const auto curve = [](const std::string& name, const std::vector<double>& frequencies) {
    Curve drawn{.name = name};
    for (size_t i = 0; i < frequencies.size(); ++i) {
      drawn.x.push_back(static_cast<double>(i));
      drawn.y.push_back(frequencies[i] == 0 ? std::nan("") : 2 * std::numbers::pi / frequencies[i]);
    }
    return drawn;
  };
  std::vector<Curve> curves = {curve("as served", request.description.inverse_frequencies)};
  Subject plain = request.subject;
  auto* rope = std::get_if<RopeSpec>(&plain.spec.family);
  if (rope != nullptr && !std::holds_alternative<std::monostate>(rope->scaling)) {
    curves.front().name = absl::StrCat("with scaling ", std::string(AlternativeName(rope->scaling)));
    rope->scaling = std::monostate();
    TableDescription description;
    Outcome outcome = DescribeSubject(request.session, plain, description);
    if (!outcome.ok()) return outcome;
    curves.push_back(curve("without scaling", description.inverse_frequencies));
    curves.back().style = "lines linewidth 1.5 dashtype 2";
  }
  std::string more = "set key top left opaque\n";
  for (const char* name : {"max_len", "original_max_len"}) {
    const int64_t length = WholeNumberOf(request.subject.spec, name);
    if (length <= 0) continue;
    absl::StrAppend(&more, "set arrow from graph 0, first ", length, " to graph 1, first ", length,
                    " nohead dashtype 3 linecolor rgb '#888888'\nset label ", Quoted(absl::StrCat(name, " ", length)),
                    " noenhanced at graph 0.99, first ", length, " right offset 0,0.6 textcolor rgb '#555555'\n");
  }
  picture = Curves({.title = TitleOf(request),
                    .x_label = "pair",
                    .y_label = "wavelength in positions",
                    .log_y = true,
                    .more = more},
                   curves);
  return {};
}

Outcome PlotAlibi(const PlotRequest& request, Picture& picture) {
  if (RowRank(request.subject.spec) != 2) {
    return Usage("--form is one without queries, which has no map; allowed: causal, symmetric ('plot heatmap alibi' "
                 "draws the others)");
  }
  // One query at the beginning sees every distance, in the symmetric form.
  Subject subject = request.subject;
  AlibiSpec& alibi = std::get<AlibiSpec>(subject.spec.family);
  alibi.form = AlibiForm::kSymmetric;
  alibi.masked = false;
  const Range keys = request.selection.keys.value_or(FirstRows(alibi.max_len, 64));
  Table table;
  const Selection first_query = {.rows = Range{0, 1}, .keys = keys};
  Outcome outcome = FetchPart(request.session, subject, first_query, table);
  if (!outcome.ok()) return outcome;
  const TensorInfo& bias = table.tensors().front();
  if (HasNoElements(bias) || table.size_bytes() > kMostCells) return Usage("--k selects no keys, or too many");
  const std::byte* data = table.bytes(bias.name).data();
  std::vector<Curve> heads(static_cast<size_t>(bias.shape[0]));
  for (size_t head = 0; head < heads.size(); ++head) {
    heads[head].name = absl::StrCat("head ", head);
    for (int64_t key = 0; key < bias.shape[2]; ++key, data += ElementSizeBytes(bias.element_type)) {
      heads[head].x.push_back(static_cast<double>(keys.begin + key));
      heads[head].y.push_back(PartValue(bias.element_type, data));
    }
  }
  PlotRequest map{.session = request.session, .subject = request.subject, .selection = request.selection};
  if (!map.selection.heads) map.selection.heads = Range{0, 1};
  map.selection.keys = keys;
  if (!map.selection.rows) map.selection.rows = keys;
  const AlibiSpec& shown = std::get<AlibiSpec>(map.subject.spec.family);
  map.description.spec = map.subject.spec;
  RowNames names;
  if (outcome = FetchNamed(map, map.selection, table, names); !outcome.ok()) return outcome;
  const Grid grid = GridOf(table, table.tensors().front(), names);
  HeatPanel panel = PanelOf(map, grid, names, 0, names.counts[1]);
  panel.title = absl::StrCat("Head ", names.first[0], ", ", ValueText(shown.form), " form");
  picture = BiasPicture(TitleOf(request), heads, panel);
  return {};
}

}  // namespace posenc::cli
