// Families that have attention in some layers alone, and something recurrent in the others.

#include "server/models/families/family_rows.h"

namespace posenc {
namespace {

using enum PositionRule;

constexpr absl::string_view kAttentionOnly = "only layers with attention rotate";
constexpr absl::string_view kLinearLayers = "layers with linear attention do not rotate";
constexpr LayerPattern kLinearPattern = {
    .period = 4, .period_key = "full_attention_interval", .others = "linear_attention"};

constexpr LayerPattern kNoAttentionListed = {.period = kNoAttention, .others = "mamba"};

constexpr absl::string_view kZamba = "only the shared attention of hybrid layers rotates";
constexpr int64_t kZamba2Hybrid[] = {6, 12, 18, 24, 30, 36, 42, 47, 51};
constexpr ModelFamily kRows[] = {
    {.model_type = "bamba", .class_name = "BambaConfig", .hidden_size = 4096, .heads = 32, .max_len = 262144,
     .rotary_fraction = 0.5, .layers = {.pattern = kNoAttentionListed}, .note = kAttentionOnly},
    {.model_type = "falcon_h1", .class_name = "FalconH1Config", .hidden_size = 4096, .heads = 32,
     .max_len = 8192, .base = 1e5},
    {.model_type = "granitemoehybrid", .class_name = "GraniteMoeHybridConfig", .rule = kByTypeKey,
     .hidden_size = 4096, .heads = 32, .max_len = 2048, .layers = {.pattern = kNoAttentionListed}},
    {.model_type = "lfm2", .class_name = "Lfm2Config", .hidden_size = 2560, .heads = 32, .max_len = 128000,
     .base = 1e6},
    {.model_type = "lfm2_moe", .class_name = "Lfm2MoeConfig", .hidden_size = 2048, .heads = 32,
     .max_len = 128000, .base = 1e6},
    {.model_type = "minimax", .class_name = "MiniMaxConfig", .hidden_size = 4096, .heads = 32,
     .max_len = 131072, .base = 1e6,
     .layers = {.pattern = {.period = 2, .full_first = true, .others = "linear_attention"}},
     .note = "layers with lightning attention do not rotate"},
    {.model_type = "qwen3_5", .class_name = "Qwen3_5TextConfig", .hidden_size = 4096, .heads = 16,
     .head_dim = 256, .max_len = 32768, .rotary_fraction = 0.25, .layers = {.pattern = kLinearPattern},
     .axis_map = AxisMap::kInterleaved, .sections = {11, 11, 10}, .note = kLinearLayers},
    {.model_type = "qwen3_5_moe", .class_name = "Qwen3_5MoeTextConfig", .hidden_size = 2048, .heads = 16,
     .head_dim = 256, .max_len = 32768, .rotary_fraction = 0.25, .layers = {.pattern = kLinearPattern},
     .axis_map = AxisMap::kInterleaved, .sections = {11, 11, 10}, .note = kLinearLayers},
    {.model_type = "qwen3_next", .class_name = "Qwen3NextConfig", .hidden_size = 2048, .heads = 16,
     .head_dim = 256, .max_len = 32768, .rotary_fraction = 0.25, .layers = {.pattern = kLinearPattern},
     .note = kLinearLayers},
    {.model_type = "recurrent_gemma", .class_name = "RecurrentGemmaConfig", .hidden_size = 2560, .heads = 10,
     .rotary_fraction = 0.5, .layers = {.pattern = {.period = 3, .others = "recurrent"}}},
    {.model_type = "bailing_moe_linear", .class_name = "BailingMoeLinearConfig", .source = kMlx,
     .max_len = 32768,
     .layers = {.pattern = {.period_key = "layer_group_size", .others = "linear_attention"},
                .linear_rotates = true}},
    {.model_type = "olmo_hybrid", .class_name = "OlmoHybridConfig", .hidden_size = 3840, .heads = 30,
     .max_len = 65536, .needs_base = true,
     .layers = {.pattern = {.period = 4, .and_last = true, .others = "linear_attention"}}},
    {.model_type = "plamo2", .class_name = "Plamo2Config", .source = kMlx, .hidden_size = 4096, .heads = 32,
     .head_dim = 128, .head_dim_key = "hidden_size_per_head", .max_len = 10485760,
     .layers = {.pattern = {.period = 2, .period_key = "mamba_step", .half_way = true, .others = "mamba",
                            .switch_key = "mamba_enabled"}},
     .note = kAttentionOnly},
    {.model_type = "zamba2", .class_name = "Zamba2Config", .hidden_size = 2560, .heads = 32,
     .head_dim_key = "attention_head_dim", .wide_heads = true, .max_len = 4096, .rope_switch = "use_mem_rope",
     .long_context_key = "use_long_context",
     .layers = {.pattern = {.others = "mamba"}, .attention = kZamba2Hybrid}, .note = kZamba},
};

}  // namespace

std::span<const ModelFamily> HybridFamilies() { return kRows; }

}  // namespace posenc
