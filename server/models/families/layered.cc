// Families whose layers differ: by base or scaling, or because some do not rotate.

#include "server/models/families/family_rows.h"

namespace posenc {
namespace {

constexpr absl::string_view kGemma4Proportional =
    R"({"rope_type": "proportional", "partial_rotary_factor": 0.25})";

constexpr ModelFamily kRows[] = {
    {.model_type = "cohere2", .class_name = "Cohere2Config", .pairing = Pairing::kInterleaved,
     .hidden_size = 8192, .heads = 64, .max_len = 8192,
     .layers = {.pattern = {.period = 4, .period_key = "sliding_window_pattern"}, .nope = Nope::kSlidingOnly}},
    {.model_type = "deepseek_v4", .class_name = "DeepseekV4Config", .pairing = Pairing::kInterleaved,
     .head_dim = 512, .base = 160000, .rotary_dim = 64, .rotary_key = "qk_rope_head_dim", .trailing = true,
     .layers = {.sliding_table = true, .sliding_base = 1e4, .full_name = "compress", .sliding_name = "main", .full_base_key = "compress_rope_theta", .sliding_base_key = "rope_theta"}},
    {.model_type = "exaone4", .class_name = "Exaone4Config", .hidden_size = 4096, .heads = 32,
     .max_len = 2048,
     .layers = {.pattern = {.period = 4, .period_key = "sliding_window_pattern"}, .nope = Nope::kSlidingOnly}},
    {.model_type = "exaone_moe", .class_name = "ExaoneMoeConfig", .hidden_size = 4096, .heads = 32,
     .max_len = 2048,
     .layers = {.pattern = {.period = 4, .period_key = "sliding_window_pattern"}, .nope = Nope::kSlidingOnly}},
    {.model_type = "gemma3", .class_name = "Gemma3TextConfig", .hidden_size = 2304, .heads = 8,
     .head_dim = 256, .max_len = 131072, .base = 1e6,
     .layers = {.pattern = {.period = 6, .period_key = "sliding_window_pattern"}, .sliding_table = true, .sliding_base = 1e4}},
    {.model_type = "gemma3n", .class_name = "Gemma3nTextConfig", .hidden_size = 2048, .heads = 8,
     .head_dim = 256, .max_len = 32768, .base = 1e6,
     .layers = {.pattern = {.period = 5}, .sliding_table = true, .sliding_base = 1e4}},
    {.model_type = "gemma4", .class_name = "Gemma4TextConfig", .hidden_size = 2304, .heads = 8,
     .head_dim = 256, .max_len = 131072, .base = 1e6, .default_block = kGemma4Proportional,
     .layers = {.pattern = {.period = 6}, .sliding_table = true, .sliding_base = 1e4, .full_head_dim_key = "global_head_dim", .full_head_dim = 512}},
    {.model_type = "llama4", .class_name = "Llama4TextConfig", .pairing = Pairing::kInterleaved,
     .hidden_size = 5120, .heads = 40, .head_dim = 128, .max_len = 131072, .base = 5e5,
     .layers = {.nope = Nope::kEveryFourth}, .llama4_temperature = true},
    {.model_type = "modernbert", .class_name = "ModernBertConfig", .hidden_size = 768, .heads = 12,
     .max_len = 8192, .base = 160000,
     .layers = {.pattern = {.period = 3, .period_key = "global_attn_every_n_layers", .full_first = true}, .sliding_table = true, .sliding_base = 1e4, .sliding_scaled = true}},
    {.model_type = "modernbert-decoder", .class_name = "ModernBertDecoderConfig", .hidden_size = 768,
     .heads = 12, .max_len = 8192, .base = 160000,
     .layers = {.pattern = {.period = 3, .period_key = "global_attn_every_n_layers", .full_first = true}, .sliding_table = true, .sliding_base = 1e4, .sliding_scaled = true}},
    {.model_type = "olmo3", .class_name = "Olmo3Config", .hidden_size = 4096, .heads = 32, .max_len = 2048,
     .base = 5e5, .layers = {.pattern = {.period = 4}, .sliding_table = true}},
    {.model_type = "smollm3", .class_name = "SmolLM3Config", .hidden_size = 2048, .heads = 16,
     .max_len = 32768, .base = 2e6, .layers = {.nope = Nope::kEveryFourth}},
};

}  // namespace

std::span<const ModelFamily> LayeredFamilies() { return kRows; }

}  // namespace posenc
