// The description of a spec's fields, from which everything that walks over them is made: range checks
// (normalize.h), the canonical text (table_key.h), the proto codec, and the CLI's flags with their help.
//
// A record is a struct with a static function Fields that calls `visit(Field, member)` for each member in
// the order of the canonical text. Members are int64_t, double, bool, std::string, enums with EnumNames,
// lists of int64_t or double, other records, optionals of all these, and variants of std::monostate and
// records that have a kName. A field has the same name in C++, proto, canonical text and CLI (there with
// dashes), so a new one is written once here and once in the proto.
//
// Threads: constant data.

#ifndef POSENC_SERVER_CORE_SPECS_FIELD_H_
#define POSENC_SERVER_CORE_SPECS_FIELD_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"

namespace posenc {

struct Field {
  absl::string_view name;
  absl::string_view help = "";  // one line: what it is, its unit, who uses it
  // Allowed values of a number and of each entry of a list, both ends included.
  double low = 0;
  double high = 0;
  bool even = false;      // and a multiple of 2
  bool required = false;  // has no default: a request must say it
  // Joined after version 1 of the canonical text: written there only when it is not at its default, so
  // that the keys of older specs stay what they are.
  bool later = false;
};

template <typename T>
concept Record = requires(T& value) { T::Fields(value, [](const Field&, auto&) {}); };

template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

template <typename T>
inline constexpr bool kIsList = false;
template <typename T>
inline constexpr bool kIsList<std::vector<T>> = true;

template <typename T>
inline constexpr bool kIsVariant = false;
template <typename... T>
inline constexpr bool kIsVariant<std::variant<T...>> = true;

// Calls `visit` with the variant's alternative that has the name, default made, and returns true; false
// when there is none.
template <typename Variant, typename Visit, size_t index = 0>
bool VisitAlternative(absl::string_view name, Visit&& visit) {
  if constexpr (index == std::variant_size_v<Variant>) {
    return false;
  } else {
    using Alternative = std::variant_alternative_t<index, Variant>;
    if constexpr (!std::is_same_v<Alternative, std::monostate>) {
      if (Alternative::kName == name) {
        visit(Alternative());
        return true;
      }
    }
    return VisitAlternative<Variant, Visit, index + 1>(name, std::forward<Visit>(visit));
  }
}

// Calls `visit` with every alternative of the variant, default made, in order; monostate left out.
template <typename Variant, typename Visit, size_t index = 0>
void ForEachAlternative(Visit&& visit) {
  if constexpr (index < std::variant_size_v<Variant>) {
    using Alternative = std::variant_alternative_t<index, Variant>;
    if constexpr (!std::is_same_v<Alternative, std::monostate>) visit(Alternative());
    ForEachAlternative<Variant, Visit, index + 1>(std::forward<Visit>(visit));
  }
}

// Returns the name of the alternative that a variant holds, "none" for monostate.
template <typename Variant>
absl::string_view AlternativeName(const Variant& variant) {
  return std::visit(
      []<typename T>(const T&) -> absl::string_view {
        if constexpr (std::is_same_v<T, std::monostate>) {
          return "none";
        } else {
          return T::kName;
        }
      },
      variant);
}

}  // namespace posenc

#endif  // POSENC_SERVER_CORE_SPECS_FIELD_H_
