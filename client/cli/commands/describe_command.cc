// posenc describe: what a table is, without its numbers.

#include <iostream>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "client/cli/command.h"
#include "client/cli/commands/fetch.h"
#include "client/cli/flags/family_help.h"
#include "client/cli/flags/field_text.h"
#include "client/cli/flags/spec_flags.h"
#include "client/cli/output/progress.h"
#include "nlohmann/json.hpp"
#include "server/core/shortest_decimal.h"

namespace posenc::cli {
namespace {

using Json = nlohmann::ordered_json;

Json ToJson(const TableDescription& table) {
  Json tensors = Json::array();
  for (const TensorInfo& tensor : table.tensors) {
    Json& item = tensors.emplace_back();
    item["name"] = tensor.name;
    item["element_type"] = std::string(ElementTypeName(tensor.element_type));
    item["shape"] = tensor.shape;
    if (!tensor.content_sha256.empty()) item["content_sha256"] = tensor.content_sha256;
  }
  return {{"key", table.key},
          {"spec", SpecCommand(table.spec)},
          {"canonical_text", table.canonical_text},
          {"tensors", std::move(tensors)},
          {"size_bytes", table.size_bytes},
          {"rows", table.rows},
          {"rows_per_block", table.rows_per_block},
          {"inverse_frequencies", table.inverse_frequencies},
          {"slopes", table.slopes},
          {"magnitude", table.magnitude},
          {"softmax_scale", table.softmax_scale},
          {"error_bound", table.error_bound},
          {"axis_of_pair", table.axis_of_pair},
          {"position_axes", table.position_axes},
          {"real_positions", table.real_positions},
          {"positions_begin", table.positions_begin},
          {"positions_end", table.positions_end},
          {"notes", table.notes}};
}

// The first and the last few numbers of a list, to six digits.
std::string Brief(const std::vector<double>& numbers) {
  const auto format = [](std::string* out, double number) { absl::StrAppendFormat(out, "%.6g", number); };
  if (numbers.size() <= 6) return absl::StrJoin(numbers, ", ", format);
  const auto end = numbers.end();
  return absl::StrCat(absl::StrJoin(numbers.begin(), numbers.begin() + 3, ", ", format), ", ..., ",
                      absl::StrJoin(end - 2, end, ", ", format), "  (", numbers.size(), ")");
}

void Print(const TableDescription& table) {
  std::cout << "spec                 " << Shortened(SpecCommand(table.spec), 200) << '\n'
            << "key                  " << table.key << '\n';
  for (const TensorInfo& tensor : table.tensors) {
    std::cout << absl::StrCat("tensor               ", tensor.name, " [", absl::StrJoin(tensor.shape, ", "),
                              "] ", ElementTypeName(tensor.element_type),
                              tensor.content_sha256.empty() ? "" : "  sha256 ", tensor.content_sha256, "\n");
  }
  std::cout << "size                 " << BytesText(static_cast<double>(table.size_bytes)) << '\n'
            << "rows                 " << table.rows << ", " << table.rows_per_block << " to a block\n"
            << "error                " << table.error_bound << '\n';
  if (table.positions_begin < table.positions_end) {
    std::cout << "positions            " << table.positions_begin << " to " << table.positions_end - 1
              << (table.real_positions ? ", any real number" : "")
              << (table.position_axes > 1 ? absl::StrCat(", on ", table.position_axes, " axes") : "") << '\n';
  }
  const auto list = [](const char* name, const std::vector<double>& numbers) {
    if (!numbers.empty()) std::cout << name << Brief(numbers) << '\n';
  };
  list("inverse frequencies  ", table.inverse_frequencies);
  list("slopes               ", table.slopes);
  if (table.magnitude != 1) std::cout << "magnitude            " << ShortestDecimal(table.magnitude) << '\n';
  if (table.softmax_scale != 1) std::cout << "softmax scale        " << ShortestDecimal(table.softmax_scale) << '\n';
  if (!table.axis_of_pair.empty()) {
    std::cout << "axis of each pair    " << absl::StrJoin(table.axis_of_pair, "") << '\n';
  }
  for (const std::string& note : table.notes) std::cout << "note                 " << note << '\n';
  std::cout << "canonical text\n";
  for (absl::string_view line : absl::StrSplit(table.canonical_text, '\n', absl::SkipEmpty())) {
    std::cout << absl::StrCat("  ", line, "\n");
  }
}

class DescribeCommand {
 public:
  DescribeCommand(CLI::App& parent, Session& session, const std::string& family) : session_(session) {
    CLI::App& command = *parent.add_subcommand(family, absl::StrCat("Describes a ", family, " table"));
    specs_.AddTo(command, family);
    command.add_flag("--digest", digest_, "Also SHA-256 of every tensor's bytes; generates the whole table");
    command.add_option("--format", format_, "table (default) or json")
        ->check(CLI::IsMember({"table", "json"}));
    command.footer(absl::StrCat("Examples:\n  posenc describe ", family, " ", HelpOf(family).smallest, " --digest\n",
                                "  posenc describe ", family, " --model config.json --as vllm"));
    command.callback([this] { session_.action = [this] { return Execute(); }; });
  }

 private:
  Outcome Execute() {
    Subject subject;
    if (Outcome outcome = OpenSubject(session_, specs_, subject); !outcome.ok()) return outcome;
    const absl::StatusOr<TableDescription> table = subject.connection->Describe(
        {.spec = subject.spec, .with_content_digest = digest_, .call = session_.call()});
    if (!table.ok()) return RpcError(table.status());
    if (format_ == "json") {
      std::cout << ToJson(*table).dump(2) << '\n';
    } else {
      Print(*table);
    }
    return {};
  }

  Session& session_;
  SpecFlags specs_;
  bool digest_ = false;
  std::string format_ = "table";
};

}  // namespace

void AddDescribeCommand(CLI::App& app, Session& session) {
  CLI::App& parent = *app.add_subcommand("describe", "What a table is: key, tensors, frequencies, error bound");
  parent.require_subcommand(1);
  parent.footer("Example:\n  posenc describe rope --head-dim 128 --max-len 131072 --base 500000");
  static std::vector<std::unique_ptr<DescribeCommand>> commands;
  for (const std::string& family : FamilyCommands()) {
    commands.push_back(std::make_unique<DescribeCommand>(parent, session, family));
  }
}

}  // namespace posenc::cli
