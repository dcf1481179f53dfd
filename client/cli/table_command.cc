// posenc sinusoidal | rope | alibi: prints or saves a table or a part of one.

#include <malloc.h>
#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "client/cli/command.h"
#include "client/cli/formats.h"
#include "client/cli/output.h"
#include "client/cli/parse.h"
#include "client/cli/progress.h"
#include "client/cli/spec_flags.h"

namespace posenc::cli {
namespace {

// One of the three commands with its flags.
class TableCommand {
 public:
  TableCommand(CLI::App& app, Session& session, const std::string& family, const std::string& help,
               const std::string& examples)
      : session_(session) {
    CLI::App& command = *app.add_subcommand(family, help);
    specs_.AddTo(command, family);
    AddSelection(command, family);
    command.add_option("--format", format_, "table (default), json, csv, npy, raw; or as -o ends")
        ->check(Checked(ParseFormat), "", "")
        ->type_name("NAME");
    command.add_option("-o,--output", output_, "A file instead of stdout")->type_name("FILE");
    command.add_flag("--full", full_, "Leaves nothing out of the table format");
    command.footer(examples);
    command.callback([this] { session_.action = [this] { return Execute(); }; });
  }

 private:
  void AddRange(CLI::App& command, const std::string& flag, std::optional<Range> Selection::*member,
                const std::string& help) {
    command.add_option_function<std::string>(
               flag, [this, member](const std::string& text) { selection_.*member = *ParseRange(text); },
               help)
        ->check(Checked(ParseRange), "", "")
        ->type_name("A:B");
  }

  void AddSelection(CLI::App& command, const std::string& family) {
    if (family == "alibi") {
      AddRange(command, "--q,--rows", &Selection::rows, "Queries, half-open");
      AddRange(command, "--k,--keys", &Selection::keys, "Keys, half-open");
      AddRange(command, "--head-range", &Selection::heads, "Heads, half-open");
      return;
    }
    AddRange(command, "--rows", &Selection::rows, "Rows, half-open: 2:5, 2:, :5, or 7 for 7:8");
    AddRange(command, "--cols", &Selection::columns, "Columns of every tensor, half-open");
    command
        .add_option_function<std::string>(
            "--positions",
            [this](const std::string& text) { selection_.positions = *ParsePositions(text); },
            "Positions instead of rows: 1,5,-3")
        ->check(Checked(ParsePositions), "", "")
        ->excludes("--rows")
        ->type_name("LIST");
  }

  Format format() const { return format_.empty() ? FormatOfFile(output_) : *ParseFormat(format_); }

  Outcome Execute() {
    const bool binary = format() == Format::kNpy || format() == Format::kRaw;
    if (binary && output_.empty() && IsTerminal(STDOUT_FILENO)) {
      return Usage("binary data would spoil the terminal; name a file with -o, or pipe it on");
    }
    std::shared_ptr<Connection> connection;
    if (Outcome outcome = session_.Connect(connection); !outcome.ok()) return outcome;
    Client client(connection);
    TableSpec spec;
    Outcome outcome = specs_.Resolve(client, session_.call(), spec);
    if (!outcome.ok()) return outcome;
    absl::StatusOr<Table> table = Fetch(*connection, spec);
    if (!table.ok()) return RpcError(table.status());
    RemarkOnZeros(*table, spec);
    return Write(*table, spec);
  }

  absl::StatusOr<Table> Fetch(Connection& connection, const TableSpec& spec) {
    // Keeps what each message frees, instead of giving it back to the kernel: streams are a sixth faster.
    mallopt(M_TRIM_THRESHOLD, 256 << 20);
    mallopt(M_TOP_PAD, 64 << 20);
    ProgressBar bar(!session_.globals.quiet);
    return connection.Fetch({.spec = spec,
                             .selection = selection_,
                             .call = session_.call(),
                             .on_progress = [&](uint64_t done, uint64_t total) {
                               const auto whole = static_cast<double>(total);
                               bar.Show(static_cast<double>(done) / whole,
                                        absl::StrCat(BytesText(static_cast<double>(done)), " of ",
                                                     BytesText(whole)));
                             }});
  }

  // A causal bias counts distances back from the query, so that a view without earlier keys is all zeros.
  void RemarkOnZeros(const Table& table, const TableSpec& spec) const {
    const auto* alibi = std::get_if<AlibiSpec>(&spec.family);
    if (!alibi || alibi->form != AlibiForm::kCausal || alibi->masked || session_.globals.quiet) return;
    const TensorInfo& bias = table.tensors().front();
    if (HasNoElements(bias) || bias.shape.size() != 3) return;
    const int64_t first_query = selection_.rows ? selection_.rows->begin : 0;
    const int64_t first_key = selection_.keys ? selection_.keys->begin : 0;
    const int64_t last_query = first_query + bias.shape[1] - 1;
    const int64_t last_key = first_key + bias.shape[2] - 1;
    if (first_key < last_query || last_key == first_query) return;
    std::cerr << "posenc: all zeros, since no key here is before its query and the form is causal; "
                 "--form symmetric has a bias there too\n";
  }

  Outcome Write(const Table& table, const TableSpec& spec) {
    if (format() == Format::kNpy) return WriteNpyFiles(table);
    const size_t rank = RowRank(spec);
    const std::vector<int64_t>& shape = table.tensors().front().shape;
    if (shape.size() < rank) return RpcError(absl::InternalError("the table has another rank"));
    const std::span<const int64_t> row_dims = std::span(shape).first(rank);
    const RowNames names = NameRows(spec, selection_, {row_dims.begin(), row_dims.end()});
    Output output(output_);
    switch (format()) {
      case Format::kJson:
        WriteJson(table, output.stream());
        break;
      case Format::kCsv:
        WriteCsv(table, names, output.stream());
        break;
      case Format::kRaw:
        WriteRaw(table, output.stream());
        DescribeRaw(table);
        break;
      default:
        WriteTable(table, names, {.width_columns = TerminalColumns(100), .full = full_}, output.stream());
    }
    return output.Commit();
  }

  // A file for each tensor: x.npy becomes x.cos.npy and x.sin.npy.
  Outcome WriteNpyFiles(const Table& table) {
    const bool several = table.tensors().size() > 1;
    // Nor can a pipe or a device take part in several names.
    const bool named = !output_.empty() && !CLI::ExistingPath(output_).empty();
    if (several && !named && !std::filesystem::is_regular_file(output_)) {
      return Usage("npy holds one tensor, and this table has several; name files with -o x.npy, or take "
                   "a layout of one tensor (--layout cos-sin)");
    }
    for (const TensorInfo& info : table.tensors()) {
      std::string path = output_;
      if (several) path = absl::StrCat(absl::StripSuffix(path, ".npy"), ".", info.name, ".npy");
      Output output(path);
      WriteNpy(table, info, output.stream());
      if (Outcome outcome = output.Commit(); !outcome.ok()) return outcome;
      if (several && !session_.globals.quiet) std::cerr << "wrote " << path << '\n';
    }
    return {};
  }

  void DescribeRaw(const Table& table) const {
    if (session_.globals.quiet) return;
    for (const TensorInfo& info : table.tensors()) {
      std::cerr << info.name << " [" << absl::StrJoin(info.shape, ", ") << "] "
                << std::string(ElementTypeName(info.element_type)) << ", little-endian, "
                << table.bytes(info.name).size() << " bytes\n";
    }
  }

  Session& session_;
  SpecFlags specs_;
  Selection selection_;
  std::string format_;
  std::string output_;
  bool full_ = false;
};

}  // namespace

void AddTableCommands(CLI::App& app, Session& session) {
  // The commands live as long as the flags refer to them: to the end of the program.
  static TableCommand sinusoidal(
      app, session, "sinusoidal", "Sinusoidal table [max_len, d_model]",
      "Examples:\n"
      "  posenc sinusoidal --d-model 512 --rows 0:10 --cols 0:8\n"
      "  posenc sinusoidal --d-model 512 -o pe.npy\n"
      "  posenc sinusoidal --d-model 1024 --order sin-cos --frequency-shift 1 --zero-row 1 --rows 2:5");
  static TableCommand rope(
      app, session, "rope", "Rotary table: cos and sin [max_len, rotary_dim / 2], or another layout",
      "Examples:\n"
      "  posenc rope --head-dim 128 --max-len 131072 --base 500000 --positions 131071\n"
      "  posenc rope --model config.json --rows 0:4 --format json\n"
      "  posenc rope --head-dim 128 --scaling llama3 --factor 8 --layout cos-sin --dtype bf16 -o rope.npy\n"
      "  posenc rope --head-dim 4 --inverse-frequencies 1,0.01 --rows 0:3");
  static TableCommand alibi(
      app, session, "alibi", "ALiBi bias [heads, queries, keys], or the slopes",
      "Examples:\n"
      "  posenc alibi --heads 12 --form symmetric --q 0:1 --k 0:20\n"
      "  posenc alibi --heads 8 --form slopes\n"
      "  posenc alibi --heads 12 --form symmetric --head-range 0:2 --q :4 --k :4 --format csv");
}

}  // namespace posenc::cli
