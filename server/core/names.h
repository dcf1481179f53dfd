// The text of every enum of the specs: one list for the CLI, the canonical text, JSON and messages. Names
// are the proto enum values without their prefix, in lower case with dashes ("cos-sin-duplicated").
// Pure functions, safe from any thread.

#ifndef POSENC_SERVER_CORE_NAMES_H_
#define POSENC_SERVER_CORE_NAMES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/spec.h"

namespace posenc {

// Returns the name of a value.
absl::string_view NameOf(SinusoidalOrder order);
absl::string_view NameOf(OddWidth rule);
absl::string_view NameOf(RopeLayout layout);
absl::string_view NameOf(AlibiSlopeRule rule);
absl::string_view NameOf(AlibiForm form);
absl::string_view NameOf(Arithmetic arithmetic);

// Returns the name of a spec's family: "sinusoidal", "rope", "alibi".
absl::string_view FamilyName(const FamilySpec& family);

// Returns the names of all values of an enum, in the order of declaration.
template <typename Enum>
std::vector<absl::string_view> AllNames();

// Parses a name in any case, with dashes or underscores.
// Errors: InvalidArgument that lists all names.
template <typename Enum>
absl::StatusOr<Enum> ParseName(absl::string_view name);

}  // namespace posenc

#endif  // POSENC_SERVER_CORE_NAMES_H_
