#include "server/models/readers/text_model.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "server/models/config/config_json.h"

namespace posenc {
namespace {

constexpr absl::string_view kModelType = "model_type";

// Keys under which a larger model's file keeps its text model.
constexpr absl::string_view kTextModels[] = {"thinker_config", "text_config", "llm_config",
                                             "language_config", "lm_config", "decoder_config_text"};

// Text models nest at most twice (thinker_config.text_config).
constexpr int kMaxTextModelDepth = 3;

std::optional<ConfigObject> InnerTextModel(const ConfigObject& object, Reading& reading) {
  for (const absl::string_view key : kTextModels) {
    if (object.Find(key) != nullptr) return object.Child(key, reading.bad);
  }
  return std::nullopt;
}

// The family of the class that the weights are for ("LlamaForCausalLM").
const ModelFamily* FamilyOfArchitecture(const ConfigObject& object, const std::string& model_type, Reading& reading) {
  const Json* classes = object.Find("architectures");
  if (classes == nullptr || !classes->is_array() || classes->empty() || !classes->front().is_string()) {
    return nullptr;
  }
  const auto& name = classes->front().get_ref<const std::string&>();
  const std::string config_class = absl::StrCat(name.substr(0, name.find("For")), "Config");
  for (const ModelFamily* family : AllFamilies()) {
    if (family->class_name != config_class) continue;
    const std::string what = model_type.empty() ? "the file has no model_type"
                                                : absl::StrCat("model_type ", Quote(model_type), " is not in the list");
    reading.Note(absl::StrCat(what, "; ", object.PathOf("architectures"), ", ", Quote(name), ", decides"));
    return family;
  }
  return nullptr;
}

const ModelFamily* FamilyOf(const ConfigObject& object, const std::string& model_type, Reading& reading) {
  const ModelFamily* family = FindFamily(model_type);
  return family != nullptr ? family : FamilyOfArchitecture(object, model_type, reading);
}

}  // namespace

Found<std::string> ReadModelType(const ConfigObject& object, Violations& bad) {
  return object.Text(kModelType, bad).value_or(Found<std::string>{"", object.PathOf(kModelType), "", true});
}

TextModel FindTextModel(const ConfigObject& root, Reading& reading) {
  TextModel model = {root, ReadModelType(root, reading.bad)};
  for (int depth = 0; depth < kMaxTextModelDepth; ++depth) {
    const std::optional<ConfigObject> inner = InnerTextModel(model.object, reading);
    if (!inner) break;
    const Found<std::string> type = ReadModelType(*inner, reading.bad);
    const ModelFamily* own = FamilyOf(*inner, type.value, reading);
    const ModelFamily* outer = FindFamily(model.model_type.value);
    const bool keep_outer = own == nullptr && (type.value.empty() || outer != nullptr);
    model = {*inner, keep_outer ? model.model_type : type, keep_outer ? outer : own};
  }
  if (model.family == nullptr) model.family = FamilyOf(model.object, model.model_type.value, reading);
  return model;
}

}  // namespace posenc
