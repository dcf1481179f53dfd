// The object that describes a model, its family, and the question that was asked.
//
// Not thread-safe; refers to the parsed document, lives as long as one call of ResolveModel.

#ifndef POSENC_SERVER_MODELS_FAMILIES_MODEL_SCOPE_H_
#define POSENC_SERVER_MODELS_FAMILIES_MODEL_SCOPE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "server/models/answer/model_tables.h"
#include "server/models/config/config_keys.h"
#include "server/models/config/config_reader.h"
#include "server/models/families/model_families.h"

namespace posenc {

// The object that describes the (text) model, and the row that says what it leaves out.
struct ModelScope {
  ConfigObject object;
  Found<std::string> model_type;  // that decides; empty when the file has none
  const ModelFamily* family;
  bool known;
  Runtime runtime = Runtime::kTransformers;
  std::optional<int64_t> effective_length = {};

  // Returns how an answer calls a default of the family: "default of LlamaConfig".
  std::string DefaultSource() const;

  // Returns a default of the family, as a value that `key` of the file would replace.
  template <typename T>
  Found<T> Default(T value, absl::string_view key) const {
    return {value, object.PathOf(key), DefaultSource(), true, !known};
  }

  // Returns the file's value for `key` or, where it is silent and the family has one, the default.
  std::optional<Found<int64_t>> IntegerOr(ConfigKey key, int64_t family_default, Violations& bad) const;

  // The same for a value without which there is no table: a missing one is a violation.
  Found<int64_t> Required(ConfigKey key, int64_t family_default, Violations& bad) const;

  // Returns the model's longest input; where nothing says it, the spec's own default.
  Found<int64_t> MaxLenOr(int64_t spec_default, Violations& bad) const;
};

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_FAMILIES_MODEL_SCOPE_H_
