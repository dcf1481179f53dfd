#include "server/models/config/config_keys.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/match.h"

namespace posenc {
namespace {

constexpr absl::string_view kHiddenSizeKeys[] = {"hidden_size", "n_embd", "d_model", "dim"};
constexpr absl::string_view kHeadsKeys[] = {"num_attention_heads", "n_head", "n_heads", "num_heads"};
constexpr absl::string_view kHeadDimKeys[] = {"head_dim", "kv_channels"};
constexpr absl::string_view kOtherHeadDimKeys[] = {"attention_head_dim", "head_size", "attn_head_dim", "d_head"};
constexpr absl::string_view kMlaHeadDimKeys[] = {"qk_rope_head_dim", "attention_qk_rope_dim", "qk_rope_dim"};
constexpr absl::string_view kMaxLenKeys[] = {"max_position_embeddings", "n_positions", "max_seq_len",
                                             "seq_length", "max_sequence_length", "model_max_length",
                                             "n_ctx", "max_position_embedding", "max_target_positions",
                                             "max_source_positions"};
constexpr absl::string_view kEncoderMaxLenKeys[] = {"max_source_positions"};
constexpr absl::string_view kBaseKeys[] = {"rope_theta", "global_rope_theta", "rotary_emb_base",
                                           "rope_embedding_base", "rotary_embedding_base", "rope_freq_constant",
                                           "rope_base"};
constexpr absl::string_view kSlidingBaseKeys[] = {"rope_local_base_freq", "local_rope_theta", "swa_rope_theta",
                                                  "sliding_rope_theta", "rope_theta_swa"};
constexpr absl::string_view kRotaryFractionKeys[] = {"partial_rotary_factor", "rotary_pct",
                                                     "rotary_emb_fraction", "rope_pct",
                                                     "rotary_percent"};
constexpr absl::string_view kOfRotaryKeys[] = {
    "rope_theta",         "rope_scaling",          "rope_parameters",       "rotary_emb_base",
    "global_rope_theta",  "rope_embedding_base",   "rotary_embedding_base", "rotary_dim",
    "rotary_pct",         "partial_rotary_factor", "rotary_emb_fraction",   "rope_pct",
    "rotary_percent",     "rotary",                "qk_rope_head_dim",      "rope_local_base_freq",
    "head_dim",           "rope_ratio",            "swa_rope_theta",        "rope_type",
    "partial_rotary_factors", "rope_base",         "rope_interleave",       "mla_use_nope",
    "use_rope",           "no_rope_layers",        "rope_layout"};

constexpr absl::string_view kFurtherTokens =
    "layers that predict further tokens follow the model's own; they are not among the layers of this answer";

constexpr KeyNote kNotedKeys[] = {
    {"num_nextn_predict_layers", kFurtherTokens},
    {"nextn_predict_layers", kFurtherTokens},
    {"num_mtp_layers", kFurtherTokens},
    {"mtp_num_layers", kFurtherTokens},
    {"mtp_num_hidden_layers", kFurtherTokens},
    {"num_mtp_modules", kFurtherTokens},
    {"n_mtp_layers", kFurtherTokens},
    {"mtp_layers", kFurtherTokens},
    {"dual_chunk_attention_config", "long inputs are read in chunks whose positions begin anew, where a runtime has "
                                    "that attention; the table's rows are the same, their positions are not"},
    {"use_dynamic_ntk", "the model's code raises the base for inputs longer than the trained length; the "
                        "table is for inputs up to it"},
    {"no_rope_layers", "lists the layers that rotate with 1, the others with 0"},
    {"use_logn_attn", "queries beyond the trained length are also scaled by a logarithm; the table does not "
                      "hold that"},
};

constexpr RotationSwitch kRotationSwitches[] = {
    {"use_rope", false},           {"use_rotary", false},        {"use_rotary_embedding", false},
    {"use_rotary_embeddings", false}, {"apply_rotary", false},   {"apply_rope", false},
    {"use_rope_embeddings", false}, {"use_mem_rope", false},     {"rotary", false},
    {"use_rotary_position_embeddings", false}, {"mla_use_nope", true}, {"use_nope", true},
    {"no_rope", true},             {"nope", true},
};

// Parts of the names of keys that have to do with positions, and whole names that only look like it.
constexpr absl::string_view kPositionParts[] = {"rope", "rotary", "nope", "alibi", "yarn", "ntk", "theta",
                                                "position_embedding_type", "pos_emb", "relative_attention"};
constexpr absl::string_view kNoPositions[] = {"qk_nope_head_dim", "rope_deltas"};

}  // namespace

std::span<const absl::string_view> KeysOf(ConfigKey key) {
  switch (key) {
    case ConfigKey::kHiddenSize: return kHiddenSizeKeys;
    case ConfigKey::kHeads: return kHeadsKeys;
    case ConfigKey::kHeadDim: return kHeadDimKeys;
    case ConfigKey::kOtherHeadDim: return kOtherHeadDimKeys;
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

std::span<const RotationSwitch> RotationSwitches() { return kRotationSwitches; }

bool IsAboutPositions(absl::string_view key) {
  const auto contains = [&](absl::string_view part) { return absl::StrContains(key, part); };
  const auto is = [&](absl::string_view whole) { return key == whole; };
  return std::any_of(std::begin(kPositionParts), std::end(kPositionParts), contains) &&
         std::none_of(std::begin(kNoPositions), std::end(kNoPositions), is);
}

}  // namespace posenc
