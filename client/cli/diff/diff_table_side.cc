// The sides of a comparison that are tables: specs and models.

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/commands/fetch.h"
#include "client/cli/diff/diff_side.h"
#include "client/cli/flags/field_text.h"
#include "client/cli/flags/model_file.h"
#include "client/cli/flags/spec_flags.h"
#include "client/cli/output/row_names.h"
#include "server/core/names.h"

namespace posenc::cli {
namespace {

class TableSide : public DiffSide {
 public:
  TableSide(const DiffRequest& request, Subject subject)
      : call_(request.session.call()), selection_(request.selection), subject_(std::move(subject)) {}

  // Asks what the table is, and what the selected part of it.
  Outcome Open(const DiffRequest& request, std::string name, std::vector<ValueOrigin> origins) {
    TableDescription description;
    Outcome outcome = DescribeSubject(request.session, subject_, description);
    if (!outcome.ok()) return outcome;
    spec_ = description.spec;
    key_ = description.key;
    whole_ = description.tensors;
    rank_ = RowRank(description.spec);
    name_ = std::move(name);
    origins_ = std::move(origins);
    // The stream is broken off once it has said what it will bring.
    const auto note = [&](const SliceInfo& slice) -> absl::StatusOr<std::vector<std::span<std::byte>>> {
      tensors_ = slice.tensors;
      return absl::CancelledError("");
    };
    const absl::Status status = subject_.connection->Stream(
        {.spec = subject_.spec, .selection = selection_, .destinations = note, .call = call_});
    return tensors_.empty() && !status.ok() ? RpcError(status) : Outcome();
  }

  Outcome Read(int64_t begin, int64_t end, std::vector<std::vector<std::byte>>& rows) override {
    rows.assign(tensors_.size(), {});
    int64_t next = begin;
    const auto take = [&](const Chunk& chunk) -> absl::Status {
      if (chunk.row_count == 0) return absl::OkStatus();
      const int64_t count = std::min(chunk.row_count, end - next);
      for (size_t i = 0; i < rows.size(); ++i) {
        const size_t row_bytes = chunk.tensors[i].size() / static_cast<size_t>(chunk.row_count);
        const auto part = chunk.tensors[i].first(row_bytes * static_cast<size_t>(count));
        rows[i].insert(rows[i].end(), part.begin(), part.end());
      }
      next += count;
      return next < end ? absl::OkStatus() : absl::CancelledError("");
    };
    const absl::Status status = subject_.connection->Stream({.spec = subject_.spec,
                                                             .selection = selection_,
                                                             .skip_rows = begin,
                                                             .on_chunk = take,
                                                             .call = call_});
    if (next == end) return {};
    return RpcError(status.ok() ? absl::DataLossError("the table ended early") : status);
  }

 private:
  const CallOptions call_;
  const Selection selection_;
  const Subject subject_;
};

Outcome Make(const DiffRequest& request, Subject subject, const std::string& name,
             std::vector<ValueOrigin> origins, std::unique_ptr<DiffSide>& side) {
  auto made = std::make_unique<TableSide>(request, std::move(subject));
  Outcome outcome = made->Open(request, name, std::move(origins));
  side = std::move(made);
  return outcome;
}

// A family with its flags, and global flags of its own.
Outcome OpenSpec(const DiffRequest& request, const std::string& text, std::unique_ptr<DiffSide>& side) {
  const std::string family = text.substr(0, text.find(' '));
  Session session{.globals = request.session.globals};
  CLI::App app("", family);
  app.set_help_flag();
  app.add_option("--server", session.globals.server);
  const CLI::Option* local = app.add_flag("--local", session.globals.local);
  SpecFlags flags;
  flags.AddTo(app, family);
  try {
    app.parse(text.substr(family.size()));
  } catch (const CLI::ParseError& error) {
    return Usage(absl::StrCat("'", text, "': ", error.what()));
  }
  if (app.count("--server") > 0 && local->count() == 0) session.globals.local = false;
  Subject subject;
  if (Outcome outcome = OpenSubject(session, flags, subject); !outcome.ok()) return outcome;
  return Make(request, std::move(subject), text, {}, side);
}

// "config.json@vllm" is a file and a runtime.
struct ModelName {
  std::string file = {};
  Runtime runtime = Runtime::kTransformers;
};

Outcome ParseModelName(const std::string& text, ModelName& name) {
  name.file = text;
  const size_t at = text.rfind('@');
  if (at == std::string::npos || std::filesystem::exists(text)) return {};
  const absl::StatusOr<Runtime> runtime = ParseName<Runtime>(text.substr(at + 1));
  if (!runtime.ok()) return Usage(absl::StrCat("'", text, "': ", runtime.status().message()));
  name = {text.substr(0, at), *runtime};
  return {};
}

Outcome OpenModel(const DiffRequest& request, const std::string& text, const std::string& family,
                  std::unique_ptr<DiffSide>& side) {
  ModelName name;
  if (Outcome outcome = ParseModelName(text, name); !outcome.ok()) return outcome;
  ModelQuery query{.runtime = name.runtime, .effective_length = request.effective_length};
  if (Outcome outcome = ReadModel(name.file, query); !outcome.ok()) return outcome;
  Subject subject;
  if (Outcome outcome = request.session.Connect(subject.connection); !outcome.ok()) return outcome;
  const auto model = Client(subject.connection).ResolveModel(std::move(query), request.session.call());
  if (!model.ok()) return RpcError(model.status());
  ModelTable table;
  if (Outcome outcome = ChooseTable(*model, name.file, request.table, family, table); !outcome.ok()) return outcome;
  subject.spec = table.spec;
  return Make(request, std::move(subject), absl::StrCat(text, ", table ", table.name), table.origins, side);
}

}  // namespace

int64_t DiffSide::rows() const {
  int64_t rows = 1;
  for (size_t i = 0; i < rank_ && !tensors_.empty(); ++i) rows *= tensors_.front().shape[i];
  return rows;
}

Outcome OpenTableSide(const DiffRequest& request, const std::string& text, const std::string& family,
                      std::unique_ptr<DiffSide>& side) {
  if (FamilyByName(text.substr(0, text.find(' '))).ok()) return OpenSpec(request, text, side);
  if (text.empty() || !std::filesystem::exists(text.substr(0, text.rfind('@')))) {
    return Usage(absl::StrCat("'", text, "' is no file and begins with no family; allowed: a family and its flags in "
                              "quotes (", absl::StrJoin(FamilyCommands(), ", "),
                              "), config.json[@RUNTIME], FILE.gguf, FILE.npy, FILE.safetensors[:TENSOR], FILE.bin"));
  }
  return OpenModel(request, text, family, side);
}

}  // namespace posenc::cli
