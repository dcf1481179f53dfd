#include "server/app/config/units.h"

#include <array>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace posenc {
namespace {

struct Unit {
  absl::string_view name;
  double bytes;
};

constexpr std::array kUnits = {
    Unit{"", 1},      Unit{"B", 1},           Unit{"kB", 1e3},          Unit{"MB", 1e6},
    Unit{"GB", 1e9},  Unit{"TB", 1e12},       Unit{"KiB", 0x1p10},      Unit{"MiB", 0x1p20},
    Unit{"GiB", 0x1p30}, Unit{"TiB", 0x1p40},
};

absl::Status SizeError() {
  return absl::InvalidArgumentError(
      "a number of bytes, plain or with a unit: kB, MB, GB, TB (powers of 1000), KiB, MiB, GiB, TiB (powers "
      "of 1024); e.g. 512MiB");
}

}  // namespace

absl::StatusOr<size_t> ParseByteSize(absl::string_view text) {
  text = absl::StripAsciiWhitespace(text);
  const size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const absl::string_view unit_name = absl::StripAsciiWhitespace(text.substr(digits));
  double number = 0;
  if (digits == 0 || !absl::SimpleAtod(text.substr(0, digits), &number)) return SizeError();
  for (const Unit& unit : kUnits) {
    if (!absl::EqualsIgnoreCase(unit.name, unit_name)) continue;
    const double bytes = number * unit.bytes;
    if (!(bytes < 0x1p63) || bytes != std::floor(bytes)) return SizeError();
    // Whole numbers may have more digits than a double holds.
    uint64_t whole = 0;
    if (unit.bytes == 1 && absl::SimpleAtoi(text.substr(0, digits), &whole)) return whole;
    return static_cast<size_t>(bytes);
  }
  return SizeError();
}

std::string FormatByteSize(size_t bytes) {
  for (const absl::string_view name : {"TiB", "GiB", "MiB", "KiB"}) {
    for (const Unit& unit : kUnits) {
      const auto unit_bytes = static_cast<size_t>(unit.bytes);
      if (unit.name == name && bytes >= unit_bytes && bytes % unit_bytes == 0) {
        return absl::StrCat(bytes / unit_bytes, name);
      }
    }
  }
  return absl::StrCat(bytes);
}

absl::StatusOr<absl::Duration> ParseDuration(absl::string_view text) {
  absl::Duration duration;
  if (!absl::ParseDuration(text, &duration) || duration < absl::ZeroDuration() ||
      duration == absl::InfiniteDuration()) {
    return absl::InvalidArgumentError("a time with its unit: 500ms, 30s, 1m30s, 2h; or 0");
  }
  return duration;
}

}  // namespace posenc
