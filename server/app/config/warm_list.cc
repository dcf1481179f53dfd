#include "server/app/config/warm_list.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <fstream>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "posenc/v1/spec.pb.h"
#include "proto/spec_codec.h"
#include "server/core/specs/normalize.h"
#include "server/models/model_config.h"

namespace posenc {
namespace {

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) return absl::NotFoundError("cannot be read, or is empty");
  return text.str();
}

// Keeps the first error of a textproto, with its place.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (text_.empty()) text_ = absl::StrCat("line ", line + 1, ", column ", column + 1, ": ", message);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

absl::StatusOr<std::vector<WarmEntry>> FromTextproto(const std::string& path, const std::string& text,
                                                     const TensorCatalog& catalog) {
  FirstError error;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  v1::TableSpec message;
  if (!parser.ParseFromString(text, &message)) {
    return absl::InvalidArgumentError(absl::StrCat("is no posenc.v1.TableSpec: ", error.text()));
  }
  absl::StatusOr<TableSpec> spec = DecodeNormalizedSpec(message, catalog);
  if (!spec.ok()) return spec.status();
  return std::vector<WarmEntry>{{path, *std::move(spec)}};
}

absl::StatusOr<std::vector<WarmEntry>> FromModelConfig(const std::string& path, const std::string& text,
                                                       ElementType element_type,
                                                       const TensorCatalog& catalog) {
  absl::StatusOr<ModelTables> model = ResolveModelConfig(text);
  if (!model.ok()) return model.status();
  if (model->tables.empty()) {
    return absl::InvalidArgumentError("names a model without a table of positions");
  }
  std::vector<WarmEntry> entries;
  absl::Status missing;
  for (ModelTable& table : model->tables) {
    // A map of buckets has one type, and it is no real one.
    if (table.spec.element_type != ElementType::kI32) table.spec.element_type = element_type;
    absl::StatusOr<TableSpec> spec = Normalize(table.spec);
    if (!spec.ok()) return spec.status();
    absl::Status bound = BindTensors(catalog, *spec);
    if (absl::IsNotFound(bound)) {
      missing = std::move(bound);
      continue;
    }
    if (!bound.ok()) return bound;
    entries.push_back({absl::StrCat(path, "#", table.name), *std::move(spec)});
  }
  if (entries.empty()) return missing;
  return entries;
}

absl::StatusOr<std::vector<WarmEntry>> LoadEntries(const std::string& path, ElementType config_element_type,
                                                   const TensorCatalog& catalog) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return text.status();
  if (absl::EndsWith(path, ".json")) return FromModelConfig(path, *text, config_element_type, catalog);
  return FromTextproto(path, *text, catalog);
}

}  // namespace

absl::StatusOr<std::vector<WarmEntry>> LoadWarmList(const std::vector<std::string>& files,
                                                    ElementType config_element_type,
                                                    const TensorCatalog& catalog) {
  std::vector<WarmEntry> all;
  for (const std::string& path : files) {
    const absl::StatusOr<std::vector<WarmEntry>> entries = LoadEntries(path, config_element_type, catalog);
    if (!entries.ok()) {
      return absl::Status(entries.status().code(),
                          absl::StrCat("--warm ", path, ": ", entries.status().message()));
    }
    all.insert(all.end(), entries->begin(), entries->end());
  }
  return all;
}

}  // namespace posenc
