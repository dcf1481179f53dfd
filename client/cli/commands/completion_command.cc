// posenc completion: a script that completes commands and flags in bash.

#include <iostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/command.h"

namespace posenc::cli {
namespace {

// Everything that may follow a command: its subcommands, its flags, the global flags.
std::vector<std::string> WordsAfter(const CLI::App& command) {
  std::vector<std::string> words;
  for (const CLI::App* sub : command.get_subcommands(nullptr)) words.push_back(sub->get_name());
  for (const CLI::App* level = &command; level != nullptr; level = level->get_parent()) {
    for (const CLI::Option* option : level->get_options()) {
      for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
    }
  }
  return words;
}

// One case for each command, by its path: "|rope|", "|describe|rope|".
void WriteCases(const CLI::App& command, const std::string& path, std::ostream& out) {
  out << absl::StrCat("    '", path, "') words='", absl::StrJoin(WordsAfter(command), " "), "' ;;\n");
  for (const CLI::App* sub : command.get_subcommands(nullptr)) {
    WriteCases(*sub, absl::StrCat(path, sub->get_name(), "|"), out);
  }
}

std::vector<std::string> AllCommands(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* sub : command.get_subcommands(nullptr)) {
    names.push_back(sub->get_name());
    const std::vector<std::string> below = AllCommands(*sub);
    names.insert(names.end(), below.begin(), below.end());
  }
  return names;
}

void WriteBash(const CLI::App& app, std::ostream& out) {
  out << "# bash completion of posenc; load it with: source <(posenc completion)\n"
         "_posenc() {\n"
         "  local path='|' word words\n"
         "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
         "    case $word in\n"
      << absl::StrCat("      ", absl::StrJoin(AllCommands(app), "|"), ") path+=\"$word|\" ;;\n")
      << "    esac\n"
         "  done\n"
         "  case $path in\n";
  WriteCases(app, "|", out);
  out << "  esac\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
         "}\n"
         "complete -o default -F _posenc posenc\n";
}

}  // namespace

void AddCompletionCommand(CLI::App& app, Session& session) {
  CLI::App& command = *app.add_subcommand("completion", "Prints the completion script for bash");
  command.footer("Example:\n  source <(posenc completion)");
  command.callback([&app, &session] {
    session.action = [&app]() -> Outcome {
      WriteBash(app, std::cout);
      return {};
    };
  });
}

}  // namespace posenc::cli
