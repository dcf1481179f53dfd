// The table of all flags of posenc-server: name, help, default and what each does to the configuration.
// A new flag is a row here and a member of ServerConfig. Threads: constant after the first call.

#ifndef POSENC_SERVER_APP_CONFIG_CONFIG_FLAGS_H_
#define POSENC_SERVER_APP_CONFIG_CONFIG_FLAGS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/app/config/config.h"

namespace posenc {

struct ConfigFlag {
  std::string name;      // without dashes
  std::string argument;  // what the help calls the value
  std::string group;     // heading in the help
  std::string help;
  // Texts that stand when nothing else is given; more than one only for repeatable flags.
  std::vector<std::string> defaults;
  bool repeatable = false;
  // Reads one text into the configuration, for a repeatable flag once for each.
  // Errors: InvalidArgument whose message says what is allowed.
  std::function<absl::Status(const std::string& text, ServerConfig& config)> apply;
};

// Returns the flags in the order of the help; defaults depend on the surroundings.
std::vector<ConfigFlag> ConfigFlags(const ConfigSurroundings& surroundings);

}  // namespace posenc

#endif  // POSENC_SERVER_APP_CONFIG_CONFIG_FLAGS_H_
