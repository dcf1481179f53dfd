#include "tests/bench/growth/growth.h"

#include <iostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace posenc::bench {
namespace {

std::string Line(const std::vector<std::string>& cells) {
  return absl::StrCat("| ", absl::StrJoin(cells, " | "), " |\n");
}

}  // namespace

void PrintTable(const std::vector<std::string>& header, const std::vector<std::vector<std::string>>& rows) {
  std::cout << Line(header) << Line(std::vector<std::string>(header.size(), "---:"));
  for (const std::vector<std::string>& row : rows) std::cout << Line(row);
  std::cout << std::endl;
}

std::string SizeText(uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB"};
  int unit = 0;
  for (; bytes >= 1024 && bytes % 1024 == 0 && unit < 3; ++unit) bytes /= 1024;
  return absl::StrCat(bytes, " ", kUnits[unit]);
}

}  // namespace posenc::bench

// With an argument, only that section: sizes, cold, throughput, positions.
int main(int argc, char** argv) {
  using namespace posenc::bench;  // NOLINT
  const std::string only = argc > 1 ? argv[1] : "";
  if (only.empty() || only == "sizes") PrintFetchOverSize();
  if (only.empty() || only == "cold") PrintColdTables();
  if (only.empty() || only == "throughput") PrintThroughput();
  if (only.empty() || only == "positions") PrintPositions();
  return 0;
}
