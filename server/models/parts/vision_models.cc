#include "server/models/parts/vision_models.h"

#include "absl/strings/strip.h"

namespace posenc {
namespace {

using enum VisionRule;

constexpr absl::string_view kAlsoLearned =
    "the vision model also adds a learned grid, pos_embed.weight, interpolated to the picture";
constexpr absl::string_view kClipTensor = "vision_model.embeddings.position_embedding.weight";
constexpr absl::string_view kViTTensor = "embeddings.position_embeddings";
constexpr absl::string_view kClassFirst = "the first row is the class token's";
constexpr absl::string_view kWhole =
    "the picture's grid is resized (bicubic) from the table's where it has another size";

constexpr VisionModel kModels[] = {
    {.model_type = "clip", .class_name = "CLIPVisionConfig", .rule = kLearned, .tensor = kClipTensor,
     .note = kClassFirst},
    {.model_type = "dinov2", .class_name = "Dinov2Config", .rule = kLearned, .tensor = kViTTensor,
     .note = kWhole},
    {.model_type = "dinov3_vit", .class_name = "DINOv3ViTConfig", .rule = kCentred, .hidden_size = 384,
     .heads = 6, .image_size = 224, .patch_size = 16, .base = 100},
    {.model_type = "gemma3", .class_name = "SiglipVisionConfig", .rule = kLearned, .tensor = kClipTensor},
    {.model_type = "gemma4", .class_name = "Gemma4VisionConfig", .rule = kOwnHalves, .hidden_size = 768,
     .heads = 12, .base = 100},
    {.model_type = "glm4v", .class_name = "Glm4vVisionConfig", .hidden_size = 1536, .heads = 12,
     .note = "the vision model also adds a learned grid, interpolated (bicubic) to the picture"},
    {.model_type = "glm4v_moe", .class_name = "Glm4vMoeVisionConfig", .hidden_size = 1536, .heads = 12,
     .note = "the vision model also adds a learned grid, interpolated (bicubic) to the picture"},
    {.model_type = "idefics3", .class_name = "Idefics3VisionConfig", .rule = kLearned, .tensor = kClipTensor},
    {.model_type = "llama4", .class_name = "Llama4VisionConfig", .rule = kColumns,
     .pairing = Pairing::kInterleaved, .hidden_size = 768, .heads = 16, .image_size = 448, .patch_size = 14,
     .note = "the vision model also adds a learned table, positional_embedding_vlm"},
    {.model_type = "mllama", .class_name = "MllamaVisionConfig", .rule = kNone,
     .note = "the vision model mixes learned tables of a tile and of all tiles by a learned gate"},
    {.model_type = "paddleocr_vl", .class_name = "PaddleOCRVisionConfig", .hidden_size = 1152, .heads = 16,
     .note = "the vision model also adds a learned grid, interpolated to the picture"},
    {.model_type = "pixtral", .class_name = "PixtralVisionConfig", .rule = kEvenOdd, .hidden_size = 1024,
     .heads = 16, .image_size = 1024, .patch_size = 16},
    {.model_type = "qwen2_5_omni", .class_name = "Qwen2_5OmniVisionEncoderConfig", .hidden_size = 3584,
     .heads = 16},
    {.model_type = "qwen2_5_vl", .class_name = "Qwen2_5_VLVisionConfig", .hidden_size = 3584, .heads = 16},
    {.model_type = "qwen2_5_omni_audio_encoder", .class_name = "Qwen2_5OmniAudioEncoderConfig",
     .rule = kEncoder, .hidden_size = 1280},
    {.model_type = "qwen2_audio_encoder", .class_name = "Qwen2AudioEncoderConfig", .rule = kEncoder,
     .hidden_size = 1280},
    {.model_type = "qwen2_vl", .class_name = "Qwen2VLVisionConfig", .hidden_size = 1280, .heads = 16},
    {.model_type = "qwen3_5", .class_name = "Qwen3_5VisionConfig", .hidden_size = 1152, .heads = 16,
     .note = kAlsoLearned},
    {.model_type = "qwen3_5_moe", .class_name = "Qwen3_5MoeVisionConfig", .hidden_size = 1152, .heads = 16,
     .note = kAlsoLearned},
    {.model_type = "qwen3_omni_moe_audio_encoder", .class_name = "Qwen3OmniMoeAudioEncoderConfig",
     .rule = kEncoder, .hidden_size = 1280},
    {.model_type = "qwen3_omni_moe_vision_encoder", .class_name = "Qwen3OmniMoeVisionEncoderConfig",
     .hidden_size = 1152, .heads = 16, .note = kAlsoLearned},
    {.model_type = "qwen3_vl", .class_name = "Qwen3VLVisionConfig", .hidden_size = 1152, .heads = 16,
     .note = kAlsoLearned},
    {.model_type = "qwen3_vl_moe", .class_name = "Qwen3VLMoeVisionConfig", .hidden_size = 1152, .heads = 16,
     .note = kAlsoLearned},
    {.model_type = "sam2_video", .class_name = "Sam2VideoConfig", .rule = kMemory,
     .pairing = Pairing::kInterleaved, .hidden_size = 256, .heads = 1},
    {.model_type = "sam3_tracker_video", .class_name = "Sam3TrackerVideoConfig", .rule = kMemory,
     .pairing = Pairing::kInterleaved, .hidden_size = 256, .heads = 1},
    {.model_type = "siglip", .class_name = "SiglipVisionConfig", .rule = kLearned, .tensor = kClipTensor},
    {.model_type = "siglip2", .class_name = "Siglip2VisionConfig", .rule = kLearned, .tensor = kClipTensor,
     .note = kWhole},
    {.model_type = "vit", .class_name = "ViTConfig", .rule = kLearned, .tensor = kViTTensor,
     .note = kClassFirst},
    {.model_type = "voxtral_encoder", .class_name = "VoxtralEncoderConfig", .rule = kEncoder,
     .hidden_size = 1280},
};

}  // namespace

const VisionModel* FindVisionModel(absl::string_view model_type) {
  const auto find = [](absl::string_view name) -> const VisionModel* {
    for (const VisionModel& model : kModels) {
      if (model.model_type == name) return &model;
    }
    return nullptr;
  };
  if (const VisionModel* model = find(model_type)) return model;
  absl::ConsumeSuffix(&model_type, "_model");
  absl::ConsumeSuffix(&model_type, "_vision");
  return find(model_type);
}

std::span<const VisionModel> AllVisionModels() { return kModels; }

}  // namespace posenc
