#include "client/cli/flags/model_file.h"

#include <iostream>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "client/cli/command.h"
#include "client/cli/flags/field_text.h"
#include "server/core/names.h"
#include "server/models/gguf/gguf.h"

namespace posenc::cli {

Outcome ReadModel(const std::string& path, ModelQuery& query) {
  if (!absl::EndsWith(path, ".gguf")) return ReadConfig(path, query.config_json);
  // Only the head of the file is read here; a server never sees the file.
  const absl::StatusOr<GgufFile> file = ReadGguf(path);
  if (!file.ok()) return Usage(absl::StrCat(path, ": ", file.status().message()));
  query.gguf_json = GgufToJson(*file);
  return {};
}

Outcome ChooseTable(const ModelTables& model, const std::string& file, const std::string& name,
                    const std::string& family, ModelTable& table) {
  std::vector<const ModelTable*> candidates;
  std::vector<std::string> names;
  for (const ModelTable& candidate : model.tables) {
    if (!family.empty() && FamilyName(candidate.spec.family) != family) continue;
    candidates.push_back(&candidate);
    names.push_back(candidate.name);
  }
  const std::string wanted = name.empty() ? "main" : name;
  for (const ModelTable* candidate : candidates) {
    const bool only = name.empty() && candidates.size() == 1;
    if (candidate->name != wanted && !only) continue;
    table = *candidate;
    return {};
  }
  if (names.empty()) {
    return Usage(absl::StrCat(file, " has no ", family.empty() ? "positional" : Dashed(family),
                              " table; 'posenc model ", file, "' shows what it has"));
  }
  return Usage(absl::StrCat("--table ", name.empty() ? "is needed" : "is unknown", "; ", file,
                            " has: ", absl::StrJoin(names, ", ")));
}

std::string AssumedText(const ModelTable& table) {
  std::vector<std::string> values;
  for (const ValueOrigin& origin : table.origins) {
    if (!origin.assumed) continue;
    absl::string_view field = origin.field;
    absl::ConsumePrefix(&field, absl::StrCat(FamilyName(table.spec.family), "."));
    values.push_back(absl::StrCat(field, " ", origin.value));
  }
  return absl::StrJoin(values, ", ");
}

std::string LayersText(const std::vector<int64_t>& layers) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < layers.size();) {
    size_t end = i + 1;
    while (end < layers.size() && layers[end] == layers[end - 1] + 1) ++end;
    const bool is_run = end - i > 2;
    parts.push_back(is_run ? absl::StrCat(layers[i], " to ", layers[end - 1]) : absl::StrCat(layers[i]));
    i = is_run ? end : i + 1;
  }
  return absl::StrJoin(parts, ", ");
}

void AddRuntimeFlag(CLI::App& command, Runtime& runtime) {
  command
      .add_option_function<std::string>(
          "--as", [&runtime](const std::string& text) { runtime = *ParseName<Runtime>(text); },
          absl::StrCat("Whose rules the file is read by (default transformers): ",
                       absl::StrJoin(AllNames<Runtime>(), ", ")))
      ->check(Checked(ParseName<Runtime>), "", "")
      ->type_name("RUNTIME")
      ->group("Model");
}

void ModelFlags::AddTo(CLI::App& command) {
  command
      .add_option("--model", file_, "A model's config.json, its folder, or a .gguf: takes the spec from it")
      ->type_name("FILE")
      ->group("Model");
  AddRuntimeFlag(command, runtime_);
  command.get_option("--as")->needs("--model");
  command.add_option("--table", table_, "Which table of the model, where it has several")
      ->needs("--model")
      ->type_name("NAME")
      ->group("Model");
}

Outcome ModelFlags::Choose(Client& client, const CallOptions& call, std::optional<int64_t> effective_length,
                           const std::string& family, ModelTable& table) const {
  ModelQuery query{.runtime = runtime_, .effective_length = effective_length};
  if (Outcome outcome = ReadModel(file_, query); !outcome.ok()) return outcome;
  const absl::StatusOr<ModelTables> model = client.ResolveModel(std::move(query), call);
  if (!model.ok()) return RpcError(model.status());
  if (Outcome outcome = ChooseTable(*model, file_, table_, family, table); !outcome.ok()) return outcome;
  const std::string assumed = AssumedText(table);
  if (!assumed.empty()) {
    const std::string type = model->model_type.empty() ? "none" : model->model_type;
    std::cerr << "posenc: " << file_ << ": model_type " << type << " is not known; assumed: " << assumed << '\n';
  }
  return {};
}

}  // namespace posenc::cli
