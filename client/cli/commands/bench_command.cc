// posenc bench: how fast a server answers, in calls and bytes a second.

#include <iostream>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/command.h"
#include "client/cli/commands/fetch.h"
#include "client/cli/commands/load.h"
#include "client/cli/flags/family_help.h"
#include "client/cli/flags/field_text.h"
#include "client/cli/flags/parse.h"
#include "client/cli/flags/selection_flags.h"
#include "client/cli/flags/spec_flags.h"
#include "client/cli/output/progress.h"
#include "nlohmann/json.hpp"

namespace posenc::cli {
namespace {

// Answers over this size pass through in chunks: many clients would fill the memory with copies of them.
constexpr uint64_t kMaxKeptBytes = 64 << 20;
constexpr int kMaxClients = 1024;

constexpr std::pair<const char*, double> kQuantiles[] = {
    {"min", 0.0}, {"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"max", 1.0}};

double PerSecond(double count, const LoadResult& result) { return count / result.elapsed_seconds; }

std::string SecondsText(double seconds) {
  return absl::FormatDuration(absl::Trunc(absl::Seconds(seconds), absl::Nanoseconds(seconds < 1e-3 ? 10 : 1000)));
}

nlohmann::ordered_json ToJson(const LoadResult& result, int clients) {
  nlohmann::ordered_json latency;
  for (const auto& [name, share] : kQuantiles) latency[name] = Quantile(result.seconds, share);
  return {{"clients", clients},
          {"calls", result.seconds.size()},
          {"elapsed_seconds", result.elapsed_seconds},
          {"calls_per_second", PerSecond(static_cast<double>(result.seconds.size()), result)},
          {"bytes_per_second", PerSecond(static_cast<double>(result.bytes), result)},
          {"latency_seconds", std::move(latency)}};
}

void Print(const LoadResult& result, int clients) {
  const double count = static_cast<double>(result.seconds.size());
  std::cout << absl::StrFormat("calls    %d by %d client%s in %s, %.6g a second\n", result.seconds.size(), clients,
                               clients == 1 ? "" : "s", SecondsText(result.elapsed_seconds),
                               PerSecond(count, result))
            << absl::StrFormat("bytes    %s a call, %s a second\n",
                               BytesText(static_cast<double>(result.bytes) / count),
                               BytesText(PerSecond(static_cast<double>(result.bytes), result)))
            << "latency ";
  for (const auto& [name, share] : kQuantiles) {
    std::cout << " " << name << " " << SecondsText(Quantile(result.seconds, share));
  }
  std::cout << '\n';
}

class BenchCommand {
 public:
  BenchCommand(CLI::App& parent, Session& session, const std::string& family) : session_(session) {
    CLI::App& command = *parent.add_subcommand(family, absl::StrCat("Asks for ", family, " tables"));
    specs_.AddTo(command, family);
    selection_flags_.AddTo(command, specs_.family());
    command.add_option("--clients", clients_, "At the same time, each with a connection of its own (default 1)")
        ->check(CLI::Range(1, kMaxClients))
        ->type_name("N");
    command.add_option("--duration", duration_, "Of the run, in seconds or with a unit (default 3s)")
        ->check(Checked(ParseTimeout), "", "")
        ->type_name("TIME");
    command.add_option("--format", format_, "table (default) or json")->check(CLI::IsMember({"table", "json"}));
    const std::string flags = absl::StrCat(family, " ", HelpOf(family).smallest);
    command.footer(absl::StrCat("Examples:\n  posenc bench ", flags, " --clients 4\n  posenc bench ", flags,
                                " --duration 10s --format json\n  posenc bench ", flags, " --local"));
    command.callback([this] { session_.action = [this] { return Execute(); }; });
  }

 private:
  Outcome Execute() {
    Subject subject;
    if (Outcome outcome = OpenSubject(session_, specs_, subject); !outcome.ok()) return outcome;
    LoadPlan plan{.spec = subject.spec,
                  .selection = selection_flags_.selection(),
                  .duration = *ParseTimeout(duration_),
                  .call = session_.call()};
    if (Outcome outcome = ChooseForm(subject, plan); !outcome.ok()) return outcome;
    std::vector<std::shared_ptr<Connection>> connections = {subject.connection};
    while (connections.size() < static_cast<size_t>(clients_)) {
      Outcome outcome = session_.Connect(connections.emplace_back());
      if (!outcome.ok()) return outcome;
    }
    ProgressBar bar(!session_.globals.quiet);
    const LoadResult result =
        RunLoad(connections, plan, [&](double share) { bar.Show(std::min(share, 1.0), "asking"); });
    return Report(result);
  }

  // One call before the clock starts: it connects, generates what is not resident, and tells the size.
  static Outcome ChooseForm(const Subject& subject, LoadPlan& plan) {
    StreamParams first{.spec = plan.spec, .selection = plan.selection, .call = plan.call};
    first.on_chunk = [&](const Chunk& chunk) {
      plan.streamed = chunk.slice.size_bytes > kMaxKeptBytes;
      return absl::OkStatus();
    };
    if (absl::Status status = subject.connection->Stream(first); !status.ok()) return RpcError(status);
    return {};
  }

  Outcome Report(const LoadResult& result) const {
    if (!result.seconds.empty()) {
      if (format_ == "json") {
        std::cout << ToJson(result, clients_).dump(2) << '\n';
      } else {
        Print(result, clients_);
      }
    }
    if (result.failures == 0) return {};
    Outcome outcome = RpcError(result.first_failure);
    outcome.message = absl::StrCat(result.failures, " of ", clients_, " clients ended early, the first with ",
                                   outcome.message);
    return outcome;
  }

  Session& session_;
  SpecFlags specs_;
  SelectionFlags selection_flags_;
  int clients_ = 1;
  std::string duration_ = "3s";
  std::string format_ = "table";
};

}  // namespace

void AddBenchCommand(CLI::App& app, Session& session) {
  CLI::App& parent = *app.add_subcommand("bench", "How fast a server answers: calls, bytes and latency");
  parent.require_subcommand(1);
  parent.footer(
      "Examples:\n"
      "  posenc bench rope --head-dim 128 --max-len 131072 --rows 0:8 --clients 16   (small calls)\n"
      "  posenc bench rope --head-dim 128 --max-len 131072 --clients 2               (whole tables)");
  static std::vector<std::unique_ptr<BenchCommand>> commands;
  for (const std::string& family : FamilyCommands()) {
    commands.push_back(std::make_unique<BenchCommand>(parent, session, family));
  }
}

}  // namespace posenc::cli
