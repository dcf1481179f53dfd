#include "server/rpc/requests/request_decoding.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "proto/selection_codec.h"
#include "proto/spec_codec.h"
#include "server/core/violations.h"

namespace posenc {
namespace {

// One status with the violations of both; the first one's code.
absl::Status Joined(const absl::Status& first, const absl::Status& second) {
  if (first.ok()) return second;
  if (second.ok()) return first;
  Violations all;
  for (const absl::Status& status : {first, second}) {
    for (FieldViolation& item : FieldViolationsOf(status)) {
      all.AddText(item.field, std::move(item.description));
    }
  }
  return all.empty() ? first : all.ToStatus(first.code());
}

// The same violations under specs[index] instead of spec.
absl::Status UnderIndex(const absl::Status& status, int index) {
  Violations renamed;
  for (FieldViolation& item : FieldViolationsOf(status)) {
    const absl::string_view rest = absl::StripPrefix(item.field, "spec");
    renamed.AddText(absl::StrCat("specs[", index, "]", rest), std::move(item.description));
  }
  return renamed.empty() ? status : renamed.ToStatus(status.code());
}

}  // namespace

absl::StatusOr<Selection> DecodeSelectionOf(const absl::Status& spec, const v1::Selection& selection) {
  absl::StatusOr<Selection> part = DecodeSelection(selection);
  if (spec.ok()) return part;
  return Joined(spec, part.status());
}

absl::StatusOr<std::vector<TableSpec>> DecodeSpecs(
    const google::protobuf::RepeatedPtrField<v1::TableSpec>& specs, const TensorCatalog& catalog) {
  if (specs.empty()) {
    return FieldError(absl::StatusCode::kInvalidArgument, "specs",
                      "is empty; allowed: at least one table");
  }
  std::vector<TableSpec> tables;
  for (int i = 0; i < specs.size(); ++i) {
    absl::StatusOr<TableSpec> table = DecodeNormalizedSpec(specs[i], catalog);
    if (!table.ok()) return UnderIndex(table.status(), i);
    tables.push_back(*std::move(table));
  }
  return tables;
}

absl::Status FieldError(absl::StatusCode code, absl::string_view field, std::string description) {
  Violations bad;
  bad.AddText(field, std::move(description));
  return bad.ToStatus(code);
}

}  // namespace posenc
