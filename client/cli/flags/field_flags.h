// The flags of a family's fields, made from their description (server/core/specs/field.h): names with dashes,
// the fields' own help, defaults from the default-made record. A new family or field has flags by itself.
//
//   a number, name, list, switch   --max-len 99   --order sin-cos   --axes-sections 16,24,24   --masked
//   a record                       the record's name before its fields': --grid-sizes, --xpos-centre; giving
//                                  one makes the record
//   a variant                      its own flag names the alternative, whose fields' flags have no prefix:
//                                  --scaling yarn --factor 4. A field that is all an alternative has makes it
//                                  the one: --inverse-frequencies 1,0.5
//   a required text                also stands without its flag: posenc learned NAME
//
// Ranges are not checked here but where tables are made, so that there is one answer to a wrong value.
//
// Threads: one. Ownership: must outlive the parsing.

#ifndef POSENC_CLIENT_CLI_FLAGS_FIELD_FLAGS_H_
#define POSENC_CLIENT_CLI_FLAGS_FIELD_FLAGS_H_

#include <map>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "client/cli/outcome.h"
#include "server/core/specs/spec.h"

namespace posenc::cli {

// What one flag is, whichever records have it.
struct FlagDeclaration {
  std::string flag = {};  // "--factor"
  std::string type = {};  // "N", "NUMBER", "NAME", "LIST", "TEXT"; empty for a switch
  std::string help = {};
  std::string group = {};            // the heading in --help
  std::string variant = {};          // "--scaling"; empty for a flag that is no alternative's
  std::vector<std::string> alternatives = {};  // that have it
  std::string standard = {};         // its default; with alternatives, theirs
  bool positional = false;
  bool sole = false;  // all that its only alternative has
  // Returns what is wrong with a text, or nothing.
  std::string (*check)(const std::string& text) = nullptr;
};

class FieldFlags {
 public:
  // Declares the flags of `family` on `command`.
  void AddTo(CLI::App& command, const FamilySpec& family);

  // The text that was given for a flag ("--base"), or null.
  const std::string* Find(const std::string& flag) const;

  // Sets the fields whose flags were given. Without a `model` whose table `family` is, required fields
  // must be among them.
  // Errors: a usage error for a flag that the chosen alternative does not have, and for missing ones.
  Outcome Apply(bool of_model, FamilySpec& family) const;

 private:
  void AddFlag(CLI::App& command, const FlagDeclaration& declaration);

  std::vector<FlagDeclaration> declarations_;
  std::map<std::string, std::string> given_;  // by flag
};

}  // namespace posenc::cli

#endif  // POSENC_CLIENT_CLI_FLAGS_FIELD_FLAGS_H_
