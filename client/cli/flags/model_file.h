// A model's file as a source of tables: a config.json, a folder that has one, or a GGUF file.

#ifndef POSENC_CLIENT_CLI_FLAGS_MODEL_FILE_H_
#define POSENC_CLIENT_CLI_FLAGS_MODEL_FILE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "client/cli/outcome.h"
#include "posenc/client.h"

namespace posenc::cli {

// Reads a model's file into the part of `query` that holds its text. Errors: a usage error that names it.
Outcome ReadModel(const std::string& path, ModelQuery& query);

// Returns the table of that name; without a name "main", or the only one of that family. An empty family
// is any. `file` is for messages. Errors: a usage error that lists the tables.
Outcome ChooseTable(const ModelTables& model, const std::string& file, const std::string& name,
                    const std::string& family, ModelTable& table);

// What nobody says of a table, neither its file nor a known class: "pairing half-split, base 10000". Empty where
// all is known.
std::string AssumedText(const ModelTable& table);

// Indices as text: "0, 1, 2", longer runs as "0 to 30".
std::string LayersText(const std::vector<int64_t>& layers);

// Declares --as on `command`.
void AddRuntimeFlag(CLI::App& command, Runtime& runtime);

// --model FILE, --as RUNTIME and --table NAME. Must outlive the parsing.
class ModelFlags {
 public:
  void AddTo(CLI::App& command);
  bool given() const { return !file_.empty(); }

  // Resolves the file and chooses its table. Errors: usage errors, and RPC errors from resolving.
  Outcome Choose(Client& client, const CallOptions& call, std::optional<int64_t> effective_length,
                 const std::string& family, ModelTable& table) const;

 private:
  std::string file_;
  std::string table_;
  Runtime runtime_ = Runtime::kTransformers;
};

}  // namespace posenc::cli

#endif  // POSENC_CLIENT_CLI_FLAGS_MODEL_FILE_H_
