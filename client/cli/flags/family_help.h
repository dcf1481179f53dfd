// What --help says about each family: one line, and examples that can be copied.

#ifndef POSENC_CLIENT_CLI_FLAGS_FAMILY_HELP_H_
#define POSENC_CLIENT_CLI_FLAGS_FAMILY_HELP_H_

#include <string>

#include "absl/strings/string_view.h"

namespace posenc::cli {

struct FamilyHelp {
  std::string about = {};
  std::string examples = {};  // lines of "posenc …", with "Examples:" before them
  std::string smallest = {};  // the fewest flags that make a table: "--d-model 512"
};

// By the family's command, e.g. "grid-sinusoidal". A family that is not described here has no examples.
FamilyHelp HelpOf(absl::string_view family);

}  // namespace posenc::cli

#endif  // POSENC_CLIENT_CLI_FLAGS_FAMILY_HELP_H_
