#include "server/models/config/config_keys.h"

namespace posenc {
namespace {

constexpr absl::string_view kHiddenSizeKeys[] = {"hidden_size", "n_embd", "d_model", "dim"};
constexpr absl::string_view kHeadsKeys[] = {"num_attention_heads", "n_head", "n_heads", "num_heads"};
constexpr absl::string_view kHeadDimKeys[] = {"head_dim", "kv_channels"};
constexpr absl::string_view kMlaHeadDimKeys[] = {"qk_rope_head_dim"};
constexpr absl::string_view kMaxLenKeys[] = {"max_position_embeddings", "n_positions", "max_seq_len",
                                             "seq_length", "max_sequence_length", "model_max_length",
                                             "n_ctx", "max_target_positions", "max_source_positions"};
constexpr absl::string_view kEncoderMaxLenKeys[] = {"max_source_positions"};
constexpr absl::string_view kBaseKeys[] = {"rope_theta", "global_rope_theta", "rotary_emb_base",
                                           "rope_embedding_base", "rotary_embedding_base"};
constexpr absl::string_view kSlidingBaseKeys[] = {"rope_local_base_freq", "local_rope_theta"};
constexpr absl::string_view kRotaryFractionKeys[] = {"partial_rotary_factor", "rotary_pct",
                                                     "rotary_emb_fraction", "rope_pct",
                                                     "rotary_percent"};
constexpr absl::string_view kOfRotaryKeys[] = {
    "rope_theta",         "rope_scaling",          "rope_parameters",       "rotary_emb_base",
    "global_rope_theta",  "rope_embedding_base",   "rotary_embedding_base", "rotary_dim",
    "rotary_pct",         "partial_rotary_factor", "rotary_emb_fraction",   "rope_pct",
    "rotary_percent",     "rotary",                "qk_rope_head_dim",      "rope_local_base_freq",
    "head_dim",           "rope_ratio"};

constexpr KeyNote kNotedKeys[] = {
    {"use_dynamic_ntk", "the model's code raises the base for inputs longer than the trained length; the "
                        "table is for inputs up to it"},
    {"no_rope_layers", "lists the layers that rotate with 1, the others with 0"},
    {"use_logn_attn", "queries beyond the trained length are also scaled by a logarithm; the table does not "
                      "hold that"},
};

}  // namespace

std::span<const absl::string_view> KeysOf(ConfigKey key) {
  switch (key) {
    case ConfigKey::kHiddenSize: return kHiddenSizeKeys;
    case ConfigKey::kHeads: return kHeadsKeys;
    case ConfigKey::kHeadDim: return kHeadDimKeys;
    case ConfigKey::kMlaHeadDim: return kMlaHeadDimKeys;
    case ConfigKey::kMaxLen: return kMaxLenKeys;
    case ConfigKey::kEncoderMaxLen: return kEncoderMaxLenKeys;
    case ConfigKey::kBase: return kBaseKeys;
    case ConfigKey::kSlidingBase: return kSlidingBaseKeys;
    case ConfigKey::kRotaryFraction: return kRotaryFractionKeys;
    case ConfigKey::kOfRotary: return kOfRotaryKeys;
  }
  return {};
}

std::span<const KeyNote> NotedKeys() { return kNotedKeys; }

}  // namespace posenc
