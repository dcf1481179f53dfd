// Families that rotate a part of each head, half-split.

#include "server/models/families/family_rows.h"

namespace posenc {
namespace {

constexpr ModelFamily kRows[] = {
    {.model_type = "fuyu", .class_name = "FuyuConfig", .hidden_size = 4096, .heads = 64, .max_len = 16384,
     .base = 25000, .rotary_fraction = 0.5},
    {.model_type = "glm4_moe", .class_name = "Glm4MoeConfig", .max_len = 131072, .rotary_fraction = 0.5},
    {.model_type = "gpt_neox", .class_name = "GPTNeoXConfig", .hidden_size = 6144, .heads = 64,
     .max_len = 2048, .rotary_fraction = 0.25},
    {.model_type = "minimax_m2", .class_name = "MiniMaxM2Config", .hidden_size = 3072, .heads = 48,
     .head_dim = 128, .max_len = 196608, .base = 5e6, .rotary_dim = 64},
    {.model_type = "minimax_m3", .class_name = "MiniMaxM3Config", .hidden_size = 3072, .heads = 48,
     .head_dim = 128, .max_len = 196608, .base = 5e6, .rotary_dim = 64},
    {.model_type = "nemotron", .class_name = "NemotronConfig", .hidden_size = 6144, .heads = 48,
     .max_len = 4096, .rotary_fraction = 0.5},
    {.model_type = "persimmon", .class_name = "PersimmonConfig", .hidden_size = 4096, .heads = 64,
     .max_len = 16384, .base = 25000, .rotary_fraction = 0.5},
    {.model_type = "phi", .class_name = "PhiConfig", .hidden_size = 2048, .heads = 32, .max_len = 2048,
     .rotary_fraction = 0.5},
    {.model_type = "stablelm", .class_name = "StableLmConfig", .hidden_size = 2560, .heads = 32,
     .max_len = 4096, .rotary_fraction = 0.25},
    {.model_type = "glmasr_encoder", .class_name = "GlmAsrEncoderConfig", .hidden_size = 1280, .heads = 20,
     .max_len = 1500, .rotary_fraction = 0.5},
    {.model_type = "moondream3", .class_name = "Moondream3Config", .source = kVllm, .head_dim = 64,
     .max_len = 4096, .base = 1.5e6, .rotary_dim = 32},
    {.model_type = "phixtral", .class_name = "PhixtralConfig", .source = kMlx, .hidden_size = 2560,
     .heads = 32, .max_len = 2048, .rotary_dim = 32},
};

}  // namespace

std::span<const ModelFamily> PartialFamilies() { return kRows; }

}  // namespace posenc
