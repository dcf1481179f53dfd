// posenc model: which tables a model's config.json means, and where each value comes from.

#include <algorithm>
#include <iostream>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/command.h"
#include "nlohmann/json.hpp"
#include "server/core/names.h"

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

Json ToJson(const ModelTables& model) {
  Json tables = Json::array();
  for (const ModelTable& table : model.tables) {
    Json origins = Json::array();
    for (const ValueOrigin& origin : table.origins) {
      origins.push_back({{"field", origin.field},
                         {"value", origin.value},
                         {"source", origin.source},
                         {"defaulted", origin.defaulted}});
    }
    constexpr std::array<const char*, 3> kPairings = {"none", "half-split", "interleaved"};
    tables.push_back({{"name", table.name},
                      {"family", std::string(FamilyName(table.spec.family))},
                      {"pairing", kPairings[static_cast<size_t>(table.pairing)]},
                      {"softmax_scale", table.softmax_scale},
                      {"origins", std::move(origins)}});
  }
  return {{"model_type", model.model_type},
          {"known_family", model.known_family},
          {"tables", std::move(tables)},
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
    std::cout << absl::StrFormat("  %-*s  %-*s  %s%s\n", field_width, origin.field, value_width,
                                 origin.value, origin.defaulted ? "default: " : "from ", origin.source);
  }
}

void Print(const ModelTables& model, const std::string& file) {
  std::cout << "model type  " << (model.model_type.empty() ? "(not said)" : model.model_type)
            << (model.known_family ? "" : "  (a family that is not known; see the notes)") << '\n';
  if (model.tables.empty()) std::cout << "no positional table\n";
  for (const ModelTable& table : model.tables) {
    std::cout << "\ntable " << table.name << "  " << std::string(FamilyName(table.spec.family)) << '\n';
    PrintOrigins(table);
    const std::string pairing(PairingName(table.pairing));
    if (!pairing.empty()) std::cout << "  pairing  " << pairing << '\n';
    if (table.softmax_scale != 1) std::cout << "  softmax scale  " << table.softmax_scale << '\n';
  }
  for (const std::string& note : model.notes) std::cout << "\nnote: " << note << '\n';
  if (model.tables.empty()) return;
  const ModelTable& first = model.tables.front();
  std::cout << "\nits numbers: posenc " << std::string(FamilyName(first.spec.family)) << " --model " << file;
  if (model.tables.size() > 1) std::cout << " --table " << first.name;
  std::cout << '\n';
}

}  // namespace

void AddModelCommand(CLI::App& app, Session& session) {
  struct Flags {
    std::string file;
    std::string format = "table";
  };
  static Flags flags;
  CLI::App& command =
      *app.add_subcommand("model", "What a model's config.json means, and where each value comes from");
  command.add_option("file", flags.file, "The config.json")->required()->type_name("FILE");
  command.add_option("--format", flags.format, "table (default) or json")
      ->check(CLI::IsMember({"table", "json"}));
  command.footer("Examples:\n  posenc model config.json\n  posenc model config.json --format json --local");
  command.callback([&session] {
    session.action = [&session]() -> Outcome {
      std::string text;
      if (Outcome outcome = ReadConfig(flags.file, text); !outcome.ok()) return outcome;
      std::shared_ptr<Connection> connection;
      if (Outcome outcome = session.Connect(connection); !outcome.ok()) return outcome;
      const auto model = Client(connection).ResolveModel(std::move(text), session.call());
      if (!model.ok()) return RpcError(model.status());
      if (flags.format == "json") {
        std::cout << ToJson(*model).dump(2) << '\n';
      } else {
        Print(*model, flags.file);
      }
      return {};
    };
  });
}

}  // namespace posenc::cli
