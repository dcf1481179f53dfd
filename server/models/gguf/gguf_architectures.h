// The list of llama.cpp's architectures: what a GGUF file does not say.
//
// One row for each general.architecture, in gguf_architectures.cc; the values are those of llama.cpp's own
// switches (llama_model_rope_type and the loaders of hyperparameters). Threads: constant data.

#ifndef POSENC_SERVER_MODELS_GGUF_GGUF_ARCHITECTURES_H_
#define POSENC_SERVER_MODELS_GGUF_GGUF_ARCHITECTURES_H_

#include <cstdint>
#include <span>

#include "absl/strings/string_view.h"

namespace posenc {

// ggml's rope modes.
enum class GgmlRope : uint8_t {
  kNone,
  kNorm,         // pairs (2i, 2i + 1)
  kNeox,         // pairs (i, i + d/2)
  kMrope,        // half-split, sections of pairs
  kInterleaved,  // half-split, axes in turn
};

struct GgufArchitecture {
  absl::string_view name;
  GgmlRope rope = GgmlRope::kNone;
  double alibi_bias_max = 0;       // built in; 0: attention.max_alibi_bias says it
  int64_t alibi_layers = 0;        // only models with that many layers have ALiBi (Baichuan)
  bool symmetric = false;          // an encoder's ALiBi
  double sliding_base = 0;         // built-in base of the layers with a sliding window
  bool mla = false;                // the rotated slice of a head is an own tensor of dimension_count
  bool mrope_with_sections = false;  // kMrope where the file has dimension_sections
  bool alpha = false;              // rope.scaling.alpha counts
  bool llama4_temperature = false;
  absl::string_view applies_to = "";
};

// Returns the row of `name`, or null.
const GgufArchitecture* FindArchitecture(absl::string_view name);

std::span<const GgufArchitecture> AllArchitectures();

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_GGUF_GGUF_ARCHITECTURES_H_
