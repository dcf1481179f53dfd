// posenc model: which tables a model's file means by a runtime's rules, and where each value comes from.

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/command.h"
#include "client/cli/flags/field_text.h"
#include "client/cli/flags/model_file.h"
#include "client/cli/flags/parse.h"
#include "nlohmann/json.hpp"
#include "server/core/names.h"
#include "server/core/shortest_decimal.h"

namespace posenc::cli {
namespace {

using Json = nlohmann::ordered_json;

absl::string_view PairingName(Pairing pairing) {
  switch (pairing) {
    case Pairing::kHalfSplit:
      return "half-split: channels (i, i + rotary_dim / 2) rotate together";
    case Pairing::kInterleaved:
      return "interleaved: channels (2i, 2i + 1) rotate together";
    case Pairing::kNone:
      break;
  }
  return "";
}

Json ToJson(const ModelTables& model, Runtime runtime) {
  Json tables = Json::array();
  for (const ModelTable& table : model.tables) {
    Json origins = Json::array();
    for (const ValueOrigin& origin : table.origins) {
      origins.push_back({{"field", origin.field},
                         {"value", origin.value},
                         {"source", origin.source},
                         {"defaulted", origin.defaulted},
                         {"assumed", origin.assumed}});
    }
    constexpr std::array<const char*, 3> kPairings = {"none", "half-split", "interleaved"};
    tables.push_back({{"name", table.name},
                      {"family", std::string(FamilyName(table.spec.family))},
                      {"pairing", kPairings[static_cast<size_t>(table.pairing)]},
                      {"spec", SpecCommand(table.spec)},
                      {"softmax_scale", table.softmax_scale},
                      {"magnitude", table.magnitude},
                      {"rotary_begin", table.rotary_begin},
                      {"applies_to", table.applies_to},
                      {"layers", table.layers},
                      {"origins", std::move(origins)}});
  }
  return {{"model_type", model.model_type},
          {"runtime", std::string(NameOf(runtime))},
          {"known_family", model.known_family},
          {"tables", std::move(tables)},
          {"layers_without_table", model.layers_without_table},
          {"notes", model.notes}};
}

void PrintOrigins(const ModelTable& table) {
  size_t field_width = 0;
  size_t value_width = 0;
  for (const ValueOrigin& origin : table.origins) {
    field_width = std::max(field_width, origin.field.size());
    value_width = std::max(value_width, std::min<size_t>(origin.value.size(), 24));
  }
  for (const ValueOrigin& origin : table.origins) {
    std::cout << absl::StrFormat("    %-*s  %-*s  %s%s\n", field_width, origin.field, value_width,
                                 Shortened(origin.value, 40),
                                 origin.assumed ? "ASSUMED: " : origin.defaulted ? "default: " : "from ",
                                 origin.source);
  }
}

void PrintTable(const ModelTable& table) {
  std::cout << "\ntable " << table.name << "  " << Dashed(FamilyName(table.spec.family)) << '\n'
            << "  spec           " << Shortened(SpecCommand(table.spec), 200) << '\n';
  const std::string pairing(PairingName(table.pairing));
  if (!pairing.empty()) std::cout << "  pairing        " << pairing << '\n';
  if (table.rotary_begin != 0) std::cout << "  rotary begin   channel " << table.rotary_begin << '\n';
  if (table.magnitude != 1) {
    std::cout << "  magnitude      " << ShortestDecimal(table.magnitude) << ", already in the table\n";
  }
  if (table.softmax_scale != 1) {
    std::cout << "  softmax scale  " << ShortestDecimal(table.softmax_scale) << ", besides 1/sqrt(head_dim)\n";
  }
  if (!table.applies_to.empty()) std::cout << "  applies to     " << table.applies_to << '\n';
  if (!table.layers.empty()) std::cout << "  layers         " << LayersText(table.layers) << '\n';
  if (!table.origins.empty()) std::cout << "  origins\n";
  PrintOrigins(table);
}

void Print(const ModelTables& model, const std::string& file, Runtime runtime) {
  std::cout << "model type  " << (model.model_type.empty() ? "(not said)" : model.model_type)
            << (model.known_family ? "" : "  (a family that is not known; see the notes)") << '\n'
            << "rules of    " << std::string(NameOf(runtime)) << '\n';
  for (const ModelTable& table : model.tables) {
    const std::string assumed = AssumedText(table);
    if (!assumed.empty()) std::cout << "ASSUMED     table " << table.name << ": " << assumed << '\n';
  }
  if (!model.layers_without_table.empty()) {
    std::cout << "no table    layers " << LayersText(model.layers_without_table) << '\n';
  }
  if (model.tables.empty()) std::cout << "no positional table\n";
  for (const ModelTable& table : model.tables) PrintTable(table);
  for (const std::string& note : model.notes) std::cout << "\nnote: " << note << '\n';
  if (model.tables.empty()) return;
  const ModelTable& first = model.tables.front();
  std::cout << "\nits numbers: posenc " << Dashed(FamilyName(first.spec.family)) << " --model " << file;
  if (model.tables.size() > 1) std::cout << " --table " << first.name;
  if (runtime != Runtime::kTransformers) std::cout << " --as " << std::string(NameOf(runtime));
  std::cout << '\n';
}

// posenc model FILE.
class ModelCommand {
 public:
  ModelCommand(CLI::App& app, Session& session) : session_(session) {
    CLI::App& command =
        *app.add_subcommand("model", "What a model's file means, and where each value comes from");
    command.add_option("file", file_, "A config.json, its folder, or a .gguf")->required()->type_name("FILE");
    AddRuntimeFlag(command, runtime_);
    command
        .add_option_function<std::string>(
            "--effective-length",
            [this](const std::string& text) { effective_length_ = *ParseInteger(text); },
            "Length of the sequence that the tables are for (dynamic, longrope)")
        ->check(Checked(ParseInteger), "", "")
        ->type_name("N")
        ->group("Model");
    command.add_option("--format", format_, "table (default) or json")->check(CLI::IsMember({"table", "json"}));
    command.footer(
        "Examples:\n"
        "  posenc model config.json\n"
        "  posenc model config.json --as vllm --effective-length 131072\n"
        "  posenc model model.gguf --as llama.cpp --local\n"
        "  posenc model config.json --format json");
    command.callback([this] { session_.action = [this] { return Execute(); }; });
  }

 private:
  Outcome Execute() {
    ModelQuery query{.runtime = runtime_, .effective_length = effective_length_};
    if (Outcome outcome = ReadModel(file_, query); !outcome.ok()) return outcome;
    std::shared_ptr<Connection> connection;
    if (Outcome outcome = session_.Connect(connection); !outcome.ok()) return outcome;
    const auto model = Client(connection).ResolveModel(std::move(query), session_.call());
    if (!model.ok()) return RpcError(model.status());
    if (format_ == "json") {
      std::cout << ToJson(*model, runtime_).dump(2) << '\n';
    } else {
      Print(*model, file_, runtime_);
    }
    return {};
  }

  Session& session_;
  std::string file_;
  std::string format_ = "table";
  Runtime runtime_ = Runtime::kTransformers;
  std::optional<int64_t> effective_length_;
};

}  // namespace

void AddModelCommand(CLI::App& app, Session& session) { static ModelCommand command(app, session); }

}  // namespace posenc::cli
