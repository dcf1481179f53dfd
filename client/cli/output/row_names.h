// What the rows of an answer are called: by row, by position, or by head and query. Pure functions.

#ifndef POSENC_CLIENT_CLI_OUTPUT_ROW_NAMES_H_
#define POSENC_CLIENT_CLI_OUTPUT_ROW_NAMES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "server/core/selection.h"
#include "server/core/specs/spec.h"

namespace posenc::cli {

struct RowNames {
  // "row", "position", "position_0" and "position_1", "query", or "head" and "query"; empty for a table
  // that is one row.
  std::vector<std::string> headings = {};
  std::vector<std::string> positions = {};  // instead of first: one for each heading, row after row
  std::vector<int64_t> first = {};          // number of the first row, for each heading
  std::vector<int64_t> counts = {};         // the answer's row dimensions
  int64_t first_column = 0;                 // number of the first column
  std::string column_heading = {};          // "key" for a bias

  // What row `row` of the answer is called, one text for each heading.
  std::vector<std::string> TextsOf(int64_t row) const;
};

// Names the rows of the answer to a request; `row_dims` are the answer's leading dimensions.
RowNames NameRows(const TableSpec& spec, const Selection& selection,
                  const std::vector<int64_t>& row_dims);

// How many of a tensor's dimensions are rows: 0 for slopes and frequencies, 2 for a bias of heads and
// queries, otherwise 1.
size_t RowRank(const TableSpec& spec);

}  // namespace posenc::cli

#endif  // POSENC_CLIENT_CLI_OUTPUT_ROW_NAMES_H_
