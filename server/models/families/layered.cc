// Families whose layers differ: by base or scaling, or because some do not rotate.

#include "server/models/families/family_rows.h"

namespace posenc {
namespace {

constexpr absl::string_view kGemma4Proportional =
    R"({"rope_type": "proportional", "partial_rotary_factor": 0.25})";

constexpr absl::string_view kLagunaByType =
    R"({"full_attention": {"rope_type": "default", "rope_theta": 500000.0, "partial_rotary_factor": 0.5},
        "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 1.0}})";
constexpr absl::string_view kZayaByType =
    R"({"hybrid": {"rope_type": "default", "rope_theta": 5000000.0, "partial_rotary_factor": 0.5},
        "hybrid_sliding": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5}})";
constexpr LayerRule kGemma4Layers = {
    .pattern = {.period = 6, .and_last = true}, .sliding_table = true, .sliding_base = 1e4,
    .full_head_dim_key = "global_head_dim", .full_head_dim = 512};
constexpr absl::string_view kMimoDraft = "layers that predict further tokens rotate as those with sliding attention";
constexpr absl::string_view kCohereDense =
    "dense layers with full attention rotate too where prefix_dense_sliding_window_pattern is 1";

constexpr ModelFamily kRows[] = {
    {.model_type = "cohere2", .class_name = "Cohere2Config", .pairing = Pairing::kInterleaved,
     .hidden_size = 8192, .heads = 64, .max_len = 8192,
     .layers = {.pattern = {.period = 4, .period_key = "sliding_window_pattern"}, .nope = Nope::kSlidingOnly}},
    {.model_type = "deepseek_v4", .class_name = "DeepseekV4Config", .pairing = Pairing::kInterleaved,
     .head_dim = 512, .base = 160000, .rotary_dim = 64, .rotary_key = "qk_rope_head_dim", .trailing = true,
     .layers = {.sliding_table = true, .sliding_base = 1e4, .full_name = "compress", .sliding_name = "main",
                .full_base_key = "compress_rope_theta", .sliding_base_key = "rope_theta"}},
    {.model_type = "exaone4", .class_name = "Exaone4Config", .hidden_size = 4096, .heads = 32,
     .max_len = 2048,
     .layers = {.pattern = {.period = 4, .period_key = "sliding_window_pattern"}, .nope = Nope::kSlidingOnly}},
    {.model_type = "exaone_moe", .class_name = "ExaoneMoeConfig", .hidden_size = 4096, .heads = 32,
     .max_len = 2048,
     .layers = {.pattern = {.period = 4, .period_key = "sliding_window_pattern"}, .nope = Nope::kSlidingOnly}},
    {.model_type = "gemma3", .class_name = "Gemma3TextConfig", .hidden_size = 2304, .heads = 8,
     .head_dim = 256, .max_len = 131072, .base = 1e6,
     .layers = {.pattern = {.period = 6, .period_key = "sliding_window_pattern"}, .sliding_table = true,
                .sliding_base = 1e4}},
    {.model_type = "gemma3n", .class_name = "Gemma3nTextConfig", .hidden_size = 2048, .heads = 8,
     .head_dim = 256, .max_len = 32768, .base = 1e6,
     .layers = {.pattern = {.period = 5}, .sliding_table = true, .sliding_base = 1e4}},
    {.model_type = "gemma4", .class_name = "Gemma4TextConfig", .hidden_size = 2304, .heads = 8,
     .head_dim = 256, .max_len = 131072, .base = 1e6, .default_block = kGemma4Proportional,
     .layers = kGemma4Layers},
    {.model_type = "llama4", .class_name = "Llama4TextConfig", .pairing = Pairing::kInterleaved,
     .hidden_size = 5120, .heads = 40, .head_dim = 128, .max_len = 131072, .base = 5e5,
     .layers = {.nope = Nope::kEveryFourth}, .llama4_temperature = true},
    {.model_type = "modernbert", .class_name = "ModernBertConfig", .hidden_size = 768, .heads = 12,
     .max_len = 8192, .base = 160000,
     .layers = {.pattern = {.period = 3, .period_key = "global_attn_every_n_layers", .full_first = true},
                .sliding_table = true, .sliding_base = 1e4, .sliding_scaled = true}},
    {.model_type = "modernbert-decoder", .class_name = "ModernBertDecoderConfig", .hidden_size = 768,
     .heads = 12, .max_len = 8192, .base = 160000,
     .layers = {.pattern = {.period = 3, .period_key = "global_attn_every_n_layers", .full_first = true},
                .sliding_table = true, .sliding_base = 1e4, .sliding_scaled = true}},
    {.model_type = "olmo3", .class_name = "Olmo3Config", .hidden_size = 4096, .heads = 32, .max_len = 2048,
     .base = 5e5, .layers = {.pattern = {.period = 4}, .sliding_table = true}},
    {.model_type = "smollm3", .class_name = "SmolLM3Config", .hidden_size = 2048, .heads = 16,
     .max_len = 32768, .base = 2e6, .layers = {.nope = Nope::kEveryFourth}},
    {.model_type = "afmoe", .class_name = "AfmoeConfig", .hidden_size = 2048, .heads = 16, .head_dim = 128,
     .max_len = 16384,
     .layers = {.pattern = {.period = 4, .period_key = "global_attn_every_n_layers"}, .nope = Nope::kSlidingOnly}},
    {.model_type = "cohere2_moe", .class_name = "Cohere2MoeConfig", .pairing = Pairing::kInterleaved,
     .hidden_size = 8192, .heads = 64, .head_dim = 128, .max_len = 8192,
     .layers = {.nope = Nope::kSlidingOnly}, .note = kCohereDense},
    {.model_type = "diffusion_gemma", .class_name = "DiffusionGemmaTextConfig", .hidden_size = 2304,
     .heads = 8, .head_dim = 256, .max_len = 131072, .base = 1e6, .default_block = kGemma4Proportional,
     .layers = kGemma4Layers},
    {.model_type = "gemma4_unified", .class_name = "Gemma4UnifiedTextConfig", .hidden_size = 2304, .heads = 8,
     .head_dim = 256, .max_len = 262144, .base = 1e6, .default_block = kGemma4Proportional,
     .layers = kGemma4Layers},
    {.model_type = "granite_swa", .class_name = "GraniteSWAConfig", .hidden_size = 2560, .heads = 20,
     .max_len = 8192, .layers = {.pattern = {.period = 4, .full_first = true}}},
    {.model_type = "granitemoe_swa", .class_name = "GraniteMoeSWAConfig", .hidden_size = 4096, .heads = 32,
     .max_len = 2048, .layers = {.pattern = {.period = 4, .full_first = true}}},
    {.model_type = "laguna", .class_name = "LagunaConfig", .hidden_size = 2048, .heads = 48, .head_dim = 128,
     .max_len = 131072, .default_block = kLagunaByType},
    {.model_type = "mellum", .class_name = "MellumConfig", .hidden_size = 2304, .heads = 32, .head_dim = 128,
     .max_len = 131072, .base = 5e5, .layers = {.sliding_table = true, .sliding_base = 1e4}},
    {.model_type = "mimo_v2_flash", .class_name = "MiMoV2FlashConfig", .hidden_size = 4096, .heads = 64,
     .head_dim = 192, .max_len = 131072, .base = 5e6, .rotary_fraction = 0.334,
     .layers = {.pattern = {.period = 6, .and_first = true}, .sliding_table = true, .sliding_base = 1e4,
                .sliding_base_key = "swa_rope_theta", .sliding_head_dim_key = "swa_head_dim"},
     .note = kMimoDraft},
    {.model_type = "muse_glimmer", .class_name = "MuseGlimmerTextConfig", .hidden_size = 6656, .heads = 32,
     .head_dim = 128, .max_len = 131072,
     .layers = {.pattern = {.period = 4, .from_end = true}, .nope = Nope::kSlidingOnly}},
    {.model_type = "smallthinker", .class_name = "SmallThinkerConfig", .source = kLlamaCpp, .head_dim = 128,
     .max_len = 16384, .base = 1.5e6},
    {.model_type = "step3p5", .class_name = "Step3p7TextConfig", .hidden_size = 4096, .heads = 64,
     .head_dim = 128, .max_len = 128000, .layers = {.scaled_full_only = true}},
    {.model_type = "t5gemma2_text", .class_name = "T5Gemma2TextConfig", .hidden_size = 2304, .heads = 8,
     .head_dim = 256, .max_len = 131072, .base = 1e6,
     .layers = {.pattern = {.period = 6, .period_key = "sliding_window_pattern"}, .sliding_table = true,
                .sliding_base = 1e4}},
    {.model_type = "t5gemma2_decoder", .class_name = "T5Gemma2DecoderConfig", .hidden_size = 2304, .heads = 8,
     .head_dim = 256, .max_len = 131072, .base = 1e6,
     .layers = {.pattern = {.period = 6, .period_key = "sliding_window_pattern"}, .sliding_table = true,
                .sliding_base = 1e4}},
    {.model_type = "zaya", .class_name = "ZayaConfig", .hidden_size = 2048, .heads = 8, .head_dim = 128,
     .max_len = 131072, .default_block = kZayaByType},
    {.model_type = "baichuan_m1", .class_name = "BaichuanM1Config", .source = kMlx, .max_len = 32768,
     .layers = {.sliding_table = true, .sliding_heads_key = "num_swa_attention_heads"}},
    {.model_type = "molmo2_text", .class_name = "Molmo2TextConfig", .source = kRemote, .hidden_size = 3584,
     .heads = 28, .head_dim = 128, .max_len = 4096, .base = 1e6},
    {.model_type = "plamo3", .class_name = "Plamo3Config", .source = kVllm, .head_dim = 128,
     .max_len = 4096, .layers = {.sliding_table = true, .sliding_base = 1e4,
                                 .sliding_base_key = "rope_local_theta"}},
    {.model_type = "muse_glimmer_assistant", .class_name = "MuseGlimmerAssistantConfig", .hidden_size = 6656,
     .heads = 32, .head_dim = 128, .max_len = 131072, .base = 5e5},
};

}  // namespace

std::span<const ModelFamily> LayeredFamilies() { return kRows; }

}  // namespace posenc
