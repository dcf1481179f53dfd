#include "server/models/rope_scaling_config.h"

#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace posenc {
namespace {

// What one scaling type's function sees.
struct ScalingBlock {
  const ModelScope& scope;
  const ConfigObject& keys;
  absl::string_view default_type;  // of an empty block; empty: "default"
  TableDraft& draft;
  Reading& reading;
};

// Takes a number that the type cannot do without.
double Require(const ScalingBlock& block, absl::string_view field, absl::string_view key) {
  const std::optional<Found<double>> found = block.keys.Number(key, block.reading.bad);
  if (found) return block.draft.Take(field, *found);
  if (block.keys.Find(key) == nullptr) {
    block.reading.bad.AddText(block.keys.PathOf(key), "is missing; allowed: a number");
  }
  return 1.0;
}

// The length the model was trained for. Phi-3's files have it at the top, which beats the block.
int64_t RequireOriginalMaxLen(const ScalingBlock& block, absl::string_view field) {
  constexpr absl::string_view kKey = "original_max_position_embeddings";
  std::optional<Found<int64_t>> found = block.scope.object.Integer(kKey, block.reading.bad);
  if (!found) found = block.keys.Integer(kKey, block.reading.bad);
  if (found) return block.draft.Take(field, *found);
  if (block.keys.Find(kKey) == nullptr) {
    block.reading.bad.AddText(block.keys.PathOf(kKey), "is missing; allowed: a whole number");
  }
  return 1;
}

void NoteFactorBelowOne(const ScalingBlock& block, double factor) {
  if (!(factor > 0 && factor < 1)) return;
  block.reading.notes.push_back(
      absl::StrCat(block.keys.PathOf("factor"), " is below 1: the table's frequencies are raised"));
}

RopeScaling ReadNone(const ScalingBlock&) { return {}; }

RopeScaling ReadLinear(const ScalingBlock& block) {
  LinearScaling scaling;
  scaling.factor = Require(block, "rope.linear.factor", "factor");
  NoteFactorBelowOne(block, scaling.factor);
  return scaling;
}

RopeScaling ReadLlama3(const ScalingBlock& block) {
  Llama3Scaling scaling;
  scaling.factor = Require(block, "rope.llama3.factor", "factor");
  scaling.low_freq_factor = Require(block, "rope.llama3.low_freq_factor", "low_freq_factor");
  scaling.high_freq_factor = Require(block, "rope.llama3.high_freq_factor", "high_freq_factor");
  scaling.original_max_len = RequireOriginalMaxLen(block, "rope.llama3.original_max_len");
  NoteFactorBelowOne(block, scaling.factor);
  return scaling;
}

// A scaling type by the name that files give it. Without a function it is known but not served.
struct ScalingType {
  absl::string_view name;
  RopeScaling (*read)(const ScalingBlock&);
};

constexpr ScalingType kScalingTypes[] = {
    {"default", ReadNone},
    {"linear", ReadLinear},
    {"llama3", ReadLlama3},
    {"no_scaling", ReadNone},
    {"deepseek_llama_scaling", nullptr},
    {"deepseek_yarn", nullptr},
    {"dynamic", nullptr},
    {"longrope", nullptr},
    {"mllama4", nullptr},
    {"mrope", nullptr},
    {"ntk", nullptr},
    {"openpangu", nullptr},
    {"proportional", nullptr},
    {"su", nullptr},
    {"telechat3-yarn", nullptr},
    {"xdrope", nullptr},
    {"yarn", nullptr},
};
constexpr absl::string_view kServedTypes = "default, linear, llama3";

// Keys that make another table of whatever type they stand beside.
constexpr absl::string_view kUnservedKeys[] = {"mrope_section", "xdrope_section"};

const ScalingType* FindType(absl::string_view name) {
  for (const ScalingType& type : kScalingTypes) {
    if (type.name == name) return &type;
  }
  return nullptr;
}

// Whether the old and the new spelling of a type mean the same.
bool SameType(absl::string_view rope_type, absl::string_view type) {
  return rope_type == type || (rope_type == "longrope" && type == "su") ||
         (rope_type == "default" && type == "mrope");
}

// The type's name and the key that says it: rope_type before type, its spelling before transformers 4.43.
Found<std::string> TypeOf(const ScalingBlock& block) {
  const std::optional<Found<std::string>> rope_type =
      block.keys.Text("rope_type", block.reading.bad);
  const std::optional<Found<std::string>> type = block.keys.Text("type", block.reading.bad);
  if (rope_type && type && !SameType(rope_type->value, type->value)) {
    block.reading.notes.push_back(
        absl::StrCat(rope_type->path, " ", Quote(rope_type->value), " is used, not ", type->path, " ",
                     Quote(type->value)));
  }
  if (rope_type) return *rope_type;
  if (type) return *type;
  const bool plain = !block.keys.empty() || block.default_type.empty();
  return {plain ? "default" : std::string(block.default_type), block.keys.PathOf("rope_type"),
          block.scope.DefaultSource(), true};
}

// A block with numbers but no type is a mistake that would go unseen as plain rotation.
void NoteUntypedFactor(const ScalingBlock& block, const Found<std::string>& type) {
  if (!type.defaulted || block.keys.Find("factor") == nullptr) return;
  block.reading.notes.push_back(
      absl::StrCat(block.keys.PathOf("factor"), " is not used: the block has no rope_type"));
}

}  // namespace

RopeScaling ReadRopeScaling(const ModelScope& scope, const ConfigObject& block,
                            absl::string_view default_type, TableDraft& draft, Reading& reading) {
  const ScalingBlock view = {scope, block, default_type, draft, reading};
  const Found<std::string> name = TypeOf(view);
  const ScalingType* type = FindType(name.value);
  if (type == nullptr) {
    reading.bad.Add(name.path, Quote(name.value), kServedTypes);
    return {};
  }
  if (type->read == nullptr) {
    const std::string by = name.defaulted ? absl::StrCat(" by ", name.source) : "";
    reading.unserved.AddText(name.path, absl::StrCat("is ", Quote(name.value), by,
                                                     ", which is not served; allowed: ", kServedTypes));
    return {};
  }
  for (const absl::string_view key : kUnservedKeys) {
    if (block.Find(key) == nullptr) continue;
    reading.unserved.AddText(block.PathOf(key), "is set, which is not served; allowed: one position axis");
    return {};
  }
  NoteUntypedFactor(view, name);
  draft.Note("rope.scaling", name.value, {true, name.path, name.source, name.defaulted});
  return type->read(view);
}

}  // namespace posenc
