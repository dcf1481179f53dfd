// The layers of a GGUF file's model: which rotate, and which have a sliding window. Pure functions.

#ifndef POSENC_SERVER_MODELS_GGUF_GGUF_LAYERS_H_
#define POSENC_SERVER_MODELS_GGUF_GGUF_LAYERS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "server/models/gguf/gguf_keys.h"

namespace posenc {

struct GgufLayer {
  bool rotates = true;
  bool sliding = false;
  bool compressed = false;
};

struct GgufLayers {
  std::vector<GgufLayer> layers;  // those that predict further tokens left out; empty: not known how many
  bool window = false;            // the model has a sliding window
  bool pattern_known = true;      // which layers have it is known
  std::string still_source;       // why some do not rotate

  std::vector<int64_t> Rotating() const;
  std::vector<int64_t> Rotating(bool sliding) const;
  std::vector<int64_t> Compressed(bool compressed) const;
  std::vector<int64_t> Still() const;
  bool NoneRotates() const { return !layers.empty() && Rotating().empty(); }
};

// Plans the layers by the file's keys and the rules of its architecture. Layers that predict further tokens are
// noted.
GgufLayers PlanGguf(const GgufKeys& keys, const GgufArchitecture& row);

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_GGUF_GGUF_LAYERS_H_
