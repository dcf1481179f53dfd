// What the readers of one file share: what was found so far, and the draft of a table that remembers where
// each of its values came from.
//
// Violations and notes are gathered in one Reading, so that an answer names everything at once. Not
// thread-safe; lives as long as one call of ResolveModel.

#ifndef POSENC_SERVER_MODELS_ANSWER_TABLE_DRAFT_H_
#define POSENC_SERVER_MODELS_ANSWER_TABLE_DRAFT_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/core/violations.h"
#include "server/models/answer/model_tables.h"
#include "server/models/config/config_reader.h"

namespace posenc {

// What a file turned out to be, so far.
struct Reading {
  Violations bad;       // the file is wrong
  Violations unserved;  // the file is right, and asks for what is not served
  std::vector<ModelTable> tables;
  std::vector<std::string> notes;
  std::vector<int64_t> layers_without_table;

  bool ok() const { return bad.empty() && unserved.empty(); }

  // Adds a note once, however many tables it is true of.
  void Note(std::string note);
};

// A table while it is put together.
class TableDraft {
 public:
  TableDraft(std::string name, Pairing pairing, std::string applies_to = "");

  // Notes that `field` of the spec has the value found, and returns it. A value that replaces another (a runtime's
  // own) replaces its origin too; violations still name the file's key.
  double Take(absl::string_view field, const Found<double>& found);
  int64_t Take(absl::string_view field, const Found<int64_t>& found);
  bool Take(absl::string_view field, const Found<bool>& found);
  std::vector<double> Take(absl::string_view field, const Found<std::vector<double>>& found);
  std::vector<int64_t> Take(absl::string_view field, const Found<std::vector<int64_t>>& found);

  // Notes a value that is not a number.
  void Note(absl::string_view field, std::string value, const Found<std::string>& found);

  // Notes a value that follows from the rules and not from a key.
  void Rule(absl::string_view field, std::string value, std::string source);

  // Notes how channels pair, and returns it.
  Pairing Take(const Found<Pairing>& found);

  // The table's name and by-products; its spec and origins are this class's matter.
  ModelTable& table() { return table_; }

  // Normalises `spec` and adds the table to `reading`; what the spec's rules refuse becomes violations of
  // the file's own keys. Does nothing when the file is already known to be wrong.
  void Finish(const FamilySpec& spec, Reading& reading) &&;

 private:
  template <typename T>
  void Record(absl::string_view field, std::string value, const Found<T>& found);
  std::string PathOf(const std::string& field) const;

  ModelTable table_;
  std::vector<std::pair<std::string, std::string>> paths_;  // spec field, key path of the file
};

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_ANSWER_TABLE_DRAFT_H_
