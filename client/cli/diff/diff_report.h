// What `posenc diff` found, and how it is shown. Pure functions.

#ifndef POSENC_CLIENT_CLI_DIFF_DIFF_REPORT_H_
#define POSENC_CLIENT_CLI_DIFF_DIFF_REPORT_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "client/cli/diff/diff_side.h"
#include "client/cli/diff/element_diff.h"
#include "client/cli/output/row_names.h"
#include "nlohmann/json_fwd.hpp"

namespace posenc::cli {

// A parameter whose value is not the same on both sides; "(none)" where a side does not have it.
struct ParameterDiff {
  std::string path = {};
  std::string a = {};
  std::string b = {};
  std::string a_source = {};  // key of the model's file, where it is one's
  std::string b_source = {};
};
std::vector<ParameterDiff> CompareSpecs(const DiffSide& a, const DiffSide& b);

struct DiffReport {
  const DiffSide& a;
  const DiffSide& b;
  std::vector<ParameterDiff> parameters = {};
  std::vector<std::string> tensors = {};   // compared
  std::vector<std::string> unlike = {};    // why something could not be compared; each is a difference
  int64_t rows = 0;                        // compared
  DiffTally tally = {};
  RowNames names = {};

  bool equal() const { return unlike.empty() && tally.different() == 0; }
};

void PrintReport(const DiffReport& report, std::ostream& out);
nlohmann::ordered_json ReportJson(const DiffReport& report);

// The rotated or sinusoidal pair that column `column` belongs to; negative where there is none, or it is not
// known by the column alone.
int64_t PairOfColumn(const TableSpec& normalized, int64_t column);

}  // namespace posenc::cli

#endif  // POSENC_CLIENT_CLI_DIFF_DIFF_REPORT_H_
