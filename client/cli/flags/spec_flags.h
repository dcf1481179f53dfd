// The flags that say which table: the fields of a family's spec, element type and arithmetic, and a model's
// file to take them from. Flags that are given override a model's values.

#ifndef POSENC_CLIENT_CLI_FLAGS_SPEC_FLAGS_H_
#define POSENC_CLIENT_CLI_FLAGS_SPEC_FLAGS_H_

#include <optional>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "client/cli/flags/field_flags.h"
#include "client/cli/flags/model_file.h"
#include "client/cli/outcome.h"
#include "posenc/client.h"

namespace posenc::cli {

// Flags of one family on one command. Must outlive the parsing and the use of the spec.
class SpecFlags {
 public:
  // Declares the flags of a family ("sinusoidal", "grid-sinusoidal", …) on `command`.
  void AddTo(CLI::App& command, const std::string& family);

  // Returns what the flags ask for, on top of the model's table when --model is given.
  // Errors: a usage error for flags that contradict each other, an RPC error from resolving the model.
  Outcome Resolve(Client& client, const CallOptions& call, TableSpec& spec) const;

  const FamilySpec& family() const { return family_; }

 private:
  FamilySpec family_;  // with its defaults
  FieldFlags fields_;
  ModelFlags model_;
  std::optional<ElementType> element_type_;
  std::optional<Arithmetic> arithmetic_;
};

}  // namespace posenc::cli

#endif  // POSENC_CLIENT_CLI_FLAGS_SPEC_FLAGS_H_
