#include "server/models/answer/table_draft.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/core/shortest_decimal.h"
#include "server/core/specs/normalize.h"

namespace posenc {
namespace {

// A list as an origin shows it: short ones whole, long ones by their ends.
template <typename T>
std::string ListText(const std::vector<T>& values) {
  const auto number = [](std::string* out, const T& value) {
    absl::StrAppend(out, ShortestDecimal(static_cast<double>(value)));
  };
  constexpr size_t kMaxShown = 8;
  if (values.size() <= kMaxShown) return absl::StrJoin(values, ",", number);
  return absl::StrCat(ShortestDecimal(static_cast<double>(values.front())), ",…,",
                      ShortestDecimal(static_cast<double>(values.back())), " (", values.size(), " numbers)");
}

}  // namespace

void Reading::Note(std::string note) {
  if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(std::move(note));
}

TableDraft::TableDraft(std::string name, Pairing pairing, std::string applies_to) {
  table_.name = std::move(name);
  table_.pairing = pairing;
  table_.applies_to = std::move(applies_to);
}

double TableDraft::Take(absl::string_view field, const Found<double>& found) {
  Record(field, ShortestDecimal(found.value), found);
  return found.value;
}

int64_t TableDraft::Take(absl::string_view field, const Found<int64_t>& found) {
  Record(field, absl::StrCat(found.value), found);
  return found.value;
}

bool TableDraft::Take(absl::string_view field, const Found<bool>& found) {
  Record(field, found.value ? "true" : "false", found);
  return found.value;
}

std::vector<double> TableDraft::Take(absl::string_view field, const Found<std::vector<double>>& found) {
  Record(field, ListText(found.value), found);
  return found.value;
}

std::vector<int64_t> TableDraft::Take(absl::string_view field, const Found<std::vector<int64_t>>& found) {
  Record(field, ListText(found.value), found);
  return found.value;
}

void TableDraft::Note(absl::string_view field, std::string value, const Found<std::string>& found) {
  Record(field, std::move(value), found);
}

void TableDraft::Rule(absl::string_view field, std::string value, std::string source) {
  Record(field, std::move(value), Found<bool>{false, std::string(field), std::move(source), true});
}

Pairing TableDraft::Take(const Found<Pairing>& found) {
  table_.pairing = found.value;
  Record("pairing", found.value == Pairing::kInterleaved ? "interleaved" : "half-split", found);
  return found.value;
}

template <typename T>
void TableDraft::Record(absl::string_view field, std::string value, const Found<T>& found) {
  ValueOrigin origin = {std::string(field), std::move(value), found.source, found.defaulted, found.assumed};
  auto& origins = table_.origins;
  const auto known =
      std::find_if(origins.begin(), origins.end(), [&](const ValueOrigin& other) { return other.field == field; });
  if (known != origins.end()) {
    *known = std::move(origin);
    return;
  }
  paths_.emplace_back(std::string(field), found.path);
  origins.push_back(std::move(origin));
}

// The key of the file that a violation of `field` is about: of the field itself, or of the list that it is
// an entry of.
std::string TableDraft::PathOf(const std::string& field) const {
  const size_t bracket = field.find('[');
  const std::string entry = bracket == std::string::npos ? "" : field.substr(bracket);
  const std::string whole = field.substr(0, bracket);
  for (const auto& [known, path] : paths_) {
    if (known == whole) return path + entry;
  }
  return field;
}

void TableDraft::Finish(const FamilySpec& spec, Reading& reading) && {
  if (!reading.bad.empty()) return;
  TableSpec whole;
  whole.family = spec;
  const absl::StatusOr<TableSpec> normalized = Normalize(whole);
  if (normalized.ok()) {
    table_.spec = *normalized;
    reading.tables.push_back(std::move(table_));
    return;
  }
  for (const FieldViolation& violation : FieldViolationsOf(normalized.status())) {
    reading.bad.AddText(PathOf(violation.field), violation.description);
  }
}

}  // namespace posenc
