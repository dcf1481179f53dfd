// Families without any positional table.

#include "server/models/families/family_rows.h"

namespace posenc {
namespace {

using enum PositionRule;

constexpr absl::string_view kNoPositions = "its latent attention carries no positions";
constexpr absl::string_view kInklingBias =
    "every layer adds a bias by distance that a trained matrix makes of hidden states: no table can hold it";

constexpr ModelFamily kRows[] = {
    {.model_type = "falcon_mamba", .class_name = "FalconMambaConfig", .rule = kNone},
    {.model_type = "jamba", .class_name = "JambaConfig", .rule = kNone},
    {.model_type = "mamba", .class_name = "MambaConfig", .rule = kNone},
    {.model_type = "mamba2", .class_name = "Mamba2Config", .rule = kNone},
    {.model_type = "nemotron_h", .class_name = "NemotronHConfig", .rule = kNone},
    {.model_type = "rwkv", .class_name = "RwkvConfig", .rule = kNone},
    {.model_type = "zamba", .class_name = "ZambaConfig", .rule = kNone},
    {.model_type = "kimi_linear", .class_name = "KimiLinearConfig", .source = kMlx, .rule = kNone,
     .nope_key = "mla_use_nope", .note = kNoPositions},
    {.model_type = "nemotron_h_moe", .class_name = "NemotronHConfig", .rule = kNone},
    {.model_type = "rwkv7", .class_name = "Rwkv7Config", .rule = kNone},
    {.model_type = "moshi_depth", .class_name = "MoshiDepthConfig", .rule = kNone},
    {.model_type = "moonshine_streaming_encoder", .class_name = "MoonshineStreamingEncoderConfig",
     .rule = kNone},
    {.model_type = "inkling", .class_name = "InklingTextConfig", .rule = kNone, .note = kInklingBias},
    {.model_type = "t5gemma", .class_name = "T5GemmaConfig", .rule = kInParts},
    {.model_type = "dia", .class_name = "DiaConfig", .rule = kInParts},
    {.model_type = "encoder-decoder", .class_name = "EncoderDecoderConfig", .rule = kInParts},
    {.model_type = "vision-encoder-decoder", .class_name = "VisionEncoderDecoderConfig", .rule = kInParts},
    {.model_type = "speech-encoder-decoder", .class_name = "SpeechEncoderDecoderConfig", .rule = kInParts},
    {.model_type = "musicgen", .class_name = "MusicgenConfig", .rule = kInParts},
    {.model_type = "rag", .class_name = "RagConfig", .rule = kInParts},
    {.model_type = "clvp", .class_name = "ClvpConfig", .rule = kInParts},
    {.model_type = "lasr_ctc", .class_name = "LasrCTCConfig", .rule = kInParts},
    {.model_type = "pe_audio", .class_name = "PeAudioConfig", .rule = kInParts},
    {.model_type = "pe_video", .class_name = "PeVideoConfig", .rule = kInParts},
    {.model_type = "pe_audio_video", .class_name = "PeAudioVideoConfig", .rule = kInParts},
    {.model_type = "qwen2_5_omni_token2wav", .class_name = "Qwen2_5OmniToken2WavConfig", .rule = kInParts},
    {.model_type = "kimi_k3", .class_name = "KimiK3Config", .source = kVllm, .rule = kNone,
     .nope_key = "mla_use_nope", .note = kNoPositions},
    {.model_type = "t5gemma2", .class_name = "T5Gemma2Config", .rule = kInParts},
    {.model_type = "phi4flash", .class_name = "Phi4FlashConfig", .source = kRemote, .rule = kNone},
};

}  // namespace

std::span<const ModelFamily> WithoutFamilies() { return kRows; }

}  // namespace posenc
