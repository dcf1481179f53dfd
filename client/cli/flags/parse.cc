#include "client/cli/flags/parse.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace posenc::cli {
namespace {

absl::Status Wrong(const std::string& text, absl::string_view allowed) {
  return absl::InvalidArgumentError(absl::StrCat("'", text, "'; allowed: ", allowed));
}

// Reads the whole of `text` as a number.
template <typename Number>
bool Read(absl::string_view text, Number& number) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end;
}

template <typename Number>
absl::StatusOr<std::vector<Number>> ReadList(const std::string& text, absl::string_view allowed) {
  std::vector<Number> numbers;
  for (absl::string_view part : absl::StrSplit(text, ',')) {
    Number number;
    if (!Read(part, number)) return Wrong(text, allowed);
    numbers.push_back(number);
  }
  return numbers;
}

}  // namespace

absl::StatusOr<Range> ParseRange(const std::string& text) {
  constexpr absl::string_view kAllowed = "A:B, half-open, either side may be left out; or one number";
  Range range;
  const std::vector<absl::string_view> parts = absl::StrSplit(text, ':');
  if (parts.size() > 2 || text.empty()) return Wrong(text, kAllowed);
  if (!parts[0].empty() && !Read(parts[0], range.begin)) return Wrong(text, kAllowed);
  if (parts.size() == 1) {
    if (range.begin == std::numeric_limits<int64_t>::max()) return Wrong(text, kAllowed);
    range.end = range.begin + 1;
  } else if (!parts[1].empty()) {
    if (!Read(parts[1], range.end.emplace())) return Wrong(text, kAllowed);
  }
  return range;
}

absl::StatusOr<std::vector<int64_t>> ParsePositions(const std::string& text) {
  return ReadList<int64_t>(text, "whole numbers with commas, such as 1,5,-3");
}

absl::StatusOr<int64_t> ParseInteger(const std::string& text) {
  int64_t number = 0;
  if (!Read(text, number)) return Wrong(text, "a whole number of at most 64 bits");
  return number;
}

absl::StatusOr<double> ParseDouble(const std::string& text) {
  double number = 0;
  if (!Read(text, number)) return Wrong(text, "a number");
  return number;
}

absl::StatusOr<std::vector<double>> ParseDoubles(const std::string& text) {
  return ReadList<double>(text, "numbers with commas, such as 1,0.5,0.25");
}

absl::StatusOr<absl::Duration> ParseTimeout(const std::string& text) {
  absl::Duration timeout;
  double seconds = 0;
  if (Read(text, seconds)) {
    if (std::isnan(seconds)) seconds = 0;
    timeout = absl::Seconds(seconds);
  } else if (!absl::ParseDuration(text, &timeout)) {
    timeout = absl::ZeroDuration();
  }
  if (timeout > absl::ZeroDuration()) return timeout;
  return Wrong(text, "more than 0, in seconds or with a unit: 2.5, 500ms, 1m30s");
}

}  // namespace posenc::cli
