// Kinds of layers by the lists and numbers that files have for them. Pure functions.

#ifndef POSENC_SERVER_MODELS_ROTARY_LAYER_KINDS_H_
#define POSENC_SERVER_MODELS_ROTARY_LAYER_KINDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "server/models/families/model_scope.h"

namespace posenc {

struct LayerKinds {
  std::vector<std::string> kinds;  // empty where the file does not say
  std::string source;              // the key that does
};

// Models have some hundred layers; longer lists are no lists of layers.
inline constexpr int64_t kMaxLayers = 4096;

// Returns the number of layers, or 0 where the file does not say it.
int64_t LayerCount(const ConfigObject& object);

// Returns the kind of each of `count` layers (0: as many as the list has) by the first key that tells them; a
// list of more (those of layers that predict further tokens) is cut, a shorter one repeats.
LayerKinds ReadLayerKinds(const ModelScope& scope, int64_t count);

// Returns marks of 0 and 1 under `key`, one for each layer; empty where there is no such list.
std::vector<bool> LayerMarks(const ConfigObject& object, absl::string_view key);

// Returns a whole number of at least 1 under `key`, or 0.
int64_t Period(const ConfigObject& object, absl::string_view key);

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_ROTARY_LAYER_KINDS_H_
