// Families whose class scales the rotation where the file says nothing.

#include "server/models/families/family_rows.h"

namespace posenc {
namespace {

constexpr absl::string_view kApertusLlama3 =
    R"({"rope_type": "llama3", "rope_theta": 12000000.0, "factor": 8.0, "low_freq_factor": 1.0,
        "high_freq_factor": 4.0, "original_max_position_embeddings": 8192})";
constexpr absl::string_view kCwmLlama3 =
    R"({"rope_type": "llama3", "factor": 16.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192})";
constexpr absl::string_view kGptOssYarn =
    R"({"rope_type": "yarn", "factor": 32.0, "beta_fast": 32.0, "beta_slow": 1.0, "truncate": false,
        "original_max_position_embeddings": 4096})";
constexpr absl::string_view kMinistral3Yarn =
    R"({"rope_type": "yarn", "rope_theta": 1000000.0, "factor": 16.0, "beta_fast": 32.0, "beta_slow": 1.0,
        "original_max_position_embeddings": 16384, "mscale": 1.0, "mscale_all_dim": 1.0,
        "llama_4_scaling_beta": 0.1})";

constexpr absl::string_view kHiggsLlama3 =
    R"({"rope_type": "llama3", "factor": 32.0, "low_freq_factor": 0.125, "high_freq_factor": 0.5,
        "original_max_position_embeddings": 1024})";
constexpr ModelFamily kRows[] = {
    {.model_type = "apertus", .class_name = "ApertusConfig", .hidden_size = 4096, .heads = 32,
     .max_len = 65536, .base = 12e6, .default_block = kApertusLlama3},
    {.model_type = "cwm", .class_name = "CwmConfig", .hidden_size = 6144, .heads = 48, .head_dim = 128,
     .max_len = 131072, .base = 1e6, .default_block = kCwmLlama3},
    {.model_type = "gpt_oss", .class_name = "GptOssConfig", .hidden_size = 2880, .heads = 64, .head_dim = 64,
     .max_len = 131072, .base = 150000, .default_block = kGptOssYarn},
    {.model_type = "ministral3", .class_name = "Ministral3Config", .hidden_size = 4096, .heads = 32,
     .head_dim = 128, .max_len = 262144, .base = 1e6, .default_block = kMinistral3Yarn},
    {.model_type = "higgs_audio_v2", .class_name = "HiggsAudioV2Config", .hidden_size = 3072, .heads = 24,
     .head_dim = 128, .max_len = 2048, .base = 5e5, .default_block = kHiggsLlama3},
    {.model_type = "openai_privacy_filter", .class_name = "OpenAIPrivacyFilterConfig",
     .pairing = Pairing::kInterleaved, .hidden_size = 640, .heads = 14, .head_dim = 64, .max_len = 131072,
     .base = 150000, .default_block = kGptOssYarn},
};

}  // namespace

std::span<const ModelFamily> ScaledFamilies() { return kRows; }

}  // namespace posenc
