// posenc sinusoidal | rope | alibi | …: prints or saves a table or a part of one.

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <memory>
#include <span>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "client/cli/command.h"
#include "client/cli/commands/fetch.h"
#include "client/cli/flags/family_help.h"
#include "client/cli/flags/field_text.h"
#include "client/cli/flags/selection_flags.h"
#include "client/cli/flags/spec_flags.h"
#include "client/cli/output/formats.h"
#include "client/cli/output/output.h"
#include "server/core/length_remark.h"

namespace posenc::cli {
namespace {

// The position behind the last one that was fetched.
int64_t EndPosition(const RopeSpec& rope, const Selection& selection) {
  double last = static_cast<double>(rope.first_position + rope.max_len - 1);
  const auto take_highest = [&](const auto& positions) {
    if (!positions.empty()) last = static_cast<double>(*std::max_element(positions.begin(), positions.end()));
  };
  if (selection.rows && selection.rows->end) {
    last = static_cast<double>(rope.first_position + *selection.rows->end - 1);
  }
  take_highest(selection.positions);
  take_highest(selection.real_positions);
  take_highest(selection.axis_positions);
  return static_cast<int64_t>(std::floor(last)) + 1;
}

// One family's command with its flags.
class TableCommand {
 public:
  TableCommand(CLI::App& app, Session& session, const std::string& family) : session_(session) {
    const FamilyHelp help = HelpOf(family);
    CLI::App& command = *app.add_subcommand(family, help.about);
    specs_.AddTo(command, family);
    selection_flags_.AddTo(command, specs_.family());
    command.add_option("--format", format_, "table (default), json, csv, npy, safetensors, raw; or as -o ends")
        ->check(Checked(ParseFormat), "", "")
        ->type_name("NAME");
    command.add_option("-o,--output", output_, "A file instead of stdout")->type_name("FILE");
    command.add_flag("--full", full_, "Leaves nothing out of the table format");
    command.footer(help.examples);
    command.callback([this] { session_.action = [this] { return Execute(); }; });
  }

 private:
  Format format() const { return format_.empty() ? FormatOfFile(output_) : *ParseFormat(format_); }

  const Selection& selection() const { return selection_flags_.selection(); }

  Outcome Execute() {
    const bool text = format() == Format::kTable || format() == Format::kJson || format() == Format::kCsv;
    if (!text && output_.empty() && IsTerminal(STDOUT_FILENO)) {
      return Usage("binary data would spoil the terminal; name a file with -o, or pipe it on");
    }
    Subject subject;
    if (Outcome outcome = OpenSubject(session_, specs_, subject); !outcome.ok()) return outcome;
    Table table;
    if (Outcome outcome = FetchPart(session_, subject, selection(), table); !outcome.ok()) return outcome;
    RemarkOnZeros(table, subject.spec);
    RemarkOnLength(subject.spec);
    return Write(table, subject.spec);
  }

  // A causal bias counts distances back from the query, so that a view without earlier keys is all zeros.
  void RemarkOnZeros(const Table& table, const TableSpec& spec) const {
    const auto* alibi = std::get_if<AlibiSpec>(&spec.family);
    if (!alibi || alibi->form != AlibiForm::kCausal || alibi->masked || session_.globals.quiet) return;
    const TensorInfo& bias = table.tensors().front();
    if (HasNoElements(bias) || bias.shape.size() != 3) return;
    const int64_t first_query = selection().rows ? selection().rows->begin : 0;
    const int64_t first_key = selection().keys ? selection().keys->begin : 0;
    const int64_t last_query = first_query + bias.shape[1] - 1;
    const int64_t last_key = first_key + bias.shape[2] - 1;
    if (first_key < last_query || last_key == first_query) return;
    std::cerr << "posenc: all zeros, since no key here is before its query and the form is causal; "
                 "--form symmetric has a bias there too\n";
  }

  void RemarkOnLength(const TableSpec& spec) const {
    const auto* rope = std::get_if<RopeSpec>(&spec.family);
    if (!rope || session_.globals.quiet) return;
    const std::string remark = LengthRemark(*rope, EndPosition(*rope, selection()));
    if (!remark.empty()) std::cerr << "posenc: " << remark << " (--effective-length)\n";
  }

  Outcome Write(const Table& table, const TableSpec& spec) {
    if (format() == Format::kNpy) return WriteNpyFiles(table);
    if (format() == Format::kSafetensors && table.element_type() == ElementType::kComplex128) {
      return Usage("safetensors has no C128; take --dtype f32, or another layout than complex");
    }
    const size_t rank = RowRank(spec);
    const std::vector<int64_t>& shape = table.tensors().front().shape;
    if (shape.size() < rank) return RpcError(absl::InternalError("the table has another rank"));
    const std::span<const int64_t> row_dims = std::span(shape).first(rank);
    const RowNames names = NameRows(spec, selection(), {row_dims.begin(), row_dims.end()});
    Output output(output_);
    switch (format()) {
      case Format::kJson:
        WriteJson(table, output.stream());
        break;
      case Format::kCsv:
        WriteCsv(table, names, output.stream());
        break;
      case Format::kSafetensors:
        WriteSafetensors(table, spec, output.stream());
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
  SelectionFlags selection_flags_;
  std::string format_;
  std::string output_;
  bool full_ = false;
};

}  // namespace

void AddTableCommands(CLI::App& app, Session& session) {
  // The commands live as long as the flags refer to them: to the end of the program.
  static std::vector<std::unique_ptr<TableCommand>> commands;
  for (const std::string& family : FamilyCommands()) {
    commands.push_back(std::make_unique<TableCommand>(app, session, family));
  }
}

}  // namespace posenc::cli
