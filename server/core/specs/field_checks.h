// Checks of a record's fields against their own descriptions (field.h), and what normalisations of several
// families share. Pure functions, safe from any thread.

#ifndef POSENC_SERVER_CORE_SPECS_FIELD_CHECKS_H_
#define POSENC_SERVER_CORE_SPECS_FIELD_CHECKS_H_

#include <cstdint>
#include <string>
#include <type_traits>
#include <variant>

#include "absl/strings/str_cat.h"
#include "server/core/limits.h"
#include "server/core/shortest_decimal.h"
#include "server/core/specs/field.h"
#include "server/core/specs/rope_axes.h"
#include "server/core/violations.h"

namespace posenc {

// Adds a violation unless low <= value <= high. NaN is outside of every range.
template <typename Number>
void CheckRange(absl::string_view path, Number value, Number low, Number high, Violations& bad) {
  if (value >= low && value <= high) return;
  if constexpr (std::is_floating_point_v<Number>) {
    bad.Add(path, value, absl::StrCat(ShortestDecimal(low), " to ", ShortestDecimal(high)));
  } else {
    bad.Add(path, value, absl::StrCat(low, " to ", high));
  }
}

template <Record T>
void CheckFields(absl::string_view path, const T& record, Violations& bad);

template <typename T>
void CheckField(const std::string& path, const Field& field, const T& value, Violations& bad) {
  if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, double>) {
    CheckRange(path, value, static_cast<T>(field.low), static_cast<T>(field.high), bad);
    if constexpr (std::is_same_v<T, int64_t>) {
      if (field.even && value % 2 != 0) bad.Add(path, value, "an even number");
    }
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (field.required && value.empty()) bad.AddText(path, "is missing; allowed: a name");
  } else if constexpr (kIsList<T>) {
    if (field.required && value.empty()) bad.AddText(path, "is missing; allowed: at least one entry");
    for (size_t i = 0; i < value.size(); ++i) {
      // An index costs text, so that it is only made for what is wrong.
      using Entry = typename T::value_type;
      if (value[i] >= static_cast<Entry>(field.low) && value[i] <= static_cast<Entry>(field.high)) continue;
      CheckField(absl::StrCat(path, "[", i, "]"), field, value[i], bad);
    }
  } else if constexpr (kIsOptional<T>) {
    if (value) CheckField(path, field, *value, bad);
  } else if constexpr (kIsVariant<T>) {
    std::visit(
        [&]<typename Alternative>(const Alternative& alternative) {
          if constexpr (!std::is_same_v<Alternative, std::monostate>) {
            const auto dot = path.rfind('.');
            const std::string parent = dot == std::string::npos ? "" : path.substr(0, dot + 1);
            CheckFields(absl::StrCat(parent, Alternative::kName), alternative, bad);
          }
        },
        value);
  } else if constexpr (Record<T>) {
    CheckFields(path, value, bad);
  }
}

// Checks every field of `record`, records inside it too; paths begin with `path`, e.g. "rope.base",
// "rope.linear.factor".
template <Record T>
void CheckFields(absl::string_view path, const T& record, Violations& bad) {
  T::Fields(record, [&](const Field& field, const auto& value) {
    CheckField(absl::StrCat(path, ".", field.name), field, value, bad);
  });
}

// The rows' positions must stay exact as doubles on both sides of 0. Requires: both are in range.
inline void CheckRows(absl::string_view family, int64_t max_len, int64_t first_position, Violations& bad) {
  if (first_position + max_len <= limits::kMaxPosition) return;
  bad.Add(absl::StrCat(family, ".max_len"), max_len,
          absl::StrCat("at most ", limits::kMaxPosition - first_position, " from first_position ",
                       first_position));
}

// Adds a violation unless the list has `count` entries.
template <typename T>
void CheckCount(absl::string_view path, const std::vector<T>& list, int64_t count, absl::string_view what,
                Violations& bad) {
  if (static_cast<int64_t>(list.size()) == count) return;
  bad.AddText(path, absl::StrCat("has ", list.size(), " entries; allowed: ", count, ", one per ", what));
}

// Frequencies and factors that are zero are either, and +0 is the one that the key is made of.
inline double WithoutNegativeZero(double value) { return value == 0 ? 0.0 : value; }

// A frequency is 0 or not so small that fixed-point turns lose it.
inline void CheckFrequencies(absl::string_view path, const std::vector<double>& list, Violations& bad) {
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i] == 0) continue;
    CheckRange(absl::StrCat(path, "[", i, "]"), list[i], limits::kMinFrequency, limits::kMaxFrequency, bad);
  }
}

// Rising bands reach the base itself as a frequency.
inline void CheckRisingBase(absl::string_view path, FrequencyBands bands, double base, Violations& bad) {
  if (bands != FrequencyBands::kRising || base <= limits::kMaxFrequency) return;
  bad.Add(path, base, absl::StrCat("at most ", ShortestDecimal(limits::kMaxFrequency), " with rising bands"));
}

}  // namespace posenc

#endif  // POSENC_SERVER_CORE_SPECS_FIELD_CHECKS_H_
