// A spec as text, made from its records' own fields (server/core/specs/field.h), so that a new family or field
// needs nothing here: the values of fields, a list of them all, and the command line that asks for a spec.
//
// Threads: pure functions.

#ifndef POSENC_CLIENT_CLI_FLAGS_FIELD_TEXT_H_
#define POSENC_CLIENT_CLI_FLAGS_FIELD_TEXT_H_

#include <string>
#include <type_traits>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/core/names.h"
#include "server/core/shortest_decimal.h"
#include "server/core/specs/field.h"
#include "server/core/specs/spec.h"

namespace posenc::cli {

// The text of a field that is no record and no variant, as its flag takes it.
template <typename T>
std::string ValueText(const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    return value;
  } else if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_same_v<T, double>) {
    return ShortestDecimal(value);
  } else if constexpr (std::is_enum_v<T>) {
    return std::string(NameOf(value));
  } else if constexpr (kIsList<T>) {
    std::string text;
    for (const auto& entry : value) {
      if (!text.empty()) text += ',';
      text += ValueText(entry);
    }
    return text;
  } else {
    return std::to_string(value);
  }
}

// A name as commands and flags have it: "head_dim" is "head-dim".
std::string Dashed(absl::string_view name);

// One field of a spec, records inside it too; what is absent is left out.
struct SpecField {
  std::string path = {};  // as in violations and origins: "rope.base", "rope.llama3.factor"
  std::string flag = {};  // "--base", "--factor", "--xpos-centre"
  std::string text = {};
  bool is_default = false;
  bool is_switch = false;  // a bool
};

// All fields, the element type and the arithmetic at the end.
std::vector<SpecField> SpecFieldsOf(const TableSpec& spec);

// The words after `posenc` that ask for the spec: "rope --head-dim 128 --scaling linear --factor 4".
std::string SpecCommand(const TableSpec& spec);

// The first characters of a text, and how many more there were.
std::string Shortened(const std::string& text, size_t most_characters = 60);

// Returns a family's spec with its defaults, by its name with dashes or underscores.
// Errors: InvalidArgument that lists the names.
absl::StatusOr<FamilySpec> FamilyByName(absl::string_view name);

// The command of every family, in the order of FamilySpec: "sinusoidal", …, "grid-sinusoidal".
std::vector<std::string> FamilyCommands();

}  // namespace posenc::cli

#endif  // POSENC_CLIENT_CLI_FLAGS_FIELD_TEXT_H_
