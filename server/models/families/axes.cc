// Families whose positions have several axes (M-RoPE).

#include "server/models/families/family_rows.h"

namespace posenc {
namespace {

constexpr absl::string_view kSectionsNeeded =
    "positions have three axes: without mrope_section the table is that of text tokens alone";

constexpr ModelFamily kRows[] = {
    {.model_type = "bailing_moe_v2", .class_name = "BailingMoeV2Config", .hidden_size = 2048, .heads = 16,
     .head_dim = 128, .max_len = 32768, .base = 6e5, .axis_map = AxisMap::kAlternating},
    {.model_type = "ernie4_5_moe_vl", .class_name = "Ernie4_5_VLMoeTextConfig",
     .pairing = Pairing::kInterleaved, .hidden_size = 2560, .heads = 20, .max_len = 131072, .base = 5e5,
     .axis_map = AxisMap::kAlternating, .sections = {20, 22, 22}, .sections_end_with_time = true},
    {.model_type = "ernie4_5_vl_moe", .class_name = "Ernie4_5_VLMoeTextConfig",
     .pairing = Pairing::kInterleaved, .hidden_size = 2560, .heads = 20, .max_len = 131072, .base = 5e5,
     .axis_map = AxisMap::kAlternating, .sections = {20, 22, 22}, .sections_end_with_time = true},
    {.model_type = "glm4v", .class_name = "Glm4vTextConfig", .pairing = Pairing::kInterleaved,
     .hidden_size = 4096, .heads = 32, .max_len = 32768, .rotary_fraction = 0.5, .sections = {8, 12, 12}},
    {.model_type = "glm4v_moe", .class_name = "Glm4vMoeTextConfig", .hidden_size = 4096, .heads = 96,
     .max_len = 65536, .rotary_fraction = 0.5, .sections = {8, 12, 12}},
    {.model_type = "paddleocr_vl", .class_name = "PaddleOCRTextConfig", .hidden_size = 1024, .heads = 16,
     .head_dim = 128, .max_len = 131072, .base = 5e5, .sections = {16, 24, 24}},
    {.model_type = "qwen2_5_omni", .class_name = "Qwen2_5OmniTextConfig", .hidden_size = 3584, .heads = 28,
     .max_len = 32768, .base = 1e6, .note = kSectionsNeeded},
    {.model_type = "qwen2_5_vl", .class_name = "Qwen2_5_VLTextConfig", .hidden_size = 8192, .heads = 64,
     .max_len = 32768, .base = 1e6, .note = kSectionsNeeded},
    {.model_type = "qwen2_vl", .class_name = "Qwen2VLTextConfig", .hidden_size = 8192, .heads = 64,
     .max_len = 32768, .base = 1e6, .note = kSectionsNeeded},
    {.model_type = "qwen3_omni_moe", .class_name = "Qwen3OmniMoeTextConfig", .hidden_size = 2048, .heads = 32,
     .head_dim = 128, .max_len = 32768, .base = 1e6, .axis_map = AxisMap::kInterleaved,
     .sections = {24, 20, 20}},
    {.model_type = "qwen3_vl", .class_name = "Qwen3VLTextConfig", .hidden_size = 4096, .heads = 32,
     .head_dim = 128, .max_len = 128000, .base = 5e5, .axis_map = AxisMap::kInterleaved,
     .sections = {24, 20, 20}},
    {.model_type = "qwen3_vl_moe", .class_name = "Qwen3VLMoeTextConfig", .hidden_size = 2048, .heads = 16,
     .head_dim = 128, .max_len = 128000, .base = 5e5, .axis_map = AxisMap::kInterleaved,
     .sections = {24, 20, 20}},
    {.model_type = "glm_ocr", .class_name = "GlmOcrTextConfig", .pairing = Pairing::kInterleaved,
     .hidden_size = 1024, .heads = 16, .max_len = 131072, .sections = {8, 12, 12}},
    {.model_type = "glm_image", .class_name = "GlmImageTextConfig", .hidden_size = 4096, .heads = 32,
     .max_len = 131072, .note = kSectionsNeeded},
    {.model_type = "cosmos3_edge", .class_name = "Cosmos3EdgeTextConfig", .hidden_size = 2048, .heads = 16,
     .head_dim = 128, .max_len = 131072, .base = 1e8, .axis_map = AxisMap::kInterleaved,
     .sections = {24, 20, 20}},
    {.model_type = "cohere_compass", .class_name = "CohereCompassTextConfig", .hidden_size = 8192,
     .heads = 64, .max_len = 8192, .layers = {.pattern = {.period = 4}}, .axis_map = AxisMap::kInterleaved,
     .sections = {24, 20, 20}},
    {.model_type = "qwen3_omni_moe_talker", .class_name = "Qwen3OmniMoeTalkerTextConfig", .hidden_size = 1024,
     .heads = 16, .max_len = 32768, .axis_map = AxisMap::kInterleaved, .note = kSectionsNeeded},
    {.model_type = "qwen2_5_omni_talker", .class_name = "Qwen2_5OmniTalkerConfig", .hidden_size = 3584,
     .heads = 28, .head_dim = 128, .max_len = 32768, .base = 1e6, .note = kSectionsNeeded},
    {.model_type = "minimax_m3_vl", .class_name = "MiniMaxM3VLTextConfig", .hidden_size = 6144, .heads = 64,
     .head_dim = 128, .max_len = 524288, .base = 5e6, .rotary_dim = 64},
};

}  // namespace

std::span<const ModelFamily> AxesFamilies() { return kRows; }

}  // namespace posenc
