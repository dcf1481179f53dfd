#include "client/ops/checks.h"

#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "server/core/shortest_decimal.h"

namespace posenc {
namespace {

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

// "batch 2 · seq_len 10 · d_model 512"
std::string Text(std::initializer_list<Dimension> dimensions) {
  std::vector<std::string> parts;
  for (const Dimension& dimension : dimensions) {
    parts.push_back(absl::StrCat(View(dimension.name), " ", dimension.size));
  }
  return absl::StrJoin(parts, " · ");
}

bool HasRow(int64_t row, int64_t table_rows) { return row >= 0 && row < table_rows; }

absl::Status NoSuchRow(absl::string_view argument, int64_t row, int64_t table_rows) {
  return absl::OutOfRangeError(
      absl::StrCat(argument, " is row ", row, " of the table; allowed: 0 to ", table_rows - 1));
}

}  // namespace

absl::StatusOr<int64_t> ElementCount(std::initializer_list<Dimension> dimensions) {
  int64_t count = 1;
  for (const Dimension& dimension : dimensions) {
    if (dimension.size < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(View(dimension.name), " is ", dimension.size, "; allowed: 0 or more"));
    }
  }
  for (const Dimension& dimension : dimensions) {
    if (__builtin_mul_overflow(count, dimension.size, &count) || count > (int64_t{1} << 62)) {
      return absl::InvalidArgumentError(
          absl::StrCat(Text(dimensions), " is more than 2^62 elements"));
    }
  }
  return count;
}

absl::Status CheckType(std::string_view argument, ElementType type) {
  if (type == ElementType::kF32 || type == ElementType::kF16 || type == ElementType::kBF16) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(View(argument), " has elements of type ",
                                                 ElementTypeName(type),
                                                 "; allowed: f32, f16, bf16"));
}

absl::Status CheckNumbers(std::string_view argument, const ConstNumbers& numbers,
                          std::initializer_list<Dimension> dimensions) {
  if (absl::Status status = CheckType(argument, numbers.type()); !status.ok()) return status;
  const absl::StatusOr<int64_t> count = ElementCount(dimensions);
  if (!count.ok()) return count.status();
  if (numbers.size() == *count) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(View(argument), " has ", numbers.size(),
                                                 " elements; allowed: ", *count, ", ",
                                                 Text(dimensions)));
}

absl::StatusOr<int64_t> CountRows(std::string_view argument, const ConstNumbers& numbers,
                                  int64_t row_size) {
  if (absl::Status status = CheckType(argument, numbers.type()); !status.ok()) return status;
  if (row_size > 0 && numbers.size() % row_size == 0) return numbers.size() / row_size;
  return absl::InvalidArgumentError(absl::StrCat(View(argument), " has ", numbers.size(),
                                                 " elements; allowed: a multiple of ", row_size,
                                                 ", the elements of a row"));
}

absl::Status CheckRange(std::string_view argument, int64_t value, int64_t low, int64_t high) {
  if (value >= low && value <= high) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(View(argument), " is ", value, "; allowed: ", low, " to ", high));
}

absl::Status CheckFinite(std::string_view argument, double value) {
  if (std::isfinite(value)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(View(argument), " is ", ShortestDecimal(value), "; allowed: finite numbers"));
}

absl::Status CheckRows(const TokenRows& tokens, int64_t table_rows) {
  if (tokens.rows.empty()) {
    if (tokens.batch == 0 || tokens.seq_len == 0) return absl::OkStatus();
    if (!HasRow(tokens.first_row, table_rows))
      return NoSuchRow("first_row", tokens.first_row, table_rows);
    // Not first_row + seq_len, which may overflow.
    if (tokens.seq_len <= table_rows - tokens.first_row) return absl::OkStatus();
    return absl::OutOfRangeError(
        absl::StrCat("seq_len ", tokens.seq_len, " from first_row ", tokens.first_row,
                     " on ends past the table; allowed: rows 0 to ", table_rows - 1));
  }
  if (tokens.first_row != 0) {
    return absl::InvalidArgumentError("first_row and rows are both given; allowed: one of them");
  }
  const auto size = static_cast<int64_t>(tokens.rows.size());
  if (size != tokens.seq_len && size != tokens.batch * tokens.seq_len) {
    return absl::InvalidArgumentError(
        absl::StrCat("rows has ", size, " elements; allowed: ", tokens.seq_len, " (seq_len) or ",
                     tokens.batch * tokens.seq_len, " (batch · seq_len)"));
  }
  for (int64_t i = 0; i < size; ++i) {
    if (!HasRow(tokens.rows[i], table_rows)) {
      return NoSuchRow(absl::StrCat("rows[", i, "]"), tokens.rows[i], table_rows);
    }
  }
  return absl::OkStatus();
}

}  // namespace posenc
