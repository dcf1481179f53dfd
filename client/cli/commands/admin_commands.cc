// posenc tables | warm | evict | stats | health | version: a server's tables and state.

#include <iostream>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/command.h"
#include "client/cli/flags/family_help.h"
#include "client/cli/flags/field_text.h"
#include "client/cli/flags/model_file.h"
#include "client/cli/flags/spec_flags.h"
#include "client/cli/output/progress.h"
#include "nlohmann/json.hpp"
#include "server/core/names.h"
#include "server/models/model_config.h"

namespace posenc::cli {
namespace {

using Json = nlohmann::ordered_json;

// Declares a command whose action gets a connected client.
CLI::App& AddSimple(CLI::App& app, Session& session, const std::string& name, const std::string& help,
                    const std::string& footer, std::function<Outcome(Client&)> run) {
  CLI::App& command = *app.add_subcommand(name, help);
  command.footer(footer);
  command.callback([&session, run = std::move(run)] {
    session.action = [&session, run]() -> Outcome {
      std::shared_ptr<Connection> connection;
      if (Outcome outcome = session.Connect(connection); !outcome.ok()) return outcome;
      Client client(connection);
      return run(client);
    };
  });
  return command;
}

std::string& AddFormat(CLI::App& command) {
  // One string for each command, for the life of the program.
  auto* format = new std::string("table");
  command.add_option("--format", *format, "table (default) or json")->check(CLI::IsMember({"table", "json"}));
  return *format;
}

void PrintTables(const std::vector<TableStatus>& tables) {
  std::cout << absl::StrFormat("%-64s  %-10s  %-4s  %10s  %10s  %s\n", "KEY", "FAMILY", "TYPE", "SIZE",
                               "RESIDENT", "PINNED");
  for (const TableStatus& table : tables) {
    std::cout << absl::StrFormat("%-64s  %-10s  %-4s  %10s  %10s  %s\n", table.key,
                                 FamilyName(table.spec.family), ElementTypeName(table.spec.element_type),
                                 BytesText(static_cast<double>(table.size_bytes)),
                                 BytesText(static_cast<double>(table.resident_bytes)),
                                 table.pinned ? "yes" : "no");
  }
}

Json ToJson(const std::vector<TableStatus>& tables) {
  Json list = Json::array();
  for (const TableStatus& table : tables) {
    list.push_back({{"key", table.key},
                    {"family", std::string(FamilyName(table.spec.family))},
                    {"element_type", std::string(ElementTypeName(table.spec.element_type))},
                    {"size_bytes", table.size_bytes},
                    {"resident_bytes", table.resident_bytes},
                    {"resident_blocks", table.resident_blocks},
                    {"total_blocks", table.total_blocks},
                    {"pinned", table.pinned}});
  }
  return {{"tables", std::move(list)}};
}

Json ToJson(const ServerStatus& server) {
  const CacheStatus& cache = server.cache;
  return {{"version", server.version},
          {"revision", server.revision},
          {"compiler", server.compiler},
          {"grpc_version", server.grpc_version},
          {"protobuf_version", server.protobuf_version},
          {"kernel_target", server.kernel_target},
          {"uptime_seconds", absl::ToDoubleSeconds(server.uptime)},
          {"max_unary_bytes", server.max_unary_bytes},
          {"block_bytes", server.block_bytes},
          {"ready", server.ready},
          {"draining", server.draining},
          {"cache",
           {{"limit_bytes", cache.limit_bytes},
            {"resident_bytes", cache.resident_bytes},
            {"pinned_bytes", cache.pinned_bytes},
            {"building_bytes", cache.building_bytes},
            {"orphaned_bytes", cache.orphaned_bytes},
            {"waiting_requests", cache.waiting_requests},
            {"hits", cache.hits},
            {"misses", cache.misses},
            {"coalesced", cache.coalesced},
            {"blocks_generated", cache.blocks_generated},
            {"blocks_evicted", cache.blocks_evicted}}}};
}

// The names of the JSON form with their values, one to a line.
void PrintFields(const Json& object, const std::string& indent) {
  for (const auto& [name, value] : object.items()) {
    if (value.is_object()) {
      std::cout << indent << name << '\n';
      PrintFields(value, indent + "  ");
      continue;
    }
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    const bool bytes = name.size() > 6 && name.compare(name.size() - 6, 6, "_bytes") == 0;
    std::cout << indent << absl::StrFormat("%-18s  ", name)
              << (bytes ? BytesText(value.get<double>()) : text) << '\n';
  }
}

Outcome PrintHealth(Client& client, const CallOptions& call) {
  const absl::StatusOr<HealthStatus> health = client.Health(call);
  if (!health.ok()) return RpcError(health.status());
  constexpr std::array<const char*, 4> kNames = {"UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"};
  std::cout << kNames[static_cast<size_t>(*health)] << '\n';
  if (*health == HealthStatus::kServing) return {};
  return {kRpcErrorBase + static_cast<int>(absl::StatusCode::kUnavailable),
          "the server answers, but is not serving"};
}

Outcome Evict(Client& client, const CallOptions& call, const std::vector<std::string>& keys, bool all) {
  if (keys.empty() != all) return Usage("evict takes keys (as 'posenc tables' shows them) or --all");
  const absl::StatusOr<EvictedTables> evicted = all ? client.EvictAll(call) : client.Evict(keys, call);
  if (!evicted.ok()) return RpcError(evicted.status());
  std::cout << "evicted " << evicted->tables << " tables, " << evicted->blocks << " blocks, "
            << BytesText(static_cast<double>(evicted->bytes)) << '\n';
  return {};
}

Outcome Warm(Client& client, const Session& session, const std::vector<TableSpec>& specs, bool unpinned) {
  ProgressBar bar(!session.globals.quiet);
  WarmProgress last;
  const auto on_progress = [&](const WarmProgress& progress) {
    last = progress;
    const double share = progress.blocks_total > 0 ? static_cast<double>(progress.blocks_done) /
                                                         static_cast<double>(progress.blocks_total)
                                                   : 1;
    bar.Show(share, absl::StrCat("table ", progress.tables_done + 1, " of ", progress.tables_total));
  };
  const absl::Status status = client.Warm(
      {.specs = specs, .unpinned = unpinned, .on_progress = on_progress, .call = session.call()});
  if (!status.ok()) return RpcError(status);
  std::cout << "warmed " << last.tables_done << (last.tables_done == 1 ? " table" : " tables") << '\n';
  return {};
}

// posenc warm FAMILY flags, and posenc warm --model FILE for all tables of a model.
class WarmCommand {
 public:
  WarmCommand(CLI::App& app, Session& session) : session_(session) {
    CLI::App& warm = *app.add_subcommand("warm", "Generates tables ahead of their use, and pins them");
    warm.add_option("--model", model_file_, "A model's config.json or .gguf: all of its tables")->type_name("FILE");
    AddRuntimeFlag(warm, runtime_);
    warm.add_flag("--unpinned", unpinned_, "Leaves the tables to ordinary eviction");
    warm.require_subcommand(0, 1);
    warm.footer(
        "Examples:\n"
        "  posenc warm rope --head-dim 128 --max-len 131072 --base 500000\n"
        "  posenc warm --model config.json --as vllm");
    warm.callback([this] { session_.action = [this] { return Execute(); }; });
    for (const std::string& family : FamilyCommands()) {
      WarmFamily& added = *families_.emplace_back(std::make_unique<WarmFamily>());
      added.command = warm.add_subcommand(family, absl::StrCat("Warms a ", family, " table"));
      added.flags.AddTo(*added.command, family);
      added.command->footer(absl::StrCat("Example:\n  posenc warm ", family, " ", HelpOf(family).smallest));
    }
  }

 private:
  struct WarmFamily {
    CLI::App* command = nullptr;
    SpecFlags flags;
  };

  Outcome Specs(Client& client, std::vector<TableSpec>& specs) {
    for (const auto& family : families_) {
      if (!family->command->parsed()) continue;
      return family->flags.Resolve(client, session_.call(), specs.emplace_back());
    }
    if (model_file_.empty()) return Usage("warm takes a family with its flags, or --model FILE");
    ModelQuery query{.runtime = runtime_};
    if (Outcome outcome = ReadModel(model_file_, query); !outcome.ok()) return outcome;
    const absl::StatusOr<ModelTables> model = client.ResolveModel(std::move(query), session_.call());
    if (!model.ok()) return RpcError(model.status());
    for (const ModelTable& table : model->tables) specs.push_back(table.spec);
    if (specs.empty()) return Usage(absl::StrCat(model_file_, " has no positional table"));
    return {};
  }

  Outcome Execute() {
    std::shared_ptr<Connection> connection;
    if (Outcome outcome = session_.Connect(connection); !outcome.ok()) return outcome;
    Client client(connection);
    std::vector<TableSpec> specs;
    if (Outcome outcome = Specs(client, specs); !outcome.ok()) return outcome;
    return Warm(client, session_, specs, unpinned_);
  }

  Session& session_;
  std::string model_file_;
  bool unpinned_ = false;
  Runtime runtime_ = Runtime::kTransformers;
  std::vector<std::unique_ptr<WarmFamily>> families_;
};

void AddTables(CLI::App& app, Session& session) {
  static const std::string* format = nullptr;
  CLI::App& command = AddSimple(
      app, session, "tables", "Tables in the server's memory", "Example:\n  posenc tables --format json",
      [&session](Client& client) -> Outcome {
        const absl::StatusOr<std::vector<TableStatus>> tables = client.ListTables(session.call());
        if (!tables.ok()) return RpcError(tables.status());
        if (*format == "json") {
          std::cout << ToJson(*tables).dump(2) << '\n';
        } else {
          PrintTables(*tables);
        }
        return {};
      });
  format = &AddFormat(command);
}

void AddStats(CLI::App& app, Session& session) {
  static const std::string* format = nullptr;
  CLI::App& command = AddSimple(
      app, session, "stats", "What the server is and how it does", "Example:\n  posenc stats --format json",
      [&session](Client& client) -> Outcome {
        const absl::StatusOr<ServerStatus> server = client.ServerInfo(session.call());
        if (!server.ok()) return RpcError(server.status());
        if (*format == "json") {
          std::cout << ToJson(*server).dump(2) << '\n';
        } else {
          PrintFields(ToJson(*server), "");
        }
        return {};
      });
  format = &AddFormat(command);
}

void AddEvict(CLI::App& app, Session& session) {
  static std::vector<std::string> keys;
  static bool all = false;
  CLI::App& command = AddSimple(
      app, session, "evict", "Drops tables from the server's memory, pinned ones too",
      "Examples:\n  posenc evict 4f0c…  (64 hex digits)\n  posenc evict --all",
      [&session](Client& client) { return Evict(client, session.call(), keys, all); });
  command.add_option("keys", keys, "Keys of tables")->type_name("KEY");
  command.add_flag("--all", all, "Every table");
}

}  // namespace

void AddAdminCommands(CLI::App& app, Session& session) {
  AddTables(app, session);
  static WarmCommand warm(app, session);
  AddEvict(app, session);
  AddStats(app, session);
  AddSimple(app, session, "health", "SERVING or not; exits 0 only when SERVING",
            "Example:\n  posenc health --server posenc:50051 --timeout 1s",
            [&session](Client& client) { return PrintHealth(client, session.call()); });
  CLI::App& version = *app.add_subcommand("version", "The version of this program");
  version.footer("Example:\n  posenc version");
  version.callback([&session] {
    session.action = []() -> Outcome {
      std::cout << "posenc " << ClientVersion() << '\n';
      return {};
    };
  });
}

}  // namespace posenc::cli
