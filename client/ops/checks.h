// What the functions of ops.h check before they write anything. Messages name the argument.

#ifndef POSENC_CLIENT_OPS_CHECKS_H_
#define POSENC_CLIENT_OPS_CHECKS_H_

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "posenc/numbers.h"

namespace posenc {

// A dimension and its name, for messages.
struct Dimension {
  std::string_view name;
  int64_t size;
};

// Returns the product. Errors: InvalidArgument for a dimension below 0 or a product beyond 2^62.
absl::StatusOr<int64_t> ElementCount(std::initializer_list<Dimension> dimensions);

// Errors: InvalidArgument for elements that are not F32, F16 or BF16.
absl::Status CheckType(std::string_view argument, ElementType type);

// Errors: as CheckType and ElementCount; InvalidArgument unless the numbers are as many as the
// dimensions make.
absl::Status CheckNumbers(std::string_view argument, const ConstNumbers& numbers,
                          std::initializer_list<Dimension> dimensions);

// Returns how many rows of `row_size` elements the numbers are.
// Errors: as CheckType; InvalidArgument where they are no whole number of rows.
absl::StatusOr<int64_t> CountRows(std::string_view argument, const ConstNumbers& numbers,
                                  int64_t row_size);

// Errors: InvalidArgument unless the value is in [low, high].
absl::Status CheckRange(std::string_view argument, int64_t value, int64_t low, int64_t high);
// Errors: InvalidArgument for an infinity or a NaN.
absl::Status CheckFinite(std::string_view argument, double value);

// The table rows of the tokens of [batch, seq_len]: counted from first_row on, or listed.
struct TokenRows {
  int64_t batch, seq_len, first_row;
  std::span<const int64_t> rows;

  int64_t at(int64_t b, int64_t s) const {
    if (rows.empty()) return first_row + s;
    return rows[static_cast<int64_t>(rows.size()) == seq_len ? s : b * seq_len + s];
  }
};

// Errors: InvalidArgument for a list of another length or beside a first_row, OutOfRange for a row
// that the table, of `table_rows` rows, has not.
absl::Status CheckRows(const TokenRows& tokens, int64_t table_rows);

}  // namespace posenc

#endif  // POSENC_CLIENT_OPS_CHECKS_H_
