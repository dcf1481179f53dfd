#include "client/cli/flags/selection_flags.h"

#include <variant>

#include "client/cli/command.h"
#include "client/cli/flags/parse.h"

namespace posenc::cli {
namespace {

constexpr const char* kGroup = "Selection";

template <typename... Family>
bool IsAnyOf(const FamilySpec& family) {
  return (std::holds_alternative<Family>(family) || ...);
}

}  // namespace

void SelectionFlags::AddRange(CLI::App& command, const std::string& flag,
                              std::optional<Range> Selection::*member, const std::string& help) {
  command
      .add_option_function<std::string>(
          flag, [this, member](const std::string& text) { selection_.*member = *ParseRange(text); }, help)
      ->check(Checked(ParseRange), "", "")
      ->type_name("A:B")
      ->group(kGroup);
}

template <typename Parse, typename Value>
void SelectionFlags::AddList(CLI::App& command, const std::string& flag, Parse parse, Value Selection::*member,
                             const std::string& help) {
  command
      .add_option_function<std::string>(
          flag, [this, parse, member](const std::string& text) { selection_.*member = *parse(text); }, help)
      ->check(Checked(parse), "", "")
      ->excludes("--rows")
      ->type_name("LIST")
      ->group(kGroup);
}

void SelectionFlags::AddColumns(CLI::App& command) {
  AddRange(command, "--cols", &Selection::columns, "Columns of every tensor, half-open");
}

void SelectionFlags::AddPositions(CLI::App& command) {
  AddList(command, "--positions", ParsePositions, &Selection::positions, "Positions instead of rows: 1,5,-3");
  AddList(command, "--real-positions", ParseDoubles, &Selection::real_positions,
          "Positions that are no whole numbers, such as timesteps: 0.5,998.3897");
  AddList(command, "--axis-positions", ParsePositions, &Selection::axis_positions,
          "One position for each axis, row after row: 0,0,7,1,1,1 is two rows of three axes");
}

void SelectionFlags::AddTo(CLI::App& command, const FamilySpec& family) {
  if (IsAnyOf<AlibiSpec, RelativeBiasSpec, RelativeBucketSpec>(family)) {
    AddRange(command, "--q,--rows", &Selection::rows, "Queries, half-open: 2:5, 2:, :5, or 7 for 7:8");
    AddRange(command, "--k,--keys", &Selection::keys, "Keys, half-open");
    AddRange(command, "--head-range", &Selection::heads, "Heads, half-open");
    return;
  }
  AddRange(command, "--rows", &Selection::rows, "Rows, half-open: 2:5, 2:, :5, or 7 for 7:8");
  AddColumns(command);
  AddPositions(command);
}

void SelectionFlags::AddAllTo(CLI::App& command) {
  AddRange(command, "--q,--rows", &Selection::rows, "Rows, or a bias' queries, half-open: 2:5, 2:, :5, 7");
  AddRange(command, "--k,--keys", &Selection::keys, "A bias' keys, half-open");
  AddRange(command, "--head-range", &Selection::heads, "A bias' heads, half-open");
  AddColumns(command);
  AddPositions(command);
}

}  // namespace posenc::cli
