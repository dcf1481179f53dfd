#include "server/models/model_families.h"

#include "absl/strings/match.h"
#include "absl/strings/strip.h"

namespace posenc {
namespace {

using enum PositionRule;

constexpr absl::string_view kNopeEveryFourth =
    "every fourth layer has no rotation (no_rope_layers, no_rope_layer_interval)";
constexpr absl::string_view kSlidingOnly =
    "layers with full attention do not rotate where the model has sliding ones; the table is for the "
    "sliding ones";
constexpr absl::string_view kMrope = "mrope";

constexpr ModelFamily kFamilies[] = {
    {.model_type = "RefinedWeb", .class_name = "FalconConfig", .rule = kAlibiIfFlag, .hidden_size = 8192,
     .heads = 128, .max_len = 2048},
    {.model_type = "RefinedWebModel", .class_name = "FalconConfig", .rule = kAlibiIfFlag,
     .hidden_size = 4544, .heads = 71, .max_len = 2048},
    {.model_type = "apertus", .class_name = "ApertusConfig", .hidden_size = 4096, .heads = 32,
     .max_len = 65536, .base = 12e6, .default_scaling = "llama3"},
    {.model_type = "arcee", .class_name = "ArceeConfig", .hidden_size = 2560, .heads = 32, .max_len = 4096},
    {.model_type = "baichuan", .class_name = "BaichuanConfig", .rule = kAlibiIfWide, .hidden_size = 4096,
     .heads = 32, .max_len = 4096},
    {.model_type = "bart", .class_name = "BartConfig", .rule = kLearned},
    {.model_type = "bert", .class_name = "BertConfig", .rule = kLearned},
    {.model_type = "bitnet", .class_name = "BitNetConfig", .hidden_size = 2560, .heads = 20,
     .max_len = 2048, .base = 5e5},
    {.model_type = "bloom", .class_name = "BloomConfig", .rule = kAlibi, .heads = 8},
    {.model_type = "chatglm", .class_name = "ChatGLMConfig", .pairing = Pairing::kInterleaved,
     .hidden_size = 4096, .heads = 32, .head_dim = 128, .max_len = 2048, .rotary_fraction = 0.5,
     .interleaved_key = "original_rope", .base_ratio_key = "rope_ratio"},
    {.model_type = "codegen", .class_name = "CodeGenConfig", .pairing = Pairing::kInterleaved,
     .hidden_size = 4096, .heads = 16, .max_len = 2048, .rotary_dim = 64},
    {.model_type = "cohere", .class_name = "CohereConfig", .pairing = Pairing::kInterleaved,
     .hidden_size = 8192, .heads = 64, .max_len = 8192, .base = 5e5},
    {.model_type = "cohere2", .class_name = "Cohere2Config", .pairing = Pairing::kInterleaved,
     .hidden_size = 8192, .heads = 64, .max_len = 8192, .note = kSlidingOnly},
    {.model_type = "cwm", .class_name = "CwmConfig", .hidden_size = 6144, .heads = 48, .head_dim = 128,
     .max_len = 131072, .base = 1e6, .default_scaling = "llama3"},
    {.model_type = "dbrx", .class_name = "DbrxConfig", .hidden_size = 2048, .heads = 16, .max_len = 2048,
     .base_parent_key = "attn_config"},
    {.model_type = "deepseek_v2", .class_name = "DeepseekV2Config", .pairing = Pairing::kInterleaved,
     .head_dim = 64, .max_len = 2048, .mla = true},
    {.model_type = "deepseek_v3", .class_name = "DeepseekV3Config", .pairing = Pairing::kInterleaved,
     .head_dim = 64, .max_len = 4096, .interleaved_key = "rope_interleave", .mla = true},
    {.model_type = "diffllama", .class_name = "DiffLlamaConfig", .hidden_size = 2048, .heads = 32,
     .max_len = 2048},
    {.model_type = "ernie4_5", .class_name = "Ernie4_5Config", .pairing = Pairing::kInterleaved,
     .hidden_size = 1024, .heads = 16, .head_dim = 128, .max_len = 131072, .base = 5e5},
    {.model_type = "ernie4_5_moe", .class_name = "Ernie4_5_MoeConfig", .pairing = Pairing::kInterleaved,
     .hidden_size = 2560, .heads = 20, .max_len = 131072, .base = 5e5},
    {.model_type = "exaone4", .class_name = "Exaone4Config", .hidden_size = 4096, .heads = 32,
     .max_len = 2048, .note = kSlidingOnly},
    {.model_type = "exaone", .class_name = "ExaoneConfig", .hidden_size = 4096, .heads = 32,
     .max_len = 2048},
    {.model_type = "falcon", .class_name = "FalconConfig", .rule = kAlibiIfFlag, .hidden_size = 4544,
     .heads = 71, .max_len = 2048},
    {.model_type = "falcon_mamba", .class_name = "FalconMambaConfig", .rule = kNone},
    {.model_type = "gemma", .class_name = "GemmaConfig", .hidden_size = 3072, .heads = 16,
     .head_dim = 256, .max_len = 8192},
    {.model_type = "gemma2", .class_name = "Gemma2Config", .hidden_size = 2304, .heads = 8,
     .head_dim = 256, .max_len = 8192},
    {.model_type = "gemma3", .class_name = "Gemma3TextConfig", .hidden_size = 2304, .heads = 8,
     .head_dim = 256, .max_len = 131072, .base = 1e6, .sliding_table = true, .sliding_base = 1e4},
    {.model_type = "gemma3n", .class_name = "Gemma3nTextConfig", .hidden_size = 2048, .heads = 8,
     .head_dim = 256, .max_len = 32768, .base = 1e6, .sliding_table = true, .sliding_base = 1e4},
    {.model_type = "gemma4", .class_name = "Gemma4TextConfig", .hidden_size = 2304, .heads = 8,
     .head_dim = 256, .max_len = 131072, .base = 1e6, .default_scaling = "proportional",
     .full_head_dim_key = "global_head_dim", .full_head_dim = 512, .sliding_table = true,
     .sliding_base = 1e4},
    {.model_type = "glm", .class_name = "GlmConfig", .pairing = Pairing::kInterleaved,
     .hidden_size = 4096, .heads = 32, .head_dim = 128, .max_len = 131072, .rotary_fraction = 0.5},
    {.model_type = "glm4", .class_name = "Glm4Config", .pairing = Pairing::kInterleaved,
     .hidden_size = 4096, .heads = 32, .head_dim = 128, .max_len = 131072, .rotary_fraction = 0.5},
    {.model_type = "glm4_moe", .class_name = "Glm4MoeConfig", .max_len = 131072,
     .rotary_fraction = 0.5},
    {.model_type = "glm4v", .class_name = "Glm4vTextConfig", .pairing = Pairing::kInterleaved,
     .hidden_size = 4096, .heads = 32, .max_len = 32768, .rotary_fraction = 0.5,
     .default_scaling = kMrope},
    {.model_type = "gpt2", .class_name = "GPT2Config", .rule = kLearned},
    {.model_type = "gpt_bigcode", .class_name = "GPTBigCodeConfig", .rule = kLearned},
    {.model_type = "gpt_neo", .class_name = "GPTNeoConfig", .rule = kLearned},
    {.model_type = "gpt_neox", .class_name = "GPTNeoXConfig", .hidden_size = 6144, .heads = 64,
     .max_len = 2048, .rotary_fraction = 0.25},
    {.model_type = "gpt_neox_japanese", .class_name = "GPTNeoXJapaneseConfig", .hidden_size = 2560,
     .heads = 32, .max_len = 2048},
    {.model_type = "gpt_oss", .class_name = "GptOssConfig", .hidden_size = 2880, .heads = 64,
     .head_dim = 64, .max_len = 131072, .base = 150000, .default_scaling = "yarn"},
    {.model_type = "gptj", .class_name = "GPTJConfig", .pairing = Pairing::kInterleaved,
     .hidden_size = 4096, .heads = 16, .max_len = 2048, .rotary_dim = 64},
    {.model_type = "granite", .class_name = "GraniteConfig", .hidden_size = 4096, .heads = 32,
     .max_len = 2048},
    {.model_type = "granitemoe", .class_name = "GraniteMoeConfig", .hidden_size = 4096, .heads = 32,
     .max_len = 2048},
    {.model_type = "helium", .class_name = "HeliumConfig", .pairing = Pairing::kInterleaved,
     .hidden_size = 2560, .heads = 20, .head_dim = 128, .max_len = 4096, .base = 1e5},
    {.model_type = "internlm", .class_name = "InternLMConfig", .hidden_size = 4096, .heads = 32,
     .max_len = 2048},
    {.model_type = "internlm2", .class_name = "InternLM2Config", .hidden_size = 4096, .heads = 32,
     .max_len = 2048},
    {.model_type = "jamba", .class_name = "JambaConfig", .rule = kNone},
    {.model_type = "lfm2", .class_name = "Lfm2Config", .hidden_size = 2560, .heads = 32,
     .max_len = 128000, .base = 1e6},
    {.model_type = "llama", .class_name = "LlamaConfig", .hidden_size = 4096, .heads = 32,
     .max_len = 2048},
    {.model_type = "llama4", .class_name = "Llama4TextConfig", .pairing = Pairing::kInterleaved,
     .hidden_size = 5120, .heads = 40, .head_dim = 128, .max_len = 131072, .base = 5e5,
     .note = kNopeEveryFourth},
    {.model_type = "longt5", .class_name = "LongT5Config", .rule = kRelativeBuckets},
    {.model_type = "mamba", .class_name = "MambaConfig", .rule = kNone},
    {.model_type = "mamba2", .class_name = "Mamba2Config", .rule = kNone},
    {.model_type = "mbart", .class_name = "MBartConfig", .rule = kLearned},
    {.model_type = "minicpm", .class_name = "MiniCPMConfig", .hidden_size = 4096, .heads = 32,
     .max_len = 2048},
    {.model_type = "minicpm3", .class_name = "MiniCPM3Config", .head_dim = 32, .max_len = 32768,
     .mla = true},
    {.model_type = "mistral", .class_name = "MistralConfig", .hidden_size = 4096, .heads = 32,
     .max_len = 131072},
    {.model_type = "mixtral", .class_name = "MixtralConfig", .hidden_size = 4096, .heads = 32,
     .max_len = 131072, .base = 1e6},
    {.model_type = "mllama", .class_name = "MllamaTextConfig", .hidden_size = 4096, .heads = 32,
     .max_len = 131072, .base = 5e5},
    {.model_type = "modernbert", .class_name = "ModernBertConfig", .hidden_size = 768, .heads = 12,
     .max_len = 8192, .base = 160000, .sliding_table = true, .sliding_base = 1e4,
     .sliding_scaled = true},
    {.model_type = "mpt", .class_name = "MptConfig", .rule = kAlibiIfAttnFlag, .heads = 16,
     .max_len = 2048},
    {.model_type = "mt5", .class_name = "MT5Config", .rule = kRelativeBuckets},
    {.model_type = "nemotron", .class_name = "NemotronConfig", .hidden_size = 6144, .heads = 48,
     .max_len = 4096, .rotary_fraction = 0.5},
    {.model_type = "nomic_bert", .class_name = "NomicBertConfig", .hidden_size = 768, .heads = 12,
     .max_len = 2048, .base = 1000, .interleaved_key = "rotary_emb_interleaved"},
    {.model_type = "olmo", .class_name = "OlmoConfig", .hidden_size = 4096, .heads = 32,
     .max_len = 2048},
    {.model_type = "olmo2", .class_name = "Olmo2Config", .hidden_size = 4096, .heads = 32,
     .max_len = 2048},
    {.model_type = "olmo3", .class_name = "Olmo3Config", .hidden_size = 4096, .heads = 32,
     .max_len = 2048, .base = 5e5, .sliding_table = true},
    {.model_type = "olmoe", .class_name = "OlmoeConfig", .hidden_size = 2048, .heads = 16,
     .max_len = 4096},
    {.model_type = "opt", .class_name = "OPTConfig", .rule = kLearned},
    {.model_type = "persimmon", .class_name = "PersimmonConfig", .hidden_size = 4096, .heads = 64,
     .max_len = 16384, .base = 25000, .rotary_fraction = 0.5},
    {.model_type = "phi", .class_name = "PhiConfig", .hidden_size = 2048, .heads = 32, .max_len = 2048,
     .rotary_fraction = 0.5},
    {.model_type = "phi3", .class_name = "Phi3Config", .hidden_size = 3072, .heads = 32,
     .max_len = 4096},
    {.model_type = "phimoe", .class_name = "PhimoeConfig", .hidden_size = 4096, .heads = 32,
     .max_len = 131072, .base = 1e6},
    {.model_type = "qwen", .class_name = "QWenConfig", .hidden_size = 4096, .heads = 32,
     .head_dim = 128, .max_len = 8192},
    {.model_type = "qwen2", .class_name = "Qwen2Config", .hidden_size = 4096, .heads = 32,
     .max_len = 32768},
    {.model_type = "qwen2_5_vl", .class_name = "Qwen2_5_VLTextConfig", .hidden_size = 8192, .heads = 64,
     .max_len = 32768, .base = 1e6, .default_scaling = kMrope},
    {.model_type = "qwen2_moe", .class_name = "Qwen2MoeConfig", .hidden_size = 2048, .heads = 16,
     .max_len = 32768},
    {.model_type = "qwen2_vl", .class_name = "Qwen2VLTextConfig", .hidden_size = 8192, .heads = 64,
     .max_len = 32768, .base = 1e6, .default_scaling = kMrope},
    {.model_type = "qwen3", .class_name = "Qwen3Config", .hidden_size = 4096, .heads = 32,
     .head_dim = 128, .max_len = 32768},
    {.model_type = "qwen3_5", .class_name = "Qwen3_5TextConfig", .hidden_size = 4096, .heads = 16,
     .head_dim = 256, .max_len = 32768, .rotary_fraction = 0.25, .default_scaling = kMrope},
    {.model_type = "qwen3_moe", .class_name = "Qwen3MoeConfig", .hidden_size = 2048, .heads = 32,
     .max_len = 32768},
    {.model_type = "qwen3_next", .class_name = "Qwen3NextConfig", .hidden_size = 2048, .heads = 16,
     .head_dim = 256, .max_len = 32768, .rotary_fraction = 0.25,
     .note = "layers with linear attention do not rotate"},
    {.model_type = "qwen3_vl", .class_name = "Qwen3VLTextConfig", .hidden_size = 4096, .heads = 32,
     .head_dim = 128, .max_len = 128000, .base = 5e5, .default_scaling = kMrope},
    {.model_type = "recurrent_gemma", .class_name = "RecurrentGemmaConfig", .hidden_size = 2560,
     .heads = 10, .rotary_fraction = 0.5},
    {.model_type = "refact", .class_name = "GPTRefactConfig", .rule = kAlibi},
    {.model_type = "roberta", .class_name = "RobertaConfig", .rule = kLearned},
    {.model_type = "seed_oss", .class_name = "SeedOssConfig", .hidden_size = 4096, .heads = 80,
     .head_dim = 128, .max_len = 524288},
    {.model_type = "smollm3", .class_name = "SmolLM3Config", .hidden_size = 2048, .heads = 16,
     .max_len = 32768, .base = 2e6, .note = kNopeEveryFourth},
    {.model_type = "stablelm", .class_name = "StableLmConfig", .hidden_size = 2560, .heads = 32,
     .max_len = 4096, .rotary_fraction = 0.25},
    {.model_type = "starcoder2", .class_name = "Starcoder2Config", .hidden_size = 3072, .heads = 24,
     .max_len = 4096},
    {.model_type = "switch_transformers", .class_name = "SwitchTransformersConfig",
     .rule = kRelativeBuckets},
    {.model_type = "t5", .class_name = "T5Config", .rule = kRelativeBuckets},
    {.model_type = "umt5", .class_name = "UMT5Config", .rule = kRelativeBuckets},
    {.model_type = "whisper", .class_name = "WhisperConfig", .rule = kSinusoidal, .hidden_size = 384,
     .max_len = 1500, .frequency_shift = 1,
     .note = "the table is the encoder's; the decoder's positions are learned, among the weights"},
    {.model_type = "xverse", .class_name = "XverseConfig", .hidden_size = 4096, .heads = 32,
     .max_len = 2048},
};

constexpr ModelFamily kUnknown = {};

constexpr absl::string_view kHiddenSizeKeys[] = {"hidden_size", "n_embd", "d_model"};
constexpr absl::string_view kHeadsKeys[] = {"num_attention_heads", "n_head", "n_heads", "num_heads"};
constexpr absl::string_view kHeadDimKeys[] = {"head_dim", "kv_channels"};
constexpr absl::string_view kMlaHeadDimKeys[] = {"qk_rope_head_dim"};
constexpr absl::string_view kMaxLenKeys[] = {"max_position_embeddings", "n_positions", "max_seq_len",
                                             "seq_length", "max_sequence_length", "model_max_length"};
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
    {"no_rope_layers", "lists the layers that do not rotate"},
    {"attn_temperature_tuning", "queries are also scaled by their position; the table does not hold that"},
};

}  // namespace

const ModelFamily* FindFamily(absl::string_view model_type) {
  absl::ConsumeSuffix(&model_type, "_model");
  absl::ConsumeSuffix(&model_type, "_text");
  for (const ModelFamily& family : kFamilies) {
    if (family.model_type == model_type) return &family;
  }
  return nullptr;
}

const ModelFamily& UnknownFamily() { return kUnknown; }

std::span<const ModelFamily> AllFamilies() { return kFamilies; }

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
