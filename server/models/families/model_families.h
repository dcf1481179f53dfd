// The list of model families: what a config.json of a model_type means where the file itself is silent.
//
// One row for each model_type, in the file of this folder that is named after what makes the family special
// (README.md). The values are those of the configuration class in transformers (v5 where v4 and v5 differ), or
// of the model's own code; the pairing is that of the class's rotation, which few files state. A new family
// that the rules can express is one new row; rules are code, in the readers.
//
// Threads: constant data.

#ifndef POSENC_SERVER_MODELS_FAMILIES_MODEL_FAMILIES_H_
#define POSENC_SERVER_MODELS_FAMILIES_MODEL_FAMILIES_H_

#include <array>
#include <cstdint>
#include <span>

#include "absl/strings/string_view.h"
#include "server/core/specs/rope_axes.h"
#include "server/core/specs/sinusoidal_spec.h"
#include "server/models/answer/model_tables.h"
#include "server/models/families/layer_rule.h"

namespace posenc {

// How a family encodes positions, and which key decides where the family has two ways.
enum class PositionRule : uint8_t {
  kRope,
  kAlibi,            // always
  kAlibiIfFlag,      // "alibi": true, rotary otherwise (Falcon)
  kAlibiIfAttnFlag,  // "attn_config.alibi", true when absent (MPT)
  kAlibiIfWide,      // hidden_size other than the 7B model's, rotary otherwise (Baichuan)
  kSinusoidal,       // fixed sines and cosines
  kLearned,          // a table among the weights
  kByTypeKey,        // position_embedding_type: absolute (default: learned), rotary, rope, alibi
  kT5Buckets,        // a learned bias per distance bucket
  kDebertaBuckets,
  kInParts,          // the file's own parts are models (encoder and decoder, a talker and a thinker)
  kNone,
};

// A family's tables of sines and cosines.
struct SinusoidalRule {
  SinusoidalOrder order = SinusoidalOrder::kSinCos;
  double frequency_shift = 0;
  int64_t extra_rows = 0;   // rows beyond the longest input
  bool padding_row = false;  // row pad_token_id is zero, tokens start at pad_token_id + 1
  bool encoder = false;     // only of the encoder, as long as max_source_positions
  bool descending = false;
};

// The indexer of sparse attention, which rotates the first channels of heads of its own.
struct IndexerRule {
  absl::string_view head_dim_key = "";  // empty: the family has none
  int64_t head_dim = 0;
  Pairing pairing = Pairing::kHalfSplit;
  absl::string_view interleaved_key = "";
};

// A row. Zero and empty mean that the class has no default and the file must say it.
struct ModelFamily {
  absl::string_view model_type = "";
  absl::string_view class_name = "";  // whose defaults these are
  absl::string_view source = "";      // where they were read, if not in the class's folder of transformers
  PositionRule rule = PositionRule::kRope;
  Pairing pairing = Pairing::kHalfSplit;
  int64_t hidden_size = 0;
  int64_t heads = 0;
  int64_t head_dim = 0;  // 0: hidden_size / heads
  absl::string_view head_dim_key = "";  // that says it, besides head_dim and kv_channels
  bool wide_heads = false;              // twice hidden_size / heads (Zamba2)
  int64_t max_len = 0;
  double base = 10000.0;
  double rotary_fraction = 1.0;
  bool reads_fraction = false;             // the class reads it, with any scaling, though its own is 1
  int64_t rotary_dim = 0;                  // absolute, instead of the fraction
  absl::string_view rotary_key = "rotary_dim";  // that says it
  absl::string_view default_block = "";    // the class's scaling block, of a file without one, as JSON
  absl::string_view interleaved_key = "";  // boolean key that overrides the pairing
  absl::string_view base_parent_key = "";  // object that may hold the base instead of the top level
  absl::string_view base_ratio_key = "";   // factor on the base
  absl::string_view rope_switch = "";      // boolean key without which the model does not rotate
  absl::string_view long_context_key = "";  // boolean key by which the class raises base and length (Zamba2)
  bool switched_on = false;                // what the class takes for an absent rope_switch
  absl::string_view nope_key = "";         // kNone: boolean key that the model's code wants true
  bool needs_base = false;                 // without a base in the file the model does not rotate
  bool fixed_ntk = false;  // its class for "ntk" also divides by a power of the factor (gte)
  bool mla = false;       // head_dim is qk_rope_head_dim: the rotated slice of a head is an own tensor
  bool trailing = false;  // the last channels of a head rotate, not the first
  LayerRule layers = {};
  IndexerRule indexer = {};
  AxisMap axis_map = AxisMap::kContiguous;
  std::array<int64_t, 3> sections = {};  // time, height, width, where the block has no mrope_section
  bool sections_end_with_time = false;   // files store height, width, time
  bool llama4_temperature = false;  // attn_temperature_tuning, on by default
  bool mscale_lists = false;        // short_mscale and long_mscale replace the magnitude
  SinusoidalRule sinusoidal = {};
  absl::string_view tensor = "";    // kLearned: the table's usual name in a checkpoint
  int64_t position_offset = 0;      // kLearned: position p is row p + offset
  bool padding_offset = false;      // kLearned: the offset is pad_token_id + 1
  bool decoder = true;              // kT5Buckets: has a causal decoder's map too
  absl::string_view note = "";      // what the answer's reader must know
};

// Returns the row of `model_type`, or null. A text model of a larger one ("gemma3_text") has the row of
// its name without the suffix; names that mean the same family are in aliases.cc.
const ModelFamily* FindFamily(absl::string_view model_type);

// The stand-in for a model_type that has no row.
const ModelFamily& UnknownFamily();

// The rows of all files.
std::span<const ModelFamily* const> AllFamilies();

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_FAMILIES_MODEL_FAMILIES_H_
