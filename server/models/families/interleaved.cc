// Families whose pairs are neighbouring channels (2i, 2i + 1), every layer alike.

#include "server/models/families/family_rows.h"

namespace posenc {
namespace {

constexpr absl::string_view kStreamingEncoder = "the decoder's self attention rotates, the encoder does not";

constexpr ModelFamily kRows[] = {
    {.model_type = "blt", .class_name = "BltConfig", .pairing = Pairing::kInterleaved, .max_len = 4096,
     .base = 5e5},
    {.model_type = "chatglm", .class_name = "ChatGLMConfig", .pairing = Pairing::kInterleaved,
     .hidden_size = 4096, .heads = 32, .head_dim = 128, .max_len = 2048, .rotary_fraction = 0.5,
     .interleaved_key = "original_rope", .base_ratio_key = "rope_ratio"},
    {.model_type = "codegen", .class_name = "CodeGenConfig", .pairing = Pairing::kInterleaved,
     .hidden_size = 4096, .heads = 16, .max_len = 2048, .rotary_dim = 64},
    {.model_type = "cohere", .class_name = "CohereConfig", .pairing = Pairing::kInterleaved,
     .hidden_size = 8192, .heads = 64, .max_len = 8192, .base = 5e5},
    {.model_type = "ernie4_5", .class_name = "Ernie4_5Config", .pairing = Pairing::kInterleaved,
     .hidden_size = 1024, .heads = 16, .head_dim = 128, .max_len = 131072, .base = 5e5},
    {.model_type = "ernie4_5_moe", .class_name = "Ernie4_5_MoeConfig", .pairing = Pairing::kInterleaved,
     .hidden_size = 2560, .heads = 20, .max_len = 131072, .base = 5e5},
    {.model_type = "glm", .class_name = "GlmConfig", .pairing = Pairing::kInterleaved, .hidden_size = 4096,
     .heads = 32, .head_dim = 128, .max_len = 131072, .rotary_fraction = 0.5},
    {.model_type = "glm4", .class_name = "Glm4Config", .pairing = Pairing::kInterleaved, .hidden_size = 4096,
     .heads = 32, .head_dim = 128, .max_len = 131072, .rotary_fraction = 0.5},
    {.model_type = "gptj", .class_name = "GPTJConfig", .pairing = Pairing::kInterleaved, .hidden_size = 4096,
     .heads = 16, .max_len = 2048, .rotary_dim = 64},
    {.model_type = "helium", .class_name = "HeliumConfig", .pairing = Pairing::kInterleaved,
     .hidden_size = 2560, .heads = 20, .head_dim = 128, .max_len = 4096, .base = 1e5},
    {.model_type = "moonshine", .class_name = "MoonshineConfig", .pairing = Pairing::kInterleaved,
     .hidden_size = 288, .heads = 8, .max_len = 512, .rotary_fraction = 0.9},
    {.model_type = "roformer", .class_name = "RoFormerConfig", .pairing = Pairing::kInterleaved,
     .hidden_size = 768, .heads = 12, .max_len = 1536,
     .note = "with rotary_value the same rotation is applied to the values"},
    {.model_type = "blt_local_encoder", .class_name = "BltLocalEncoderConfig", .pairing = Pairing::kInterleaved,
     .hidden_size = 1024,
     .heads = 16, .max_len = 24576, .base = 5e5},
    {.model_type = "blt_local_decoder", .class_name = "BltLocalDecoderConfig", .pairing = Pairing::kInterleaved,
     .hidden_size = 1024,
     .heads = 16, .max_len = 24576, .base = 5e5},
    {.model_type = "blt_global_transformer", .class_name = "BltGlobalTransformerConfig",
     .pairing = Pairing::kInterleaved,
     .hidden_size = 2048,
     .heads = 16, .max_len = 4096, .base = 5e5},
    {.model_type = "blt_patcher", .class_name = "BltPatcherConfig", .pairing = Pairing::kInterleaved,
     .hidden_size = 768, .heads = 12,
     .max_len = 8192},
    {.model_type = "pe_audio_encoder", .class_name = "PeAudioEncoderConfig", .pairing = Pairing::kInterleaved,
     .hidden_size = 1792, .heads = 14,
     .head_dim = 128, .max_len = 10000, .base = 20000},
    {.model_type = "pe_video_encoder", .class_name = "PeVideoEncoderConfig", .pairing = Pairing::kInterleaved,
     .hidden_size = 1792, .heads = 14,
     .head_dim = 128, .max_len = 10000, .base = 20000},
    {.model_type = "pe_audio_video_encoder", .class_name = "PeAudioVideoEncoderConfig",
     .pairing = Pairing::kInterleaved,
     .hidden_size = 1792,
     .heads = 14, .head_dim = 128, .max_len = 10000, .base = 20000},
    {.model_type = "moonshine_streaming", .class_name = "MoonshineStreamingConfig", .pairing = Pairing::kInterleaved,
     .hidden_size = 320,
     .heads = 8, .max_len = 4096, .rotary_fraction = 0.8, .note = kStreamingEncoder},
    {.model_type = "lille-130m", .class_name = "Lille130mConfig", .source = kMlx,
     .pairing = Pairing::kInterleaved, .max_len = 2048},
    {.model_type = "afm7", .class_name = "AFM7Config", .source = kMlx, .pairing = Pairing::kInterleaved,
     .max_len = 65536, .base = 50000},
    {.model_type = "qwen2_5_omni_dit", .class_name = "Qwen2_5OmniDiTConfig",
     .pairing = Pairing::kInterleaved, .hidden_size = 1024, .heads = 16, .head_dim = 64, .max_len = 32768,
     .note = "only the first head of each block rotates"},
};

}  // namespace

std::span<const ModelFamily> InterleavedFamilies() { return kRows; }

}  // namespace posenc
