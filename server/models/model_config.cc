#include "server/models/model_config.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/core/field_checks.h"
#include "server/core/limits.h"
#include "server/models/readers/absolute_config.h"
#include "server/models/readers/alibi_config.h"
#include "server/models/config/config_json.h"
#include "server/models/vision/diffusers_config.h"
#include "server/models/gguf/gguf_config.h"
#include "server/models/readers/relative_config.h"
#include "server/models/readers/rope_config.h"
#include "server/models/answer/table_draft.h"
#include "server/models/families/model_scope.h"
#include "server/models/readers/temperature_config.h"
#include "server/models/vision/vision_config.h"

namespace posenc {
namespace {

constexpr absl::string_view kModelType = "model_type";

// Keys under which a larger model's file keeps its text model.
constexpr absl::string_view kTextModels[] = {"thinker_config", "text_config", "llm_config",
                                             "language_config"};

// Text models nest at most twice (thinker_config.text_config).
constexpr int kMaxTextModelDepth = 3;

// The text model's object, and the innermost model_type on the way to it.
struct TextModel {
  ConfigObject object;
  Found<std::string> model_type;
};

Found<std::string> ReadModelType(const ConfigObject& object, Violations& bad) {
  return object.Text(kModelType, bad).value_or(Found<std::string>{"", object.PathOf(kModelType), "", true});
}

std::optional<ConfigObject> InnerTextModel(const ConfigObject& object, Reading& reading) {
  for (const absl::string_view key : kTextModels) {
    if (object.Find(key) != nullptr) return object.Child(key, reading.bad);
  }
  return std::nullopt;
}

// Goes to the innermost text model. Its own model_type decides when it is a family of the list; one that
// is not (a part's private name) leaves the decision to the model around it.
TextModel FindTextModel(const ConfigObject& root, Reading& reading) {
  TextModel model = {root, ReadModelType(root, reading.bad)};
  for (int depth = 0; depth < kMaxTextModelDepth; ++depth) {
    const std::optional<ConfigObject> inner = InnerTextModel(model.object, reading);
    if (!inner) break;
    const Found<std::string> type = ReadModelType(*inner, reading.bad);
    const bool keep_outer =
        type.value.empty() || (!FindFamily(type.value) && FindFamily(model.model_type.value));
    model = {*inner, keep_outer ? model.model_type : type};
  }
  return model;
}

// The family of a file without a model_type, by the class that its weights are for ("LlamaForCausalLM").
const ModelFamily* FamilyOfArchitecture(const ConfigObject& object, Reading& reading) {
  const Json* classes = object.Find("architectures");
  if (classes == nullptr || !classes->is_array() || classes->empty() || !classes->front().is_string()) {
    return nullptr;
  }
  const auto& name = classes->front().get_ref<const std::string&>();
  const std::string config_class = absl::StrCat(name.substr(0, name.find("For")), "Config");
  for (const ModelFamily* family : AllFamilies()) {
    if (family->class_name != config_class) continue;
    reading.Note(absl::StrCat("the file has no model_type; architectures, ", Quote(name), ", decides"));
    return family;
  }
  return nullptr;
}

bool HasRotaryKey(const ConfigObject& object) {
  for (const absl::string_view key : KeysOf(ConfigKey::kOfRotary)) {
    if (object.Find(key) != nullptr || object.SaysNull(key)) return true;
  }
  return false;
}

// A file without any model_type is a fragment, taken for what it most likely is; a model_type that is
// written and unknown needs a key that shows rotation.
void ReadUnknownFamily(const ModelScope& scope, Reading& reading) {
  const std::string& model_type = scope.model_type.value;
  if (!model_type.empty() && !HasRotaryKey(scope.object)) {
    reading.unserved.AddText(scope.model_type.path,
                             absl::StrCat("is ", Quote(model_type), ", which is not in the list of "
                                          "families, and no key tells how it encodes positions; "
                                          "allowed: a family of the list, or rotary keys"));
    return;
  }
  reading.Note(absl::StrCat(
      model_type.empty() ? "the file has no model_type" : absl::StrCat("model_type ", Quote(model_type),
                                                                       " is not in the list of families"),
      ": half-split pairing, and base 10000 and rotation of the whole head where no key says otherwise, "
      "are assumed"));
  ReadRopeTables(scope, reading);
}

// By position_embedding_type: what BERT's kin, ESM, JAIS and Granite's hybrids say.
void ReadByTypeKey(const ModelScope& scope, Reading& reading) {
  constexpr absl::string_view kKey = "position_embedding_type";
  const auto type = scope.object.Text(kKey, reading.bad);
  const bool learned = !scope.family->tensor.empty();
  const std::string name = type ? type->value : learned ? "absolute" : "nope";
  if (name == "rotary" || name == "rope") return ReadRopeTables(scope, reading);
  if (name == "alibi") return ReadAlibiTable(scope, reading);
  if (name == "nope" || name == "none") return reading.Note("the model has no positional table");
  const bool relative = name == "relative_key" || name == "relative_key_query";
  if (!learned || (name != "absolute" && name != "learned" && !relative)) {
    reading.bad.Add(scope.object.PathOf(kKey), Quote(name),
                    "absolute, learned, rotary, rope, alibi, relative_key, relative_key_query, nope");
    return;
  }
  if (relative) {
    reading.Note(absl::StrCat(scope.object.PathOf(kKey), " ", name, ": each layer also has a learned row for "
                              "each distance, attention.self.distance_embedding.weight"));
  }
  ReadLearnedTable(scope, reading);
}

// MPT without ALiBi rotates or has learned positions; the others rotate.
void ReadAlibiOrOther(const ModelScope& scope, Reading& reading) {
  if (UsesAlibi(scope, reading)) return ReadAlibiTable(scope, reading);
  if (scope.family->rule != PositionRule::kAlibiIfAttnFlag) return ReadRopeTables(scope, reading);
  const ConfigObject attention = scope.object.Child("attn_config", reading.bad);
  return attention.IsTruthy("rope") ? ReadRopeTables(scope, reading) : ReadLearnedTable(scope, reading);
}

void ReadKnownFamily(const ModelScope& scope, Reading& reading) {
  switch (scope.family->rule) {
    case PositionRule::kRope: return ReadRopeTables(scope, reading);
    case PositionRule::kSinusoidal: return ReadSinusoidalTable(scope, reading);
    case PositionRule::kLearned: return ReadLearnedTable(scope, reading);
    case PositionRule::kByTypeKey: return ReadByTypeKey(scope, reading);
    case PositionRule::kT5Buckets: return ReadT5Buckets(scope, reading);
    case PositionRule::kDebertaBuckets: return ReadDebertaBuckets(scope, reading);
    case PositionRule::kNone: return reading.Note("the model has no positional table");
    case PositionRule::kAlibi:
    case PositionRule::kAlibiIfFlag:
    case PositionRule::kAlibiIfAttnFlag:
    case PositionRule::kAlibiIfWide: return ReadAlibiOrOther(scope, reading);
  }
}

bool IsSet(const Json* value) { return value != nullptr && *value != Json(false); }

void AddNotes(const ModelScope& scope, Reading& reading) {
  if (!scope.family->note.empty()) reading.Note(std::string(scope.family->note));
  for (const KeyNote& noted : NotedKeys()) {
    if (!IsSet(scope.object.Find(noted.key))) continue;
    reading.Note(absl::StrCat(scope.object.PathOf(noted.key), ": ", noted.note));
  }
}

absl::StatusOr<ModelTables> ResolveConfig(const ModelQuery& query) {
  const absl::StatusOr<Json> document = ParseConfigJson(query.config_json);
  if (!document.ok()) return document.status();

  Reading reading;
  const ConfigObject root(*document, "");
  const std::string root_type = ReadModelType(root, reading.bad).value;
  const TextModel model = FindTextModel(root, reading);
  const ModelFamily* family = FindFamily(model.model_type.value);
  if (model.model_type.value.empty()) family = FamilyOfArchitecture(model.object, reading);
  bool known = family != nullptr;
  if (IsDiffusersConfig(root)) {
    known = ReadDiffusersTables(root, reading);
  } else if (!known && IsVisionModel(model.model_type.value)) {
    known = true;
    ReadVisionModel(model.object, model.model_type.value, reading);
  } else {
    const ModelScope scope = {model.object, model.model_type, known ? family : &UnknownFamily(), known,
                              query.runtime, query.effective_length};
    known ? ReadKnownFamily(scope, reading) : ReadUnknownFamily(scope, reading);
    ReadQueryTemperature(scope, reading);
    AddNotes(scope, reading);
    ReadVisionTables(root, root_type, reading);
  }
  if (!reading.bad.empty()) return reading.bad.ToStatus();
  if (!reading.unserved.empty()) return reading.unserved.ToStatus(absl::StatusCode::kUnimplemented);
  return ModelTables{root_type, known, std::move(reading.tables), std::move(reading.notes)};
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
