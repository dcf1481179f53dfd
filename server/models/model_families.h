// The list of model families: what a config.json of a model_type means where the file itself is silent.
//
// One row per model_type, in model_families.cc. The values are those of the configuration class in
// transformers (v5 where v4 and v5 differ); the pairing is that of the class's rotation, which no file
// states. A new family that the rules can express is one new row; rules are code, in rope_config and
// alibi_config.
//
// Threads: constant data.

#ifndef POSENC_SERVER_MODELS_MODEL_FAMILIES_H_
#define POSENC_SERVER_MODELS_MODEL_FAMILIES_H_

#include <cstdint>
#include <span>

#include "absl/strings/string_view.h"
#include "server/models/model_config.h"

namespace posenc {

// How a family encodes positions, and which key decides where the family has two ways.
enum class PositionRule : uint8_t {
  kRope,
  kAlibi,            // always
  kAlibiIfFlag,      // "alibi": true, rotary otherwise (Falcon)
  kAlibiIfAttnFlag,  // "attn_config.alibi", true when absent (MPT)
  kAlibiIfWide,      // hidden_size other than the 7B model's, rotary otherwise (Baichuan)
  kSinusoidal,       // an encoder's fixed sines and cosines
  kLearned,          // a table among the weights
  kRelativeBuckets,  // T5's learned bias per distance bucket
  kNone,
};

// A row. Zero and empty mean that the class has no default and the file must say it.
struct ModelFamily {
  absl::string_view model_type = "";
  absl::string_view class_name = "";  // whose defaults these are
  PositionRule rule = PositionRule::kRope;
  Pairing pairing = Pairing::kHalfSplit;
  int64_t hidden_size = 0;
  int64_t heads = 0;
  int64_t head_dim = 0;  // 0: hidden_size / heads
  int64_t max_len = 0;
  double base = 10000.0;
  double rotary_fraction = 1.0;
  int64_t rotary_dim = 0;                // absolute, instead of the fraction
  absl::string_view default_scaling = "";  // scaling type of a file without a scaling block
  absl::string_view interleaved_key = "";  // boolean key that overrides the pairing
  absl::string_view base_parent_key = "";  // object that may hold the base instead of the top level
  absl::string_view base_ratio_key = "";  // factor on the base
  absl::string_view full_head_dim_key = "";  // head_dim of the layers with full attention
  int64_t full_head_dim = 0;
  bool mla = false;  // head_dim is qk_rope_head_dim: the rotated slice of a head is an own tensor
  // The layers with a sliding window have a table of their own, with this base (0: the base of the others).
  bool sliding_table = false;
  double sliding_base = 0;
  bool sliding_scaled = false;  // and with the scaling of the others
  double frequency_shift = 0;   // kSinusoidal
  absl::string_view note = "";  // what the answer's reader must know
};

// Returns the row of `model_type`, or null. A text model of a larger one ("gemma3_text") has the row of
// its name without the suffix.
const ModelFamily* FindFamily(absl::string_view model_type);

// The stand-in for a model_type that has no row.
const ModelFamily& UnknownFamily();

// The rows, in order of model_type.
std::span<const ModelFamily> AllFamilies();

// A value that files spell in several ways.
enum class ConfigKey : uint8_t {
  kHiddenSize,
  kHeads,
  kHeadDim,
  kMlaHeadDim,
  kMaxLen,
  kEncoderMaxLen,
  kBase,
  kSlidingBase,
  kRotaryFraction,
  kOfRotary,  // any of them shows that a model of unknown family rotates
};

// Returns the spellings, the one that counts first.
std::span<const absl::string_view> KeysOf(ConfigKey key);

// A top-level key that changes how a table is used, not what it holds.
struct KeyNote {
  absl::string_view key;
  absl::string_view note;
};

// Returns the keys that deserve a note when the file has them and they are neither null nor false.
std::span<const KeyNote> NotedKeys();

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_MODEL_FAMILIES_H_
