#include "server/models/model_config.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/models/alibi_config.h"
#include "server/models/config_json.h"
#include "server/models/rope_config.h"
#include "server/models/table_draft.h"

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
  reading.notes.push_back(absl::StrCat(
      model_type.empty() ? "the file has no model_type" : absl::StrCat("model_type ", Quote(model_type),
                                                                       " is not in the list of families"),
      ": half-split pairing, and base 10000 and rotation of the whole head where no key says otherwise, "
      "are assumed"));
  ReadRopeTables(scope, reading);
}

void ReadSinusoidalTable(const ModelScope& scope, Reading& reading) {
  const ModelFamily& family = *scope.family;
  TableDraft draft("encoder", Pairing::kNone);
  SinusoidalSpec spec;
  spec.order = SinusoidalOrder::kSinCos;
  spec.frequency_shift = family.frequency_shift;
  const auto width = scope.IntegerOr(ConfigKey::kHiddenSize, family.hidden_size, reading.bad);
  if (width) spec.d_model = draft.Take("sinusoidal.d_model", *width);
  const auto max_len = scope.IntegerOr(ConfigKey::kEncoderMaxLen, family.max_len, reading.bad);
  if (max_len) spec.max_len = draft.Take("sinusoidal.max_len", *max_len);
  std::move(draft).Finish(spec, reading);
}

void RefuseFamily(const ModelScope& scope, absl::string_view encoding, Reading& reading) {
  reading.unserved.AddText(scope.model_type.path,
                           absl::StrCat("is ", Quote(scope.model_type.value), ", a family with ", encoding,
                                        "; allowed: families with rotary, ALiBi or sinusoidal tables"));
}

void ReadKnownFamily(const ModelScope& scope, Reading& reading) {
  switch (scope.family->rule) {
    case PositionRule::kRope: return ReadRopeTables(scope, reading);
    case PositionRule::kSinusoidal: return ReadSinusoidalTable(scope, reading);
    case PositionRule::kLearned: return RefuseFamily(scope, "learned positions", reading);
    case PositionRule::kRelativeBuckets:
      return RefuseFamily(scope, "relative position buckets (t5_relative)", reading);
    case PositionRule::kNone:
      reading.notes.push_back("the model has no positional table");
      return;
    default: break;
  }
  return UsesAlibi(scope, reading) ? ReadAlibiTable(scope, reading) : ReadRopeTables(scope, reading);
}

bool IsSet(const Json* value) { return value != nullptr && *value != Json(false); }

void AddNotes(const ModelScope& scope, Reading& reading) {
  if (!scope.family->note.empty()) reading.notes.emplace_back(scope.family->note);
  for (const KeyNote& noted : NotedKeys()) {
    if (!IsSet(scope.object.Find(noted.key))) continue;
    reading.notes.push_back(absl::StrCat(scope.object.PathOf(noted.key), ": ", noted.note));
  }
}

}  // namespace

absl::StatusOr<ModelTables> ResolveModelConfig(absl::string_view config_json) {
  const absl::StatusOr<Json> document = ParseConfigJson(config_json);
  if (!document.ok()) return document.status();

  Reading reading;
  const ConfigObject root(*document, "");
  const TextModel model = FindTextModel(root, reading);
  const ModelFamily* family = FindFamily(model.model_type.value);
  const bool known = family != nullptr;
  const ModelScope scope = {model.object, model.model_type, known ? family : &UnknownFamily(), known};
  if (known) {
    ReadKnownFamily(scope, reading);
  } else {
    ReadUnknownFamily(scope, reading);
  }
  AddNotes(scope, reading);

  if (!reading.bad.empty()) return reading.bad.ToStatus();
  if (!reading.unserved.empty()) return reading.unserved.ToStatus(absl::StatusCode::kUnimplemented);
  return ModelTables{ReadModelType(root, reading.bad).value, known, std::move(reading.tables),
                     std::move(reading.notes)};
}

absl::StatusOr<ModelTables> ResolveModel(const ModelQuery& query) {
  if (!query.gguf_json.empty() || query.runtime != Runtime::kTransformers) {
    return absl::UnimplementedError("runtimes and GGUF are not served");
  }
  return ResolveModelConfig(query.config_json);
}

}  // namespace posenc
