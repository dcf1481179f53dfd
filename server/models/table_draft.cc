#include "server/models/table_draft.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "server/core/normalize.h"

namespace posenc {

std::string ModelScope::DefaultSource() const {
  if (!known) return "assumed for an unknown model_type";
  return absl::StrCat("default of ", family->class_name);
}

std::optional<Found<int64_t>> ModelScope::IntegerOr(ConfigKey key, int64_t family_default,
                                                    Violations& bad) const {
  const KeyNames names = KeysOf(key);
  const std::optional<Found<int64_t>> found = object.Integer(names, bad);
  if (found || family_default == 0) return found;
  return Default(family_default, names.front());
}

TableDraft::TableDraft(std::string name, Pairing pairing) {
  table_.name = std::move(name);
  table_.pairing = pairing;
}

double TableDraft::Take(absl::string_view field, const Found<double>& found) {
  Record(field, NumberText(found.value), found.path, found.source, found.defaulted);
  return found.value;
}

int64_t TableDraft::Take(absl::string_view field, const Found<int64_t>& found) {
  Record(field, absl::StrCat(found.value), found.path, found.source, found.defaulted);
  return found.value;
}

void TableDraft::Note(absl::string_view field, std::string value, const Found<bool>& found) {
  Record(field, std::move(value), found.path, found.source, found.defaulted);
}

void TableDraft::Record(absl::string_view field, std::string value, std::string path,
                        std::string source, bool defaulted) {
  paths_.emplace_back(std::string(field), std::move(path));
  table_.origins.push_back({std::string(field), std::move(value), std::move(source), defaulted});
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
    const auto known = std::find_if(paths_.begin(), paths_.end(), [&](const auto& path) {
      return path.first == violation.field;
    });
    reading.bad.AddText(known == paths_.end() ? violation.field : known->second,
                        violation.description);
  }
}

}  // namespace posenc
