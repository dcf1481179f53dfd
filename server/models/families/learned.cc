// Families that add a learned table to their input and have nothing else: encoders of BERT's kind, text models of
// models of pictures.

#include "server/models/families/family_rows.h"

namespace posenc {
namespace {

using enum PositionRule;

constexpr absl::string_view kClipText = "text_model.embeddings.position_embedding.weight";

constexpr absl::string_view kBoxes =
    "the corners and sides of boxes have learned tables of their own: x_, y_, h_ and w_position_embeddings";
constexpr absl::string_view kBoxesAndBuckets =
    "the corners and sides of boxes have learned tables of their own: x_, y_, h_ and w_position_embeddings; with "
    "has_relative_attention_bias layers add learned biases by distance, with has_spatial_attention_bias by place";

constexpr ModelFamily kRows[] = {
    {.model_type = "aimv2_text_model", .class_name = "Aimv2TextConfig", .rule = kLearned, .hidden_size = 768,
     .max_len = 77, .tensor = kClipText},
    {.model_type = "albert", .class_name = "AlbertConfig", .rule = kLearned, .hidden_size = 4096,
     .max_len = 512, .tensor = kBertTensor},
    {.model_type = "align_text_model", .class_name = "AlignTextConfig", .rule = kLearned, .hidden_size = 768,
     .max_len = 512, .tensor = kBertTensor},
    {.model_type = "altclip_text_model", .class_name = "AltCLIPTextConfig", .rule = kLearned,
     .hidden_size = 1024, .max_len = 514, .tensor = kBertTensor, .padding_offset = true},
    {.model_type = "bert-generation", .class_name = "BertGenerationConfig", .rule = kLearned,
     .hidden_size = 1024, .max_len = 512, .tensor = kBertTensor},
    {.model_type = "blip_2_qformer", .class_name = "Blip2QFormerConfig", .rule = kLearned, .hidden_size = 768,
     .max_len = 512, .tensor = kBertTensor},
    {.model_type = "blip_text_model", .class_name = "BlipTextConfig", .rule = kLearned, .hidden_size = 768,
     .max_len = 512, .tensor = kBertTensor},
    {.model_type = "bridgetower_text_model", .class_name = "BridgeTowerTextConfig", .rule = kLearned,
     .hidden_size = 768, .max_len = 514, .tensor = kBertTensor, .padding_offset = true},
    {.model_type = "canine", .class_name = "CanineConfig", .rule = kLearned, .hidden_size = 768,
     .max_len = 16384, .tensor = "char_embeddings.char_position_embeddings.weight"},
    {.model_type = "chinese_clip_text_model", .class_name = "ChineseCLIPTextConfig", .rule = kLearned,
     .hidden_size = 768, .max_len = 512, .tensor = kClipText},
    {.model_type = "clap_text_model", .class_name = "ClapTextConfig", .rule = kLearned, .hidden_size = 768,
     .max_len = 514, .tensor = kBertTensor, .padding_offset = true},
    {.model_type = "clip_text_model", .class_name = "CLIPTextConfig", .rule = kLearned, .hidden_size = 512,
     .max_len = 77, .tensor = kClipText},
    {.model_type = "clipseg_text_model", .class_name = "CLIPSegTextConfig", .rule = kLearned,
     .hidden_size = 512, .max_len = 77, .tensor = kClipText},
    {.model_type = "cohere_asr", .class_name = "CohereAsrConfig", .rule = kLearned, .hidden_size = 1024,
     .max_len = 1024, .tensor = kBertTensor},
    {.model_type = "convbert", .class_name = "ConvBertConfig", .rule = kLearned, .hidden_size = 768,
     .max_len = 512, .tensor = kBertTensor},
    {.model_type = "decision_transformer", .class_name = "DecisionTransformerConfig", .rule = kLearned,
     .hidden_size = 128, .max_len = 1024, .tensor = kBertTensor},
    {.model_type = "flava_text_model", .class_name = "FlavaTextConfig", .rule = kLearned, .hidden_size = 768,
     .max_len = 512, .tensor = kBertTensor},
    {.model_type = "fnet", .class_name = "FNetConfig", .rule = kLearned, .hidden_size = 768, .max_len = 512,
     .tensor = kBertTensor},
    {.model_type = "git", .class_name = "GitConfig", .rule = kLearned, .hidden_size = 768, .max_len = 1024,
     .tensor = kClipText},
    {.model_type = "groupvit_text_model", .class_name = "GroupViTTextConfig", .rule = kLearned,
     .hidden_size = 256, .max_len = 77, .tensor = kClipText},
    {.model_type = "ibert", .class_name = "IBertConfig", .rule = kLearned, .hidden_size = 768, .max_len = 512,
     .tensor = kBertTensor, .padding_offset = true},
    {.model_type = "imagegpt", .class_name = "ImageGPTConfig", .rule = kLearned, .tensor = kBertTensor},
    {.model_type = "instructblip_qformer", .class_name = "InstructBlipQFormerConfig", .rule = kLearned,
     .hidden_size = 768, .max_len = 512, .tensor = kBertTensor},
    {.model_type = "instructblipvideo_qformer", .class_name = "InstructBlipVideoQFormerConfig",
     .rule = kLearned, .hidden_size = 768, .max_len = 512, .tensor = kBertTensor},
    {.model_type = "layoutlm", .class_name = "LayoutLMConfig", .rule = kLearned, .hidden_size = 768,
     .max_len = 512, .tensor = kBertTensor, .note = kBoxes},
    {.model_type = "layoutlmv2", .class_name = "LayoutLMv2Config", .rule = kLearned, .hidden_size = 768,
     .max_len = 512, .tensor = kBertTensor, .note = kBoxesAndBuckets},
    {.model_type = "layoutlmv3", .class_name = "LayoutLMv3Config", .rule = kLearned, .hidden_size = 768,
     .max_len = 512, .tensor = kBertTensor, .padding_offset = true, .note = kBoxesAndBuckets},
    {.model_type = "lilt", .class_name = "LiltConfig", .rule = kLearned, .hidden_size = 768, .max_len = 512,
     .tensor = kBertTensor, .padding_offset = true},
    {.model_type = "luke", .class_name = "LukeConfig", .rule = kLearned, .hidden_size = 768, .max_len = 512,
     .tensor = kBertTensor, .padding_offset = true},
    {.model_type = "lxmert", .class_name = "LxmertConfig", .rule = kLearned, .hidden_size = 768,
     .max_len = 512, .tensor = kBertTensor},
    {.model_type = "markuplm", .class_name = "MarkupLMConfig", .rule = kLearned, .hidden_size = 768,
     .max_len = 512, .tensor = kBertTensor, .padding_offset = true},
    {.model_type = "megatron-bert", .class_name = "MegatronBertConfig", .rule = kLearned, .hidden_size = 1024,
     .max_len = 512, .tensor = kBertTensor},
    {.model_type = "metaclip_2_text_model", .class_name = "MetaClip2TextConfig", .rule = kLearned,
     .hidden_size = 512, .max_len = 77, .tensor = kClipText},
    {.model_type = "mra", .class_name = "MraConfig", .rule = kLearned, .hidden_size = 768, .max_len = 512,
     .tensor = kBertTensor, .position_offset = 2},
    {.model_type = "nystromformer", .class_name = "NystromformerConfig", .rule = kLearned, .hidden_size = 768,
     .max_len = 510, .tensor = kBertTensor, .position_offset = 2},
    {.model_type = "owlv2_text_model", .class_name = "Owlv2TextConfig", .rule = kLearned, .hidden_size = 512,
     .max_len = 16, .tensor = kClipText},
    {.model_type = "owlvit_text_model", .class_name = "OwlViTTextConfig", .rule = kLearned,
     .hidden_size = 512, .max_len = 16, .tensor = kClipText},
    {.model_type = "roc_bert", .class_name = "RoCBertConfig", .rule = kLearned, .hidden_size = 768,
     .max_len = 512, .tensor = kBertTensor},
    {.model_type = "siglip2_text_model", .class_name = "Siglip2TextConfig", .rule = kLearned,
     .hidden_size = 768, .max_len = 64, .tensor = kClipText},
    {.model_type = "siglip_text_model", .class_name = "SiglipTextConfig", .rule = kLearned,
     .hidden_size = 768, .max_len = 64, .tensor = kClipText},
    {.model_type = "splinter", .class_name = "SplinterConfig", .rule = kLearned, .hidden_size = 768,
     .max_len = 512, .tensor = kBertTensor},
    {.model_type = "squeezebert", .class_name = "SqueezeBertConfig", .rule = kLearned, .hidden_size = 768,
     .max_len = 512, .tensor = kBertTensor},
    {.model_type = "tapas", .class_name = "TapasConfig", .rule = kLearned, .hidden_size = 768,
     .max_len = 1024, .tensor = kBertTensor},
    {.model_type = "tvp", .class_name = "TvpConfig", .rule = kLearned, .hidden_size = 768, .max_len = 512,
     .tensor = kBertTensor},
    {.model_type = "vilt", .class_name = "ViltConfig", .rule = kLearned, .hidden_size = 768, .max_len = 40,
     .tensor = kBertTensor},
    {.model_type = "visual_bert", .class_name = "VisualBertConfig", .rule = kLearned, .hidden_size = 768,
     .max_len = 512, .tensor = kBertTensor},
    {.model_type = "xclip_text_model", .class_name = "XCLIPTextConfig", .rule = kLearned, .hidden_size = 512,
     .max_len = 77, .tensor = kClipText},
    {.model_type = "xmod", .class_name = "XmodConfig", .rule = kLearned, .hidden_size = 768, .max_len = 512,
     .tensor = kBertTensor, .padding_offset = true},
    {.model_type = "yoso", .class_name = "YosoConfig", .rule = kLearned, .hidden_size = 768, .max_len = 4096,
     .tensor = kBertTensor, .position_offset = 2},
    {.model_type = "clvp_decoder", .class_name = "ClvpDecoderConfig", .rule = kLearned, .hidden_size = 1024,
     .max_len = 608, .tensor = "decoder.position_embeds_layer.weight"},
};

}  // namespace

std::span<const ModelFamily> LearnedFamilies() { return kRows; }

}  // namespace posenc
