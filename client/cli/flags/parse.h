// Reads what flags hold: ranges, positions, numbers, durations. Pure functions; errors are InvalidArgument
// and say what is allowed.

#ifndef POSENC_CLIENT_CLI_FLAGS_PARSE_H_
#define POSENC_CLIENT_CLI_FLAGS_PARSE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/core/selection.h"

namespace posenc::cli {

// "2:5" is rows 2, 3, 4; "2:" goes to the end, ":5" begins at 0, ":" is everything, "7" is "7:8".
absl::StatusOr<Range> ParseRange(const std::string& text);

// "1,5,-3".
absl::StatusOr<std::vector<int64_t>> ParsePositions(const std::string& text);

// Decimal digits alone: no 0x10, and 010 is ten, not eight as in C.
absl::StatusOr<int64_t> ParseInteger(const std::string& text);

// The double nearest to the decimal; not by way of a wider type, as CLI11 does it.
absl::StatusOr<double> ParseDouble(const std::string& text);
absl::StatusOr<std::vector<double>> ParseDoubles(const std::string& text);

// "2.5" seconds, or with a unit: "500ms", "1m30s".
absl::StatusOr<absl::Duration> ParseTimeout(const std::string& text);

}  // namespace posenc::cli

#endif  // POSENC_CLIENT_CLI_FLAGS_PARSE_H_
