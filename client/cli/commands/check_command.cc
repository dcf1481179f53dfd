// posenc check: the properties that an encoding should have, in numbers.

#include <algorithm>
#include <iostream>
#include <limits>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/command.h"
#include "client/cli/commands/fetch.h"
#include "client/cli/commands/table_checks.h"
#include "client/cli/flags/family_help.h"
#include "client/cli/flags/field_text.h"
#include "client/cli/flags/selection_flags.h"
#include "client/cli/output/row_names.h"
#include "nlohmann/json.hpp"

namespace posenc::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kMostRows = 5000;   // unless others are asked for
constexpr int64_t kMostBiasRows = 128;
constexpr double kAnything = std::numeric_limits<double>::infinity();

// Factor on every cosine and sine.
double MagnitudeOf(const TableDescription& description) {
  const auto* sinusoidal = std::get_if<SinusoidalSpec>(&description.spec.family);
  return sinusoidal ? sinusoidal->row_scale : description.magnitude;
}

bool HasXPos(const FamilySpec& family) {
  const auto* rope = std::get_if<RopeSpec>(&family);
  return rope != nullptr && rope->xpos.has_value();
}

// What is checked of one table.
class Checker {
 public:
  Checker(const Session& session, const Subject& subject, const TableDescription& description)
      : session_(session), subject_(subject), description_(description) {}

  Outcome Run(const Selection& asked) {
    Selection selection = asked;
    LimitRows(selection);
    Table table;
    if (Outcome outcome = FetchPart(session_, subject_, selection, table); !outcome.ok()) return outcome;
    const std::vector<int64_t>& shape = table.tensors().front().shape;
    const size_t rank = RowRank(subject_.spec);
    const RowNames names = NameRows(subject_.spec, selection, {shape.begin(), shape.begin() + rank});
    std::vector<Grid> grids;
    for (const TensorInfo& info : table.tensors()) grids.push_back(GridOf(table, info, names));
    if (grids.front().rows == 0) return Usage("nothing is selected, so that there is nothing to check");
    CheckNumbers(grids, names);
    return HasPairs(subject_.spec.family) && !IsOneRow() ? CheckPairs() : Outcome();
  }

  const std::vector<CheckResult>& results() const { return results_; }
  // What of the table was left out, or empty.
  const std::string& remark() const { return remark_; }

 private:
  bool IsOneRow() const { return RowRank(subject_.spec) == 0; }

  // The rows of the whole table that are looked at where the user selects none.
  void LimitRows(Selection& selection) {
    const std::vector<int64_t>& shape = description_.tensors.front().shape;
    const size_t rank = RowRank(subject_.spec);
    const bool keys = !NameRows(subject_.spec, {}, shape).column_heading.empty();
    const int64_t most = keys ? kMostBiasRows : kMostRows;
    const bool positions = !selection.positions.empty() || !selection.real_positions.empty() ||
                           !selection.axis_positions.empty();
    if (rank > 0 && !selection.rows && !positions) {
      const bool heads_alone = keys && rank == 1 && std::holds_alternative<AlibiSpec>(subject_.spec.family);
      if (!heads_alone) selection.rows = Range{0, std::min(most, shape[rank - 1])};
      if (!heads_alone && shape[rank - 1] > most) {
        remark_ = absl::StrCat("looks at rows 0:", most, " of ", shape[rank - 1], "; --rows asks for others");
      }
    }
    if (keys && rank > 0 && !selection.keys) selection.keys = Range{0, std::min(most, shape[rank])};
  }

  void CheckNumbers(const std::vector<Grid>& grids, const RowNames& names) {
    const FamilySpec& family = subject_.spec.family;
    const bool bias = !names.column_heading.empty();
    results_.push_back(CheckFinite(grids, bias));
    if (HasPairs(family) && !IsOneRow() && !HasAngles() && !HasXPos(family)) {
      // One rounding may pass the magnitude itself.
      const double bound = MagnitudeOf(description_) * (1 + 2 * RoundingUnit(grids.front().info.element_type));
      results_.push_back(CheckBounded(grids, -bound, bound));
    } else {
      results_.push_back(CheckBounded(grids, -kAnything, IsPenalty() ? 0 : kAnything));
    }
    if (bias) {
      const auto* relative = std::get_if<RelativeBiasSpec>(&family);
      const bool by_distance = names.headings.back() == "query";
      const bool fire = relative && std::holds_alternative<FireBias>(relative->rule);
      if (by_distance && !fire) results_.push_back(CheckDiagonals(grids.front(), names.counts.back()));
      return;
    }
    if (IsOneRow() || std::holds_alternative<QueryTemperatureSpec>(family)) return;
    results_.push_back(CheckUnique(grids));
    results_.push_back(CheckDistinguishable(grids));
  }

  // Angles are not bounded.
  bool HasAngles() const {
    const std::string& name = description_.tensors.front().name;
    return name == "angles";
  }

  // Whether the numbers are never more than 0.
  bool IsPenalty() const {
    const auto* alibi = std::get_if<AlibiSpec>(&subject_.spec.family);
    const bool causal = alibi && (alibi->form == AlibiForm::kCausal || alibi->form == AlibiForm::kSymmetric ||
                                  alibi->form == AlibiForm::kRow);
    const auto* relative = std::get_if<RelativeBiasSpec>(&subject_.spec.family);
    return causal || (relative && !std::holds_alternative<FireBias>(relative->rule));
  }

  // Checks turns between positions all over the table, far ones too.
  Outcome CheckPairs() {
    const std::vector<int64_t> offsets = {0, 1, 2, 3, 5, 8, 13, 21, 55, 144, 377, 987};
    if (description_.position_axes != 1 || description_.positions_end <= description_.positions_begin) return {};
    std::vector<int64_t> bases;
    Selection selection;
    const int64_t last = description_.positions_end - 1;
    for (int64_t base = 0; base <= last; base = base == 0 ? 1 : base * 4) bases.push_back(base);
    bases.push_back(last);
    std::vector<int64_t> reachable;
    for (int64_t offset : offsets) {
      if (offset <= last / 2) reachable.push_back(offset);
    }
    for (int64_t& base : bases) {
      base = std::min(base, last - reachable.back());
      for (int64_t offset : reachable) selection.positions.push_back(base + offset);
    }
    PairRows rows;
    if (Outcome outcome = FetchPairs(session_, subject_, selection, rows); !outcome.ok()) return outcome;
    const double unit = RoundingUnit(description_.tensors.front().element_type);
    const double magnitude = MagnitudeOf(description_);
    if (!HasXPos(subject_.spec.family)) {
      results_.push_back(CheckOrigin(rows, 0, magnitude, unit));
      results_.push_back(CheckCircle(rows, magnitude, unit));
    }
    const bool rope = std::holds_alternative<RopeSpec>(subject_.spec.family);
    results_.push_back(CheckRelative(rope ? "q·k by offset alone" : "shift is linear", rows, bases, reachable, unit));
    return {};
  }

  const Session& session_;
  const Subject& subject_;
  const TableDescription& description_;
  std::vector<CheckResult> results_;
  std::string remark_;
};

// posenc check FAMILY.
class CheckCommand {
 public:
  CheckCommand(CLI::App& parent, Session& session, const std::string& family) : session_(session) {
    CLI::App& command = *parent.add_subcommand(family, HelpOf(family).about);
    specs_.AddTo(command, family);
    selection_.AddTo(command, specs_.family());
    command.add_option("--format", format_, "table (default) or json")->check(CLI::IsMember({"table", "json"}));
    command.footer(absl::StrCat("Example:\n  posenc check ", family, " ", HelpOf(family).smallest));
    command.callback([this] { session_.action = [this] { return Execute(); }; });
  }

 private:
  Outcome Execute() {
    Subject subject;
    if (Outcome outcome = OpenSubject(session_, specs_, subject); !outcome.ok()) return outcome;
    TableDescription description;
    if (Outcome outcome = DescribeSubject(session_, subject, description); !outcome.ok()) return outcome;
    subject.spec = description.spec;
    Checker checker(session_, subject, description);
    if (Outcome outcome = checker.Run(selection_.selection()); !outcome.ok()) return outcome;
    if (!checker.remark().empty() && !session_.globals.quiet) std::cerr << "posenc: " << checker.remark() << '\n';
    Print(description, checker.results());
    const bool passed = std::ranges::all_of(checker.results(), [](const CheckResult& r) { return r.passed; });
    return {passed ? 0 : kDifferent};
  }

  void Print(const TableDescription& description, const std::vector<CheckResult>& results) const {
    if (format_ == "json") {
      Json list = Json::array();
      for (const CheckResult& result : results) {
        list.push_back({{"property", result.property},
                        {"passed", result.passed},
                        {"found", result.found},
                        {"allowed", result.allowed}});
      }
      const Json json = {{"spec", SpecCommand(description.spec)}, {"key", description.key}, {"checks", std::move(list)}};
      std::cout << json.dump(2) << '\n';
      return;
    }
    std::cout << Shortened(SpecCommand(description.spec), 200) << '\n';
    for (const CheckResult& result : results) {
      std::cout << absl::StrFormat("%-6s%-21s %s  (allowed: %s)\n", result.passed ? "pass" : "FAIL", result.property,
                                   result.found, result.allowed);
    }
  }

  Session& session_;
  SpecFlags specs_;
  SelectionFlags selection_;
  std::string format_ = "table";
};

}  // namespace

void AddCheckCommand(CLI::App& app, Session& session) {
  CLI::App& parent = *app.add_subcommand("check", "Unique, bounded, distinguishable, relative: properties in numbers");
  parent.require_subcommand(1);
  parent.footer("Exits with 1 where a property does not hold.\n"
                "Examples:\n"
                "  posenc check sinusoidal --d-model 512\n"
                "  posenc check rope --head-dim 128 --max-len 131072 --arithmetic float32\n"
                "  posenc check alibi --heads 12 --form symmetric");
  static std::vector<std::unique_ptr<CheckCommand>> commands;
  for (const std::string& family : FamilyCommands()) {
    commands.push_back(std::make_unique<CheckCommand>(parent, session, family));
  }
}

}  // namespace posenc::cli
