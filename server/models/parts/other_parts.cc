#include "server/models/parts/other_parts.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "server/models/config/config_json.h"
#include "server/models/config/config_keys.h"
#include "server/models/parts/vision_config.h"
#include "server/models/readers/family_reader.h"
#include "server/models/readers/text_model.h"

namespace posenc {
namespace {

// Objects of a file that are settings of the model around them, not models.
constexpr std::array<absl::string_view, 15> kSettings = {
    "rope_scaling",   "rope_parameters",   "quantization_config", "linear_attn_config", "attn_config",
    "ffn_config",     "generation_config", "compression_config",  "mamba_config",       "moe_config",
    "auto_map",       "id2label",          "label2id",            "task_specific_params",
    "attention_other_setting"};

// Parts with a reader of their own.
constexpr std::array<absl::string_view, 2> kPictureParts = {"vision_config", "audio_config"};

// Parts that old files only name, or describe in words of their own.
constexpr std::array<absl::string_view, 9> kNamedParts = {
    "visual",         "img_processor",   "audio_processor", "mm_vision_tower", "vision_tower",
    "mm_audio_tower", "speech_encoder",  "vision_backbone", "audio_tower"};

constexpr int kMaxDepth = 3;

template <typename Names>
bool Contains(const Names& names, absl::string_view key) {
  return std::find(names.begin(), names.end(), key) != names.end();
}

// Whether an object has attention of its own: a model_type, or heads.
bool IsModel(const ConfigObject& object) {
  const auto has = [&](ConfigKey key) {
    const KeyNames names = KeysOf(key);
    return std::any_of(names.begin(), names.end(), [&](auto name) { return object.Find(name) != nullptr; });
  };
  return object.IsTruthy("model_type") || has(ConfigKey::kHeads) || object.Find("attention_heads") != nullptr ||
         object.Find("rope_theta") != nullptr;
}

class PartWalker {
 public:
  PartWalker(const ConfigObject& text, const ModelQuery& query, Reading& reading)
      : text_(text), query_(query), reading_(reading) {}

  void Walk(const ConfigObject& object, const std::string& name, const std::string& type, int depth);

 private:
  void ReadPart(const ConfigObject& part, const std::string& name, const std::string& outer_type, int depth);
  void ReadModel(const TextModel& model, const std::string& name);
  void NoteNamedPart(const ConfigObject& object, const std::string& key);
  void Take(Reading part, const std::string& name);

  const ConfigObject& text_;
  const ModelQuery& query_;
  Reading& reading_;
};

// Whether `object` is a model around `text`.
bool Holds(const ConfigObject& object, const ConfigObject& text) {
  if (object.json() == text.json()) return true;
  for (const auto& item : object.json()->items()) {
    if (item.value().is_object() && Holds(object.At(item.value(), object.PathOf(item.key())), text)) return true;
  }
  return false;
}

void PartWalker::Walk(const ConfigObject& object, const std::string& name, const std::string& type, int depth) {
  if (object.json() == nullptr || depth == kMaxDepth) return;
  for (const auto& item : object.json()->items()) {
    const std::string& key = item.key();
    if (Contains(kNamedParts, key)) NoteNamedPart(object, key);
    if (!item.value().is_object() || Contains(kSettings, key)) continue;
    if (Contains(kPictureParts, key) && name.empty()) continue;
    const ConfigObject part = object.At(item.value(), object.PathOf(key));
    if (part.json() == text_.json()) continue;
    absl::string_view stem = key;
    absl::ConsumeSuffix(&stem, "_config");
    const std::string part_name = absl::StrCat(name, name.empty() ? "" : "_", PathPart(stem));
    if (Holds(part, text_)) {
      Walk(part, name, type, depth + 1);
    } else if (IsModel(part)) {
      ReadPart(part, part_name, type, depth);
    } else {
      Walk(part, part_name, type, depth + 1);
    }
  }
}

void PartWalker::ReadPart(const ConfigObject& part, const std::string& name, const std::string& outer_type,
                          int depth) {
  Violations unused;
  std::string type = ReadModelType(part, unused).value;
  if (type.empty()) type = absl::StrCat(outer_type, "_", name);
  Reading found;
  TextModel model = FindTextModel(part, found);
  if (model.family == nullptr) model.family = FindFamily(type);
  if (model.family != nullptr) {
    ReadModel(model, name);
  } else if (IsVisionModel(type)) {
    Reading vision;
    ReadVisionModel(part, type, vision);
    Take(std::move(vision), name);
  } else {
    reading_.Note(absl::StrCat(part.PathOf("model_type"), ": ", Quote(type), " is not in the list of families; the "
                               "tables of the part ", name, " are not in this answer"));
  }
  PartWalker(model.object, query_, reading_).Walk(part, name, type, depth + 1);
}

// Objects that are models have their own note.
void PartWalker::NoteNamedPart(const ConfigObject& object, const std::string& key) {
  const Json* value = object.Find(key);
  if (value == nullptr || !(value->is_object() || value->is_string())) return;
  if (value->is_object() && IsModel(object.At(*value, object.PathOf(key)))) return;
  reading_.Note(absl::StrCat(object.PathOf(key), value->is_string() ? absl::StrCat(" is ", Describe(*value)) : "",
                             ": the tables of that part are not in this answer"));
}

void PartWalker::ReadModel(const TextModel& model, const std::string& name) {
  Reading part;
  const ModelScope scope = {model.object, model.model_type, model.family, true, query_.runtime,
                            query_.effective_length};
  ReadFamilyTables(scope, part);
  NoteUnreadKeys(model.object, part);
  Take(std::move(part), name);
}

// Adds what was found for a part under the part's name.
void PartWalker::Take(Reading part, const std::string& name) {
  const Violations& hindrance = part.bad.empty() ? part.unserved : part.bad;
  if (!hindrance.empty()) {
    reading_.Note(absl::StrCat("the tables of the part ", name, " are not in this answer: ",
                               hindrance.ToStatus().message()));
    return;
  }
  for (ModelTable& table : part.tables) {
    const bool named = table.name == "main" || absl::EndsWith(name, table.name);
    table.name = named ? name : absl::StrCat(name, "_", table.name);
    const std::string whose = absl::StrCat("the part ", name);
    table.applies_to = table.applies_to.empty() ? whose : absl::StrCat(whose, "; ", table.applies_to);
    reading_.tables.push_back(std::move(table));
  }
  for (const std::string& note : part.notes) reading_.Note(absl::StrCat(name, ": ", note));
}

}  // namespace

void ReadOtherParts(const ConfigObject& root, const ConfigObject& text, const ModelQuery& query, Reading& reading) {
  Violations unused;
  PartWalker(text, query, reading).Walk(root, "", ReadModelType(root, unused).value, 0);
}

}  // namespace posenc
