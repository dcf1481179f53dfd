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

constexpr absl::string_view kKimiVision =
    "the vision model also adds a learned grid, interpolated (bicubic), and sines and cosines of time";

constexpr absl::string_view kColumnsToo = "the columns have a learned table of their own, column_embedder.weight";
constexpr absl::string_view kRelativeToo =
    "where the file's class has them on, each block also adds learned biases by distance, rel_pos_h and rel_pos_w";

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
    {.model_type = "audioflamingo3_encoder", .class_name = "AudioFlamingo3EncoderConfig", .rule = kEncoder,
     .hidden_size = 1280},
    {.model_type = "qwen3_asr_encoder", .class_name = "Qwen3ASREncoderConfig", .rule = kEncoder,
     .hidden_size = 1280},
    {.model_type = "cohere_compass", .class_name = "CohereCompassVisionConfig", .hidden_size = 1152,
     .heads = 16, .note = kAlsoLearned},
    {.model_type = "DFNRope_vision_transformer", .class_name = "DFNRopeVisionTransformerConfig",
     .hidden_size = 1280, .heads = 16},
    {.model_type = "intern_vit_6b", .class_name = "InternVisionConfig", .rule = kLearned, .tensor = kViTTensor,
     .note = kClassFirst},
    {.model_type = "dots_vit", .class_name = "DotsVisionConfig", .hidden_size = 1536, .heads = 12},
    {.model_type = "dots_ocr", .class_name = "DotsVisionConfig", .hidden_size = 1536, .heads = 12},
    {.model_type = "edgetam_video", .class_name = "EdgeTamVideoConfig", .rule = kMemory,
     .pairing = Pairing::kInterleaved, .hidden_size = 256, .heads = 1},
    {.model_type = "eomt_dinov3", .class_name = "EomtDinov3Config", .rule = kCentred, .hidden_size = 1024,
     .heads = 16, .image_size = 640, .patch_size = 16, .base = 100},
    {.model_type = "ernie4_5_vl_moe", .class_name = "Ernie4_5_VLMoeVisionConfig", .hidden_size = 1280,
     .heads = 16},
    {.model_type = "exaone4_5", .class_name = "Exaone4_5_VisionConfig", .hidden_size = 3584, .heads = 16},
    {.model_type = "glm_ocr", .class_name = "GlmOcrVisionConfig", .hidden_size = 1024, .heads = 16},
    {.model_type = "kimi_k25", .class_name = "Kimi_K25VisionConfig", .hidden_size = 1152, .heads = 16,
     .note = kKimiVision},
    {.model_type = "mlcd", .class_name = "MLCDVisionConfig", .hidden_size = 1664, .heads = 16,
     .note = "the class token has learned angles of its own, class_pos_emb"},
    {.model_type = "sapiens2", .class_name = "Sapiens2Config", .rule = kCentred, .hidden_size = 1024,
     .heads = 16, .image_size = 1024, .patch_size = 16, .base = 100},
    {.model_type = "step3p5", .class_name = "Step3p7VisionConfig", .hidden_size = 1536, .heads = 16},
    {.model_type = "video_llama_3", .class_name = "VideoLlama3VisionConfig", .hidden_size = 768, .heads = 12},
    {.model_type = "align_vision_model", .class_name = "AlignVisionConfig", .rule = kLearned,
     .tensor = kViTTensor},
    {.model_type = "altclip_vision_model", .class_name = "AltCLIPVisionConfig", .rule = kLearned,
     .tensor = kClipTensor},
    {.model_type = "audio-spectrogram-transformer", .class_name = "ASTConfig", .rule = kLearned,
     .tensor = kViTTensor},
    {.model_type = "blip_2_vision_model", .class_name = "Blip2VisionConfig", .rule = kLearned,
     .tensor = kViTTensor},
    {.model_type = "blip_vision_model", .class_name = "BlipVisionConfig", .rule = kLearned,
     .tensor = kViTTensor},
    {.model_type = "bridgetower_vision_model", .class_name = "BridgeTowerVisionConfig", .rule = kLearned,
     .tensor = kViTTensor},
    {.model_type = "chinese_clip_vision_model", .class_name = "ChineseCLIPVisionConfig", .rule = kLearned,
     .tensor = kClipTensor},
    {.model_type = "clipseg_vision_model", .class_name = "CLIPSegVisionConfig", .rule = kLearned,
     .tensor = kClipTensor},
    {.model_type = "cosmos3_edge_vision", .class_name = "Cosmos3EdgeVisionConfig", .rule = kLearned,
     .tensor = kClipTensor},
    {.model_type = "deepseek_ocr2_vision", .class_name = "DeepseekOcr2VisionConfig", .rule = kLearned,
     .tensor = kViTTensor},
    {.model_type = "deit", .class_name = "DeiTConfig", .rule = kLearned, .tensor = kViTTensor},
    {.model_type = "dinov2_with_registers", .class_name = "Dinov2WithRegistersConfig", .rule = kLearned,
     .tensor = kViTTensor},
    {.model_type = "dpt", .class_name = "DPTConfig", .rule = kLearned, .tensor = kViTTensor},
    {.model_type = "eomt", .class_name = "EomtConfig", .rule = kLearned, .tensor = kViTTensor},
    {.model_type = "flava_image_model", .class_name = "FlavaImageConfig", .rule = kLearned,
     .tensor = kViTTensor},
    {.model_type = "flava_multimodal_model", .class_name = "FlavaMultimodalConfig", .rule = kLearned,
     .tensor = kViTTensor},
    {.model_type = "git_vision_model", .class_name = "GitVisionConfig", .rule = kLearned,
     .tensor = kClipTensor},
    {.model_type = "glm_image_vision", .class_name = "GlmImageVisionConfig", .rule = kLearned,
     .tensor = kViTTensor},
    {.model_type = "groupvit_vision_model", .class_name = "GroupViTVisionConfig", .rule = kLearned,
     .tensor = kViTTensor},
    {.model_type = "hiera", .class_name = "HieraConfig", .rule = kLearned, .tensor = kViTTensor},
    {.model_type = "hunyuan_vl_vision", .class_name = "HunYuanVLVisionConfig", .rule = kLearned,
     .tensor = kViTTensor},
    {.model_type = "idefics2_vision", .class_name = "Idefics2VisionConfig", .rule = kLearned,
     .tensor = kClipTensor},
    {.model_type = "ijepa", .class_name = "IJepaConfig", .rule = kLearned, .tensor = kViTTensor},
    {.model_type = "instructblip_vision_model", .class_name = "InstructBlipVisionConfig", .rule = kLearned,
     .tensor = kViTTensor},
    {.model_type = "instructblipvideo_vision_model", .class_name = "InstructBlipVideoVisionConfig", .rule = kLearned,
     .tensor = kViTTensor},
    {.model_type = "internvl_vision", .class_name = "InternVLVisionConfig", .rule = kLearned,
     .tensor = kViTTensor},
    {.model_type = "janus_vision_model", .class_name = "JanusVisionConfig", .rule = kLearned,
     .tensor = kViTTensor},
    {.model_type = "kosmos_2_vision_model", .class_name = "Kosmos2VisionConfig", .rule = kLearned,
     .tensor = kClipTensor},
    {.model_type = "lw_detr_vit", .class_name = "LwDetrViTConfig", .rule = kLearned, .tensor = kViTTensor},
    {.model_type = "metaclip_2_vision_model", .class_name = "MetaClip2VisionConfig", .rule = kLearned,
     .tensor = kClipTensor},
    {.model_type = "mgp-str", .class_name = "MgpstrConfig", .rule = kLearned, .tensor = kViTTensor},
    {.model_type = "minicpmv4_6_vision", .class_name = "MiniCPMV4_6VisionConfig", .rule = kLearned,
     .tensor = kClipTensor},
    {.model_type = "owlv2_vision_model", .class_name = "Owlv2VisionConfig", .rule = kLearned,
     .tensor = kViTTensor},
    {.model_type = "owlvit_vision_model", .class_name = "OwlViTVisionConfig", .rule = kLearned,
     .tensor = kViTTensor},
    {.model_type = "phi4_multimodal_vision", .class_name = "Phi4MultimodalVisionConfig", .rule = kLearned,
     .tensor = kClipTensor},
    {.model_type = "pixio", .class_name = "PixioConfig", .rule = kLearned, .tensor = kViTTensor},
    {.model_type = "pvt", .class_name = "PvtConfig", .rule = kLearned, .tensor = kViTTensor},
    {.model_type = "qianfan_ocr_vision", .class_name = "QianfanOCRVisionConfig", .rule = kLearned,
     .tensor = kViTTensor},
    {.model_type = "rf_detr_dinov2", .class_name = "RfDetrDinov2Config", .rule = kLearned,
     .tensor = kViTTensor},
    {.model_type = "smolvlm_vision", .class_name = "SmolVLMVisionConfig", .rule = kLearned,
     .tensor = kClipTensor},
    {.model_type = "timesformer", .class_name = "TimesformerConfig", .rule = kLearned, .tensor = kViTTensor},
    {.model_type = "tipsv2_vision_model", .class_name = "Tipsv2VisionConfig", .rule = kLearned,
     .tensor = kViTTensor},
    {.model_type = "videomt", .class_name = "VideomtConfig", .rule = kLearned, .tensor = kViTTensor},
    {.model_type = "videoprism_vision_model", .class_name = "VideoPrismVisionConfig", .rule = kLearned,
     .tensor = kViTTensor},
    {.model_type = "vit_msn", .class_name = "ViTMSNConfig", .rule = kLearned, .tensor = kViTTensor},
    {.model_type = "vitpose_backbone", .class_name = "VitPoseBackboneConfig", .rule = kLearned,
     .tensor = kViTTensor},
    {.model_type = "vivit", .class_name = "VivitConfig", .rule = kLearned, .tensor = kViTTensor},
    {.model_type = "xclip_vision_model", .class_name = "XCLIPVisionConfig", .rule = kLearned,
     .tensor = kClipTensor},
    {.model_type = "whisper", .class_name = "WhisperConfig", .rule = kEncoder, .hidden_size = 384},
    {.model_type = "DFNRope_vision_transformer", .class_name = "Ernie4_5_VLMoeVisionConfig", .hidden_size = 1280,
     .heads = 16},
    {.model_type = "molmo2", .class_name = "Molmo2VitConfig", .rule = kLearned,
     .tensor = "model.vision_backbone.image_vit.positional_embedding"},
    {.model_type = "idefics_vision", .class_name = "IdeficsVisionConfig", .rule = kLearned, .tensor = kClipTensor,
     .note = kClassFirst},
    {.model_type = "pix2struct_vision_model", .class_name = "Pix2StructVisionConfig", .rule = kLearned,
     .tensor = "encoder.embeddings.row_embedder.weight", .note = kColumnsToo},
    {.model_type = "kosmos_2_5_vision_model", .class_name = "Kosmos2_5VisionConfig", .rule = kLearned,
     .tensor = "vision_model.embeddings.row_embedder.weight", .note = kColumnsToo},
    {.model_type = "sam_vision_model", .class_name = "SamVisionConfig", .rule = kLearned,
     .tensor = "vision_encoder.pos_embed", .note = kRelativeToo},
    {.model_type = "sam_hq_vision_model", .class_name = "SamHQVisionConfig", .rule = kLearned,
     .tensor = "vision_encoder.pos_embed", .note = kRelativeToo},
    {.model_type = "deepseek_ocr2_sam_vision_model", .class_name = "DeepseekOcr2SamVisionConfig", .rule = kLearned,
     .tensor = "pos_embed", .note = kRelativeToo},
    {.model_type = "vitdet", .class_name = "VitDetConfig", .rule = kLearned, .tensor = kViTTensor,
     .note = kRelativeToo},
    {.model_type = "seggpt", .class_name = "SegGptConfig", .rule = kLearned, .tensor = kViTTensor,
     .note = kRelativeToo},
    {.model_type = "yolos", .class_name = "YolosConfig", .rule = kLearned, .tensor = kViTTensor},
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
  absl::ConsumeSuffix(&model_type, "_encoder");
  absl::ConsumeSuffix(&model_type, "_vision");
  return find(model_type);
}

std::span<const VisionModel> AllVisionModels() { return kModels; }

}  // namespace posenc
