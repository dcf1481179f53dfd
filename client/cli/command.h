// What all commands share: the global flags, and how a command says what is to be done.
//
// A command's Add function declares its flags. Parsing then sets Session::action, which main runs after
// all flags are known. Nothing is done while flags are parsed.

#ifndef POSENC_CLIENT_CLI_COMMAND_H_
#define POSENC_CLIENT_CLI_COMMAND_H_

#include <functional>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "client/cli/outcome.h"
#include "posenc/client.h"

namespace posenc::cli {

struct GlobalFlags {
  std::string server = "localhost:50051";
  bool local = false;
  std::string timeout = {};  // empty: the library's
  bool quiet = false;
  bool tls = false;
  std::string tls_ca_file = {};
  std::string token_file = {};
  std::vector<std::string> learned = {};  // NAME=FILE[:TENSOR], for --local
};

struct Session {
  GlobalFlags globals = {};
  std::function<Outcome()> action = {};

  // Connects as the global flags say. Errors: a usage error for a file that cannot be read.
  Outcome Connect(std::shared_ptr<Connection>& connection) const;
  // The timeout of one call. Requires: the flags have been parsed.
  CallOptions call() const;
};

void AddTableCommands(CLI::App& app, Session& session);
void AddDescribeCommand(CLI::App& app, Session& session);
void AddModelCommand(CLI::App& app, Session& session);
void AddCheckCommand(CLI::App& app, Session& session);
void AddDiffCommand(CLI::App& app, Session& session);
void AddPlotCommand(CLI::App& app, Session& session);
void AddBenchCommand(CLI::App& app, Session& session);
void AddAdminCommands(CLI::App& app, Session& session);
void AddCompletionCommand(CLI::App& app, Session& session);

// Returns a check of a flag's text by a Parse function: the error's message, or empty.
template <typename Parse>
std::function<std::string(const std::string&)> Checked(Parse parse) {
  return [parse](const std::string& text) {
    const auto parsed = parse(text);
    return parsed.ok() ? std::string() : std::string(parsed.status().message());
  };
}

// Reads a whole file. Errors: a usage error that names it.
Outcome ReadFile(const std::string& path, std::string& text);

// Reads a model's config.json; the model's folder will do.
Outcome ReadConfig(const std::string& path, std::string& text);

// Parses and runs; returns the exit code.
int Run(int argc, const char* const* argv);

}  // namespace posenc::cli

#endif  // POSENC_CLIENT_CLI_COMMAND_H_
