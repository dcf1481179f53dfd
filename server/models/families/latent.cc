// Families with multi-head latent attention: the rotated slice of a head is a tensor of its own.

#include "server/models/families/family_rows.h"

namespace posenc {
namespace {

constexpr ModelFamily kRows[] = {
    {.model_type = "axk1", .class_name = "AXK1Config", .pairing = Pairing::kInterleaved, .head_dim = 64,
     .interleaved_key = "rope_interleave", .mla = true},
    {.model_type = "deepseek_v2", .class_name = "DeepseekV2Config", .pairing = Pairing::kInterleaved,
     .head_dim = 64, .max_len = 2048, .mla = true},
    {.model_type = "deepseek_v3", .class_name = "DeepseekV3Config", .pairing = Pairing::kInterleaved,
     .head_dim = 64, .max_len = 4096, .interleaved_key = "rope_interleave", .mla = true},
    {.model_type = "deepseek_v32", .class_name = "DeepseekV32Config", .pairing = Pairing::kInterleaved,
     .head_dim = 64, .max_len = 163840, .interleaved_key = "rope_interleave", .mla = true,
     .indexer = {.head_dim_key = "index_head_dim", .head_dim = 128, .interleaved_key = "indexer_rope_interleave"}},
    {.model_type = "glm4_moe_lite", .class_name = "Glm4MoeLiteConfig", .pairing = Pairing::kInterleaved,
     .head_dim = 64, .max_len = 202752, .interleaved_key = "rope_interleave", .mla = true},
    {.model_type = "kimi_k2", .class_name = "DeepseekV3Config", .pairing = Pairing::kInterleaved,
     .head_dim = 64, .max_len = 4096, .interleaved_key = "rope_interleave", .mla = true},
    {.model_type = "longcat_flash", .class_name = "LongcatFlashConfig", .pairing = Pairing::kInterleaved,
     .head_dim = 64, .max_len = 131072, .base = 1e7, .mla = true},
    {.model_type = "minicpm3", .class_name = "MiniCPM3Config", .head_dim = 32, .max_len = 32768, .mla = true},
    {.model_type = "mistral4", .class_name = "Mistral4Config", .pairing = Pairing::kInterleaved,
     .head_dim = 64, .max_len = 1048576, .interleaved_key = "rope_interleave", .mla = true},
    {.model_type = "youtu", .class_name = "YoutuConfig", .pairing = Pairing::kInterleaved, .head_dim = 64,
     .max_len = 131072, .interleaved_key = "rope_interleave", .mla = true},
    {.model_type = "axk2", .class_name = "AXK2Config", .pairing = Pairing::kInterleaved, .head_dim = 32,
     .max_len = 131072, .mla = true, .indexer = {.head_dim_key = "index_head_dim", .head_dim = 128}},
    {.model_type = "glm_moe_dsa", .class_name = "GlmMoeDsaConfig", .pairing = Pairing::kInterleaved,
     .head_dim = 64, .max_len = 202752, .interleaved_key = "rope_interleave", .mla = true,
     .indexer = {.head_dim_key = "index_head_dim", .head_dim = 128, .pairing = Pairing::kInterleaved,
                 .interleaved_key = "indexer_rope_interleave"}},
    {.model_type = "bailing_moe_v3", .class_name = "BailingMoeV3Config", .source = kVllm,
     .pairing = Pairing::kInterleaved, .head_dim = 64, .max_len = 131072, .mla = true,
     .layers = {.pattern = {.period_key = "layer_group_size", .others = "linear_attention"}}},
    {.model_type = "pangu_ultra_moe", .class_name = "PanguUltraMoEConfig", .source = kVllm,
     .pairing = Pairing::kInterleaved, .head_dim = 64, .max_len = 131072, .mla = true},
    {.model_type = "sarvam_mla", .class_name = "SarvamMLAConfig", .source = kVllm,
     .pairing = Pairing::kInterleaved, .head_dim = 64, .max_len = 131072, .mla = true},
};

}  // namespace

std::span<const ModelFamily> LatentFamilies() { return kRows; }

}  // namespace posenc
