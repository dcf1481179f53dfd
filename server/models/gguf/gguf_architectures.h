// The list of llama.cpp's architectures: what a GGUF file does not say.
//
// One row for each general.architecture, in gguf_architectures.cc; the values are those of llama.cpp's own
// switches (llama_model_rope_type, the loaders of hyperparameters and the graphs). Threads: constant data.

#ifndef POSENC_SERVER_MODELS_GGUF_GGUF_ARCHITECTURES_H_
#define POSENC_SERVER_MODELS_GGUF_GGUF_ARCHITECTURES_H_

#include <cstdint>
#include <span>

#include "absl/strings/string_view.h"
#include "server/models/answer/model_tables.h"

namespace posenc {

// ggml's rope modes.
enum class GgmlRope : uint8_t {
  kNone,
  kNorm,         // pairs (2i, 2i + 1)
  kNeox,         // pairs (i, i + d/2)
  kMrope,        // half-split, sections of pairs
  kInterleaved,  // half-split, axes in turn
};

// Which layers with attention do not rotate.
enum class GgufStill : uint8_t {
  kNone,
  kEveryFourth,  // the last of each four
  kFull,         // those without a sliding window, where the file has a window
  kPattern,      // those that attention.rope_pattern marks with 0
};

// The layers with a sliding window, of a file that has one.
struct GgufWindow {
  int64_t period = 0;       // one layer in `period` is full where the file has no pattern; 0: it must have one
  bool full_first = false;  // the first of each period, not the last
  bool own_base = false;    // rope.freq_base_swa, else `base`, is their base
  double base = 0;          // built in; 0: rope.freq_base
  bool plain = false;       // they have none of the scaling
  int64_t layers = 0;       // models with that many layers (-1: all) have a window without a key for it
};

struct GgufArchitecture {
  absl::string_view name;
  GgmlRope rope = GgmlRope::kNone;
  double alibi_bias_max = 0;       // built in; 0: attention.max_alibi_bias says it
  int64_t alibi_layers = 0;        // only models with that many layers have ALiBi (Baichuan)
  bool symmetric = false;          // an encoder's ALiBi
  GgufWindow window = {};
  GgufStill still = GgufStill::kNone;
  bool finetuned_switch = false;   // rope.scaling.finetuned false: nothing rotates
  int64_t attention_period = 0;    // one layer in so many has attention (full_attention_interval)
  bool hybrid = false;             // layers with attention.head_count_kv 0 have no attention
  bool mla = false;                // the rotated slice of a head is an own tensor of dimension_count
  bool trailing = false;           // the last channels of a head rotate
  bool compressed = false;         // layers with a ratio of compression have a base of their own, and the scaling
  bool full_halved = false;        // full layers rotate half of rope.dimension_count
  bool fixed_base = false;         // 10000 without scaling, whatever the file says
  Pairing indexer = Pairing::kNone;  // of a sparse attention's indexer; kNone: there is none
  bool mrope_with_sections = false;  // kMrope where the file has dimension_sections
  bool alpha = false;              // rope.scaling.alpha counts
  bool llama4_temperature = false;
  bool learned = false;            // adds position_embd.weight, also where the file's head shows no tensors
  absl::string_view note = "";
};

// Returns the row of `name`, or null.
const GgufArchitecture* FindArchitecture(absl::string_view name);

std::span<const GgufArchitecture> AllArchitectures();

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_GGUF_GGUF_ARCHITECTURES_H_
