// How the layers of a family differ: which rotate, and which have a table of their own. Constant data.

#ifndef POSENC_SERVER_MODELS_FAMILIES_LAYER_RULE_H_
#define POSENC_SERVER_MODELS_FAMILIES_LAYER_RULE_H_

#include <cstdint>
#include <span>

#include "absl/strings/string_view.h"

namespace posenc {

// Which layers do not rotate, besides those without attention.
enum class Nope : uint8_t {
  kNone,         // all rotate
  kEveryFourth,  // no_rope_layers, else not every fourth (no_rope_layer_interval)
  kSlidingOnly,  // those without a sliding window, where the model has layers with one
};

// What a family's class does where the file has no list of its layers' types.
struct LayerPattern {
  int64_t period = 0;                // one layer in `period` has full attention; 0: all have
  absl::string_view period_key = "";  // that says the period
  bool full_first = false;           // the first of each period, not the last
  bool from_end = false;             // counted from the last layer, which has full attention
  bool half_way = false;             // the one after half of each period
  bool and_first = false;            // layer 0 has full attention too
  bool and_last = false;             // and the last layer
  absl::string_view others = "sliding_attention";
  absl::string_view switch_key = "";  // boolean key that is false where all layers have full attention
};

// A period that no model has as many layers for: none of them has attention.
inline constexpr int64_t kNoAttention = INT64_MAX;

struct LayerRule {
  LayerPattern pattern = {};
  std::span<const int64_t> attention = {};  // instead of a period: the layers of the class's own list
  Nope nope = Nope::kNone;
  bool linear_rotates = false;  // linear attention rotates too
  bool scaled_full_only = false;  // the scaling block is for layers with full attention, where they differ
  // The layers with a sliding window have a table of their own, with this base (0: the base of the others).
  bool sliding_table = false;
  double sliding_base = 0;
  bool sliding_scaled = false;  // and with the scaling of the others
  // DeepSeek V4 has other names and keys for its two tables.
  absl::string_view full_name = "full_attention";
  absl::string_view sliding_name = "sliding_attention";
  absl::string_view full_base_key = "";
  absl::string_view sliding_base_key = "";
  absl::string_view full_head_dim_key = "";  // head_dim of the layers with full attention
  int64_t full_head_dim = 0;
  absl::string_view sliding_head_dim_key = "";  // and of those with a sliding window
  absl::string_view sliding_heads_key = "";     // or how many heads those have
};

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_FAMILIES_LAYER_RULE_H_
