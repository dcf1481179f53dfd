// The properties that an encoding should have, in numbers: every position its own row, numbers that stay
// within bounds, positions that can be told apart, and scores that depend on the offset alone.
//
// Threads: pure functions. Accuracy: computed in double; tolerances are multiples of the element type's
// relative step, since each of a table's numbers is rounded once.

#ifndef POSENC_CLIENT_CLI_COMMANDS_TABLE_CHECKS_H_
#define POSENC_CLIENT_CLI_COMMANDS_TABLE_CHECKS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "client/cli/diff/pair_rows.h"
#include "client/cli/output/formats.h"
#include "posenc/table.h"

namespace posenc::cli {

struct CheckResult {
  std::string property = {};
  bool passed = false;
  std::string found = {};  // the numbers
  std::string allowed = {};
};

// Half the distance from 1 to the next number: what one rounding can change, relatively.
double RoundingUnit(ElementType type);

// Every number is one; with `may_mask`, -infinity too.
CheckResult CheckFinite(const std::vector<Grid>& grids, bool may_mask);

// Numbers are within [low, high], either of which may be infinite; infinities are left to CheckFinite.
CheckResult CheckBounded(const std::vector<Grid>& grids, double low, double high);

// No two rows are alike, all tensors together; all-zero rows (padding) are left out.
CheckResult CheckUnique(const std::vector<Grid>& grids);

// The least distance between two rows, among the first rows, is more than rounding makes.
CheckResult CheckDistinguishable(const std::vector<Grid>& grids);

// cos² + sin² is the magnitude's square. Requires: no xPos.
CheckResult CheckCircle(const PairRows& rows, double magnitude, double unit);

// The row of position 0 has cosines of the magnitude and sines of 0.
CheckResult CheckOrigin(const PairRows& rows, int64_t row, double magnitude, double unit);

// The turn from position p to p + offset is the same for every p. Row `base · offsets.size() + i` of `rows`
// is position bases[base] + offsets[i]; offsets[0] is 0.
CheckResult CheckRelative(const std::string& property, const PairRows& rows, const std::vector<int64_t>& bases,
                          const std::vector<int64_t>& offsets, double unit);

// A bias' numbers are the same along diagonals: they depend on the distance alone. `queries` rows make one
// head.
CheckResult CheckDiagonals(const Grid& grid, int64_t queries);

}  // namespace posenc::cli

#endif  // POSENC_CLIENT_CLI_COMMANDS_TABLE_CHECKS_H_
