// What the readers of one config.json share: the object that describes the model, its family, and the
// draft of a table that remembers where each of its values came from.
//
// Violations and notes are gathered in one Reading, so that an answer names everything at once. Not
// thread-safe; lives as long as one call of ResolveModelConfig.

#ifndef POSENC_SERVER_MODELS_TABLE_DRAFT_H_
#define POSENC_SERVER_MODELS_TABLE_DRAFT_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/core/violations.h"
#include "server/models/config_reader.h"
#include "server/models/model_config.h"
#include "server/models/model_families.h"

namespace posenc {

// What a file turned out to be, so far.
struct Reading {
  Violations bad;       // the file is wrong
  Violations unserved;  // the file is right, and asks for what is not served
  std::vector<ModelTable> tables;
  std::vector<std::string> notes;

  bool ok() const { return bad.empty() && unserved.empty(); }
};

// The object that describes the (text) model, and the row that says what it leaves out.
struct ModelScope {
  ConfigObject object;
  Found<std::string> model_type;  // that decides; empty when the file has none
  const ModelFamily* family;
  bool known;

  // Returns how an answer calls a default of the family: "default of LlamaConfig".
  std::string DefaultSource() const;

  // Returns a default of the family, as a value that `key` of the file would replace.
  template <typename T>
  Found<T> Default(T value, absl::string_view key) const {
    return {value, object.PathOf(key), DefaultSource(), true};
  }

  // Returns the file's value for `key` or, where it is silent and the family has one, the default.
  std::optional<Found<int64_t>> IntegerOr(ConfigKey key, int64_t family_default, Violations& bad) const;
};

// A table while it is put together.
class TableDraft {
 public:
  TableDraft(std::string name, Pairing pairing);

  // Notes that `field` of the spec has the value found, and returns it.
  double Take(absl::string_view field, const Found<double>& found);
  int64_t Take(absl::string_view field, const Found<int64_t>& found);

  // Notes a value that is not a number.
  void Note(absl::string_view field, std::string value, const Found<bool>& found);

  // Normalises `spec` and adds the table to `reading`; what the spec's rules refuse becomes violations of
  // the file's own keys. Does nothing when the file is already known to be wrong.
  void Finish(const FamilySpec& spec, Reading& reading) &&;

 private:
  void Record(absl::string_view field, std::string value, std::string path, std::string source,
              bool defaulted);

  ModelTable table_;
  std::vector<std::pair<std::string, std::string>> paths_;  // spec field, key path of the file
};

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_TABLE_DRAFT_H_
