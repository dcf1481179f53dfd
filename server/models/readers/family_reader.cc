#include "server/models/readers/family_reader.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/models/config/config_json.h"
#include "server/models/config/config_keys.h"
#include "server/models/readers/absolute_config.h"
#include "server/models/readers/alibi_config.h"
#include "server/models/readers/relative_config.h"
#include "server/models/readers/rope_config.h"
#include "server/models/readers/temperature_config.h"

namespace posenc {
namespace {

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

// Models whose code asserts a key (mla_use_nope) cannot be loaded without it.
void ReadNothing(const ModelScope& scope, Reading& reading) {
  const absl::string_view key = scope.family->nope_key;
  const auto flag = key.empty() ? std::nullopt : scope.object.Flag(key, reading.bad);
  if (flag && !flag->value) {
    reading.unserved.AddText(flag->path, absl::StrCat("is false, which the code of ", scope.family->class_name,
                                                      " asserts against; allowed: true"));
    return;
  }
  reading.Note(absl::StrCat("the model has no positional table", flag ? absl::StrCat(" (", flag->path, ")") : ""));
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
    case PositionRule::kNone: return ReadNothing(scope, reading);
    case PositionRule::kInParts: return;
    case PositionRule::kAlibi:
    case PositionRule::kAlibiIfFlag:
    case PositionRule::kAlibiIfAttnFlag:
    case PositionRule::kAlibiIfWide: return ReadAlibiOrOther(scope, reading);
  }
}

bool IsSet(const Json* value) { return value != nullptr && *value != Json(false) && *value != Json(0); }

void AddNotes(const ModelScope& scope, Reading& reading) {
  if (!scope.family->note.empty()) reading.Note(std::string(scope.family->note));
  for (const KeyNote& noted : NotedKeys()) {
    const Json* value = scope.object.Find(noted.key);
    if (!IsSet(value)) continue;
    reading.Note(absl::StrCat(scope.object.PathOf(noted.key), value->is_number() ? " " : "",
                              value->is_number() ? Describe(*value) : "", ": ", noted.note));
  }
}

}  // namespace

bool HasRotaryKey(const ConfigObject& object) {
  for (const absl::string_view key : KeysOf(ConfigKey::kOfRotary)) {
    if (object.Find(key) != nullptr || object.SaysNull(key)) return true;
  }
  return false;
}

void ReadFamilyTables(const ModelScope& scope, Reading& reading) {
  scope.known ? ReadKnownFamily(scope, reading) : ReadUnknownFamily(scope, reading);
  if (scope.family->rule == PositionRule::kRope) ReadQueryTemperature(scope, reading);
  AddNotes(scope, reading);
}

void NoteUnreadKeys(const ConfigObject& object, Reading& reading) {
  for (const std::string& key : object.UnreadKeys()) {
    if (IsAboutPositions(key)) reading.Note(absl::StrCat(object.PathOf(key), " is not used"));
  }
  for (const absl::string_view name : {"rope_scaling", "rope_parameters"}) {
    const Json* value = object.Find(name);
    if (value == nullptr || !value->is_object()) continue;
    // Of the block that the other one beats, that alone is told.
    if (name == "rope_parameters" && object.IsTruthy("rope_scaling")) continue;
    const ConfigObject block = object.At(*value, object.PathOf(name));
    for (const std::string& key : block.UnreadKeys()) {
      reading.Note(absl::StrCat(block.PathOf(key), " is not used"));
    }
    for (const auto& item : value->items()) {
      if (!item.value().is_object()) continue;
      const ConfigObject inner = block.At(item.value(), block.PathOf(item.key()));
      for (const std::string& key : inner.UnreadKeys()) {
        reading.Note(absl::StrCat(inner.PathOf(key), " is not used"));
      }
    }
  }
}

}  // namespace posenc
