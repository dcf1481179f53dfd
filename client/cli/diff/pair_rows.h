// The cosines and sines of a rotary or sinusoidal table, pair by pair, whatever its layout: what `check` and
// `plot` compute with.

#ifndef POSENC_CLIENT_CLI_DIFF_PAIR_ROWS_H_
#define POSENC_CLIENT_CLI_DIFF_PAIR_ROWS_H_

#include <complex>
#include <cstdint>
#include <string>
#include <vector>

#include "client/cli/commands/fetch.h"
#include "client/cli/outcome.h"

namespace posenc::cli {

struct PairRows {
  int64_t rows = 0;
  int64_t pairs = 0;
  // cos + i·sin of every row and pair; the queries' and the keys', which only differ with xPos.
  std::vector<std::complex<double>> queries = {};
  std::vector<std::complex<double>> keys = {};

  std::complex<double> Query(int64_t row, int64_t pair) const { return queries[row * pairs + pair]; }
  std::complex<double> Key(int64_t row, int64_t pair) const { return keys[row * pairs + pair]; }

  // The pair's turn from a query's row to a key's, e^{i·offset·w} times both magnitudes.
  std::complex<double> Turn(int64_t query_row, int64_t key_row, int64_t pair) const {
    return std::conj(Query(query_row, pair)) * Key(key_row, pair);
  }
  // Σ over pairs of q·k for q and k of ones: the score that the table alone makes.
  double Score(int64_t query_row, int64_t key_row) const;
};

// Whether a table consists of cosines and sines by pairs.
bool HasPairs(const FamilySpec& family);

// Fetches a part of the table, all columns. Requires: HasPairs.
Outcome FetchPairs(const Session& session, const Subject& subject, const Selection& selection, PairRows& pairs);

}  // namespace posenc::cli

#endif  // POSENC_CLIENT_CLI_DIFF_PAIR_ROWS_H_
