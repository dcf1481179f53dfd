// The flags of a spec: its field names with dashes. Flags that are given override a model's values.

#ifndef POSENC_CLIENT_CLI_SPEC_FLAGS_H_
#define POSENC_CLIENT_CLI_SPEC_FLAGS_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "client/cli/outcome.h"
#include "posenc/client.h"

namespace posenc::cli {

// Flags of one family on one command. Must outlive the parsing and the use of the spec.
class SpecFlags {
 public:
  // Declares the flags of `family` ("sinusoidal", "rope", "alibi") on `command`.
  void AddTo(CLI::App& command, const std::string& family);

  // Returns what the flags ask for, on top of the model's table when --model is given.
  // Errors: a usage error for flags that contradict each other, an RPC error from resolving the model.
  Outcome Resolve(Client& client, const CallOptions& call, TableSpec& spec) const;

 private:
  // Scaling flags come in any order, and mean something together only.
  struct Scaling {
    std::string type = {};
    std::optional<double> factor = {}, low_freq_factor = {}, high_freq_factor = {};
    std::optional<int64_t> original_max_len = {};
    std::vector<double> inverse_frequencies = {};
  };

  template <typename Spec, typename Value>
  void Number(CLI::App& command, const std::string& flag, Value Spec::*member, const std::string& help);
  template <typename Spec, typename Value>
  void Name(CLI::App& command, const std::string& flag, Value Spec::*member, const std::string& help);
  template <typename Spec>
  void Switch(CLI::App& command, const std::string& flag, bool Spec::*member, const std::string& help);

  void AddSinusoidal(CLI::App& command);
  void AddRope(CLI::App& command);
  void AddScaling(CLI::App& command);
  void AddAlibi(CLI::App& command);
  void AddModel(CLI::App& command);
  Outcome FromModel(Client& client, const CallOptions& call, TableSpec& spec) const;
  Outcome ApplyScaling(RopeSpec& spec) const;

  FamilySpec family_;  // with its defaults
  std::vector<std::function<void(TableSpec&)>> setters_;
  Scaling scaling_;
  std::string model_file_;
  std::string model_table_;
};

}  // namespace posenc::cli

#endif  // POSENC_CLIENT_CLI_SPEC_FLAGS_H_
