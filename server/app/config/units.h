// Sizes and durations as operators write them, and back. Pure functions, safe from any thread.
//
// Sizes are bytes: a number with an optional unit, B, kB, MB, GB, TB (powers of 1000) or KiB, MiB, GiB, TiB
// (powers of 1024), in any case, without or with a space; a fraction is fine where it makes whole bytes.
// Durations are Abseil's form: 500ms, 30s, 1m30s, 2h, and 0.

#ifndef POSENC_SERVER_APP_CONFIG_UNITS_H_
#define POSENC_SERVER_APP_CONFIG_UNITS_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace posenc {

// Errors: InvalidArgument that says what is allowed, for text in no such form and sizes of 2^63 and more.
absl::StatusOr<size_t> ParseByteSize(absl::string_view text);

// Returns the shortest exact form: 1GiB, 1536KiB, 1000001.
std::string FormatByteSize(size_t bytes);

// Errors: InvalidArgument that says what is allowed, for text in no such form, negative and endless times.
absl::StatusOr<absl::Duration> ParseDuration(absl::string_view text);

}  // namespace posenc

#endif  // POSENC_SERVER_APP_CONFIG_UNITS_H_
