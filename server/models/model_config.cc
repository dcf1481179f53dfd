#include "server/models/model_config.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/core/specs/field_checks.h"
#include "server/core/limits.h"
#include "server/models/answer/table_draft.h"
#include "server/models/config/config_json.h"
#include "server/models/diffusers/diffusers_config.h"
#include "server/models/families/model_scope.h"
#include "server/models/gguf/gguf_config.h"
#include "server/models/parts/other_parts.h"
#include "server/models/parts/vision_config.h"
#include "server/models/readers/family_reader.h"
#include "server/models/readers/text_model.h"

namespace posenc {
namespace {

// Reads a file of unknown family that has no keys of its own, but parts that are known; returns whether it has.
bool ReadPartsAlone(const ConfigObject& root, const TextModel& model, const ModelQuery& query, Reading& reading) {
  if (model.model_type.value.empty() || model.object.json() != root.json() || HasRotaryKey(root)) return false;
  Reading parts;
  ReadVisionTables(root, model.model_type.value, parts);
  ReadOtherParts(root, root, query, parts);
  const bool text = std::any_of(parts.tables.begin(), parts.tables.end(),
                                [](const ModelTable& table) { return !absl::StartsWith(table.name, "vision"); });
  if (!parts.ok() || !text) return false;
  reading.tables = std::move(parts.tables);
  for (std::string& note : parts.notes) reading.Note(std::move(note));
  reading.Note(absl::StrCat("model_type ", Quote(model.model_type.value),
                            " is not in the list of families: the tables are those of its parts alone"));
  return true;
}

// Reads a model of transformers; returns whether its family is known.
bool ReadModel(const ConfigObject& root, const ModelQuery& query, Reading& reading) {
  const std::string root_type = ReadModelType(root, reading.bad).value;
  const TextModel model = FindTextModel(root, reading);
  const bool known = model.family != nullptr;
  if (!known && IsVisionModel(model.model_type.value)) {
    ReadVisionModel(model.object, model.model_type.value, reading);
    return true;
  }
  if (!known && ReadPartsAlone(root, model, query, reading)) return false;
  const ModelScope scope = {model.object, model.model_type, known ? model.family : &UnknownFamily(), known,
                            query.runtime, query.effective_length};
  ReadFamilyTables(scope, reading);
  ReadVisionTables(root, root_type, reading);
  if (reading.ok()) ReadOtherParts(root, model.object, query, reading);
  NoteUnreadKeys(model.object, reading);
  return known;
}

absl::StatusOr<ModelTables> ResolveConfig(const ModelQuery& query) {
  const absl::StatusOr<Json> document = ParseConfigJson(query.config_json);
  if (!document.ok()) return document.status();
  Reading reading;
  const ConfigObject root = ConfigObject::Root(*document);
  const std::string type = ReadModelType(root, reading.bad).value;
  const bool known =
      IsDiffusersConfig(root) ? ReadDiffusersTables(root, reading) : ReadModel(root, query, reading);
  if (!reading.bad.empty()) return reading.bad.ToStatus();
  if (!reading.unserved.empty()) return reading.unserved.ToStatus(absl::StatusCode::kUnimplemented);
  return ModelTables{type, known, std::move(reading.tables), std::move(reading.notes),
                     std::move(reading.layers_without_table)};
}

}  // namespace

absl::StatusOr<ModelTables> ResolveModel(const ModelQuery& query) {
  Violations bad;
  if (!query.config_json.empty() && !query.gguf_json.empty()) {
    bad.AddText(kWholeConfig, "stands beside gguf_json; allowed: one of the two");
  }
  if (query.effective_length) {
    CheckRange("effective_length", *query.effective_length, int64_t{1}, limits::kMaxPosition, bad);
  }
  if (!bad.empty()) return bad.ToStatus();
  return query.gguf_json.empty() ? ResolveConfig(query) : ResolveGguf(query);
}

absl::StatusOr<ModelTables> ResolveModelConfig(absl::string_view config_json) {
  return ResolveModel({.config_json = std::string(config_json)});
}

}  // namespace posenc
