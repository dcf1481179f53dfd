// The text of every enum of the specs: for the CLI, the canonical text, JSON and messages. Names are the
// proto enum values without their prefix, in lower case with dashes ("cos-sin-duplicated"). An enum's
// names stand beside it, in a function EnumNames that lists them by value, from value 1 on.
// Pure functions, safe from any thread.

#ifndef POSENC_SERVER_CORE_NAMES_H_
#define POSENC_SERVER_CORE_NAMES_H_

#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "server/core/specs/spec.h"

namespace posenc {

// An enum with EnumNames.
template <typename T>
concept Named = std::is_enum_v<T> && requires(T value) { EnumNames(value); };

// Returns the name of a value.
template <Named Enum>
absl::string_view NameOf(Enum value) {
  return EnumNames(Enum{})[static_cast<size_t>(value) - 1];
}

// Returns the names of all values of an enum, in the order of declaration.
template <Named Enum>
std::vector<absl::string_view> AllNames() {
  const auto names = EnumNames(Enum{});
  return {names.begin(), names.end()};
}

// Parses a name in any case, with dashes or underscores.
// Errors: InvalidArgument that lists all names.
template <Named Enum>
absl::StatusOr<Enum> ParseName(absl::string_view name) {
  const std::string wanted = absl::StrReplaceAll(absl::AsciiStrToLower(name), {{"_", "-"}});
  const auto names = EnumNames(Enum{});
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == wanted) return static_cast<Enum>(i + 1);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'", wanted, "' is unknown; allowed: ", absl::StrJoin(names, ", ")));
}

// Returns the name of a spec's family: "sinusoidal", "rope", "alibi", …
inline absl::string_view FamilyName(const FamilySpec& family) { return AlternativeName(family); }

// Returns the names of all families, in the order of FamilySpec.
std::vector<absl::string_view> AllFamilyNames();

}  // namespace posenc

#endif  // POSENC_SERVER_CORE_NAMES_H_
