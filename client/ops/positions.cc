#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "client/ops/checks.h"
#include "posenc/ops.h"

namespace posenc {
namespace {

template <typename T>
absl::Status Check(std::span<const T> mask, const MaskParams& params) {
  const absl::StatusOr<int64_t> tokens =
      ElementCount({{"batch", params.batch}, {"seq_len", params.seq_len}});
  if (!tokens.ok()) return tokens.status();
  if (static_cast<int64_t>(mask.size()) != *tokens) {
    return absl::InvalidArgumentError(absl::StrCat("mask has ", mask.size(),
                                                   " elements; allowed: ", *tokens, ", batch ",
                                                   params.batch, " · seq_len ", params.seq_len));
  }
  constexpr int64_t kMaxRow = int64_t{1} << 62;
  if (absl::Status status = CheckRange("padding_idx", params.padding_idx, 0, kMaxRow);
      !status.ok()) {
    return status;
  }
  return CheckRange("first_row", params.first_row.value_or(0), 0, kMaxRow - 1);
}

template <typename T>
absl::StatusOr<std::vector<int64_t>> Rows(std::span<const T> mask, const MaskParams& params) {
  if (absl::Status status = Check(mask, params); !status.ok()) return status;
  const int64_t first = params.first_row.value_or(params.padding_idx + 1);
  std::vector<int64_t> rows(mask.size());
  for (int64_t i = 0, next = first; i < static_cast<int64_t>(rows.size()); ++i) {
    if (i % params.seq_len == 0) next = first;
    rows[i] = mask[i] != 0 ? next++ : params.padding_idx;
    if (params.table_rows && rows[i] >= *params.table_rows) {
      return absl::OutOfRangeError(
          absl::StrCat("mask[", i, "] is for row ", rows[i], " of the table; allowed: 0 to ",
                       *params.table_rows - 1, ", which ", "are ", *params.table_rows - first,
                       " tokens from row ", first, " on"));
    }
  }
  return rows;
}

}  // namespace

absl::StatusOr<std::vector<int64_t>> client_v1::PositionsFromMask(std::span<const int64_t> mask,
                                                                  const MaskParams& params) {
  return Rows(mask, params);
}

absl::StatusOr<std::vector<int64_t>> client_v1::PositionsFromMask(std::span<const uint8_t> mask,
                                                                  const MaskParams& params) {
  return Rows(mask, params);
}

}  // namespace posenc
