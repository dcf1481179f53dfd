// posenc diff: where two tables differ, and why.

#include <algorithm>
#include <iostream>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "client/cli/command.h"
#include "client/cli/diff/diff_report.h"
#include "client/cli/diff/diff_side.h"
#include "client/cli/flags/parse.h"
#include "client/cli/flags/selection_flags.h"
#include "client/cli/output/number_text.h"
#include "client/cli/output/progress.h"
#include "nlohmann/json.hpp"
#include "server/core/names.h"

namespace posenc::cli {
namespace {

// Bytes of each side that are held at once.
constexpr int64_t kChunkBytes = int64_t{8} << 20;

// A tensor that both sides have.
struct Match {
  size_t a = 0;
  size_t b = 0;
  int64_t parts_per_row = 0;
};

int64_t PartsPerRow(const TensorInfo& info, size_t rank) {
  int64_t parts = PartsOf(info.element_type);
  for (size_t i = rank; i < info.shape.size(); ++i) parts *= info.shape[i];
  return parts;
}

std::string Described(const TensorInfo& info) {
  return absl::StrCat(info.name, " [", absl::StrJoin(info.shape, ", "), "] ", ElementTypeName(info.element_type));
}

// Pairs the tensors by name; what has no match, or another width, is a difference.
std::vector<Match> MatchTensors(const DiffSide& a, const DiffSide& b, DiffReport& report) {
  std::vector<Match> matches;
  std::vector<bool> taken(b.tensors().size());
  for (size_t i = 0; i < a.tensors().size(); ++i) {
    const TensorInfo& info = a.tensors()[i];
    const auto found = std::ranges::find_if(
        b.tensors(), [&](const TensorInfo& other) { return other.name == info.name; });
    if (found == b.tensors().end()) {
      if (!b.is_file()) report.unlike.push_back(absl::StrCat("only A has ", Described(info)));
      continue;
    }
    const auto j = static_cast<size_t>(found - b.tensors().begin());
    taken[j] = true;
    const int64_t parts = PartsPerRow(info, a.rank());
    if (parts != PartsPerRow(*found, b.rank())) {
      report.unlike.push_back(absl::StrCat("A has ", Described(info), ", B has ", Described(*found)));
      continue;
    }
    matches.push_back({i, j, parts});
    report.tensors.push_back(info.name.empty() ? "tensor" : info.name);
  }
  for (size_t j = 0; j < taken.size(); ++j) {
    if (!taken[j] && !a.is_file()) report.unlike.push_back(absl::StrCat("only B has ", Described(b.tensors()[j])));
  }
  if (!matches.empty() && a.rows() != b.rows()) {
    report.unlike.push_back(absl::StrCat("A has ", a.rows(), " rows, B has ", b.rows()));
  }
  return matches;
}

class DiffCommand {
 public:
  DiffCommand(CLI::App& app, Session& session) : session_(session) {
    CLI::App& command = *app.add_subcommand("diff", "Where two tables differ, by how much, and why");
    command.add_option("A", a_text_, "A family and its flags in quotes, config.json[@RUNTIME], a .gguf, or a file "
                                     "of numbers: .npy, .safetensors[:TENSOR], .bin")
        ->required()
        ->type_name("SIDE");
    command.add_option("B", b_text_, "The same")->required()->type_name("SIDE");
    selection_.AddAllTo(command);
    command.add_option("--table", table_, "Which table of a model, where it has several")->type_name("NAME");
    command
        .add_option_function<std::string>(
            "--effective-length", [this](const std::string& text) { effective_length_ = *ParseInteger(text); },
            "Length of the sequence that models' tables are for (dynamic, longrope)")
        ->check(Checked(ParseInteger), "", "")
        ->type_name("N");
    command.add_option("--format", format_, "table (default) or json")->check(CLI::IsMember({"table", "json"}));
    command.footer(
        "Exits with 0 where both are equal, with 1 where they differ, as cmp does.\n"
        "Examples:\n"
        "  posenc diff \"rope --head-dim 128 --base 500000\" rope.safetensors\n"
        "  posenc diff config.json@transformers config.json@vllm --rows 0:4096\n"
        "  posenc diff \"rope --head-dim 128\" \"rope --head-dim 128 --arithmetic float32\" --format json\n"
        "  posenc diff \"alibi --heads 12 --server a:50051\" \"alibi --heads 12 --local\" --q 0:64\n"
        "  posenc diff \"rope --head-dim 128 --layout split-duplicated\" cache.npy:cos");
    command.callback([this] { session_.action = [this] { return Execute(); }; });
  }

 private:
  // Tables first: a file takes its rows from the other side.
  Outcome Open(std::unique_ptr<DiffSide>& a, std::unique_ptr<DiffSide>& b) const {
    const DiffRequest request{.session = session_,
                              .selection = selection_.selection(),
                              .table = table_,
                              .effective_length = effective_length_};
    const bool a_file = IsTensorFile(a_text_);
    const bool b_file = IsTensorFile(b_text_);
    // Of a model's tables it can only be one of the family that the other side names.
    const auto family = [](const std::string& text) {
      const std::string word = text.substr(0, text.find(' '));
      const bool known = word != text && word.find('.') == std::string::npos;
      return known ? absl::StrReplaceAll(word, {{"-", "_"}}) : std::string();
    };
    if (!a_file) {
      if (Outcome outcome = OpenTableSide(request, a_text_, family(b_text_), a); !outcome.ok()) return outcome;
    }
    if (!b_file) {
      if (Outcome outcome = OpenTableSide(request, b_text_, family(a_text_), b); !outcome.ok()) return outcome;
    }
    if (a_file) {
      if (Outcome outcome = OpenFileSide(request, a_text_, b.get(), a); !outcome.ok()) return outcome;
    }
    return b_file ? OpenFileSide(request, b_text_, a.get(), b) : Outcome();
  }

  Outcome Execute() {
    std::unique_ptr<DiffSide> a;
    std::unique_ptr<DiffSide> b;
    if (Outcome outcome = Open(a, b); !outcome.ok()) return outcome;
    DiffReport report{.a = *a, .b = *b, .parameters = CompareSpecs(*a, *b)};
    const std::vector<Match> matches = MatchTensors(*a, *b, report);
    report.rows = matches.empty() ? 0 : std::min(a->rows(), b->rows());
    NameRowsOf(a->is_file() ? *b : *a, report);
    if (Outcome outcome = Compare(*a, *b, matches, report); !outcome.ok()) return outcome;
    if (format_ == "json") {
      std::cout << ReportJson(report).dump(2) << '\n';
    } else {
      PrintReport(report, std::cout);
    }
    return {report.equal() ? 0 : kDifferent};
  }

  void NameRowsOf(const DiffSide& side, DiffReport& report) const {
    if (side.tensors().empty()) return;
    const std::vector<int64_t>& shape = side.tensors().front().shape;
    const std::vector<int64_t> row_dims = {shape.begin(), shape.begin() + static_cast<int64_t>(side.rank())};
    if (side.spec()) {
      report.names = NameRows(*side.spec(), selection_.selection(), row_dims);
      return;
    }
    const Selection& selection = selection_.selection();
    report.names = {.headings = {"row"},
                    .first = {selection.rows ? selection.rows->begin : 0},
                    .counts = row_dims,
                    .first_column = selection.columns ? selection.columns->begin : 0};
  }

  Outcome Compare(DiffSide& a, DiffSide& b, const std::vector<Match>& matches, DiffReport& report) const {
    int64_t row_bytes = 1;
    for (const Match& match : matches) row_bytes += match.parts_per_row * 8;
    const int64_t step = std::max<int64_t>(1, kChunkBytes / row_bytes);
    ProgressBar bar(!session_.globals.quiet);
    std::vector<std::vector<std::byte>> a_rows;
    std::vector<std::vector<std::byte>> b_rows;
    for (int64_t begin = 0; begin < report.rows; begin += step) {
      const int64_t end = std::min(begin + step, report.rows);
      if (Outcome outcome = a.Read(begin, end, a_rows); !outcome.ok()) return outcome;
      if (Outcome outcome = b.Read(begin, end, b_rows); !outcome.ok()) return outcome;
      for (int64_t row = begin; row < end; ++row) {
        for (size_t i = 0; i < matches.size(); ++i) {
          const Match& match = matches[i];
          const ElementType a_type = PartType(a.tensors()[match.a].element_type);
          const ElementType b_type = PartType(b.tensors()[match.b].element_type);
          CompareRow({.tensor = i, .row = row}, match.parts_per_row, row - begin, {a_type, a_rows[match.a].data()},
                     {b_type, b_rows[match.b].data()}, report.tally);
        }
      }
      bar.Show(static_cast<double>(end) / static_cast<double>(report.rows),
               absl::StrCat(end, " of ", report.rows, " rows"));
    }
    return {};
  }

  // `row` is counted in the buffers.
  static void CompareRow(CellDiff place, int64_t parts, int64_t row, ElementRef a, ElementRef b, DiffTally& tally) {
    const auto a_size = static_cast<int64_t>(ElementSizeBytes(a.type));
    const auto b_size = static_cast<int64_t>(ElementSizeBytes(b.type));
    a.data += row * parts * a_size;
    b.data += row * parts * b_size;
    for (place.column = 0; place.column < parts; ++place.column, a.data += a_size, b.data += b_size) {
      tally.Count(place, a, b);
    }
  }

  Session& session_;
  SelectionFlags selection_;
  std::string a_text_;
  std::string b_text_;
  std::string table_;
  std::string format_ = "table";
  std::optional<int64_t> effective_length_;
};

}  // namespace

void AddDiffCommand(CLI::App& app, Session& session) { static DiffCommand command(app, session); }

}  // namespace posenc::cli
