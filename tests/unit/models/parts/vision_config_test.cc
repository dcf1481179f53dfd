// Tables of vision parts, audio parts and diffusers' models, one claim each.

#include <string>
#include <variant>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/models/model_config.h"
#include "server/models/parts/vision_models.h"
#include "tests/support/matchers.h"
#include "tests/unit/models/config_files.h"

namespace posenc {
namespace {

using ::testing::ElementsAre;

absl::StatusOr<ModelTables> Resolve(const std::string& text) { return ResolveModelConfig(text); }

const ModelTable& TableNamed(const absl::StatusOr<ModelTables>& model, const std::string& name) {
  for (const ModelTable& table : model.value().tables) {
    if (table.name == name) return table;
  }
  ADD_FAILURE() << "no table " << name;
  return model->tables.at(0);
}

RopeSpec VisionOf(const absl::StatusOr<ModelTables>& model) {
  return std::get<RopeSpec>(TableNamed(model, "vision").spec.family);
}

TEST(VisionConfigTest, QwenSplitsTheHeadByRowAndColumn) {
  const RopeSpec spec = VisionOf(ResolveModelConfig(ReadGolden("sophgo_Qwen2_VL", "config.json")));
  EXPECT_EQ(spec.head_dim, 80);
  EXPECT_EQ(spec.axes->map, AxisMap::kSeparate);
  EXPECT_THAT(spec.axes->sections, ElementsAre(20, 20));
  EXPECT_FALSE(spec.grid.has_value());
}

TEST(VisionConfigTest, PixtralHasTheGridOfItsLargestPicture) {
  const auto model = Resolve(R"({"model_type":"llava","text_config":{"model_type":"mistral"},"vision_config":{
      "model_type":"pixtral","head_dim":64,"image_size":1540,"patch_size":14,"rope_theta":10000}})");
  const RopeSpec spec = VisionOf(model);
  EXPECT_EQ(spec.axes->map, AxisMap::kEvenOdd);
  EXPECT_THAT(spec.grid->sizes, ElementsAre(110, 110));
}

TEST(VisionConfigTest, Llama4CountsFromOneAndEndsWithTheClassToken) {
  const auto model = ResolveModelConfig(ReadGolden("nxdi_integration_tp64_llama3", "config.json"));
  ASSERT_OK(model);
  EXPECT_EQ(model->tables.size(), 1u);
  const auto llama4 = ResolveModelConfig(ReadGolden("nxdi_tp64_llama4_config_128E_4layer", "config.json"));
  const RopeSpec spec = VisionOf(llama4);
  EXPECT_EQ(spec.head_dim, 88);
  EXPECT_THAT(spec.grid->sizes, ElementsAre(24, 24));
  EXPECT_THAT(spec.grid->starts, ElementsAre(1, 1));
  EXPECT_EQ(spec.grid->trailing_rows, 1);
  EXPECT_EQ(TableNamed(llama4, "vision").pairing, Pairing::kInterleaved);
}

TEST(VisionConfigTest, DinoV3IsAModelOfItsOwn) {
  const auto model = Resolve(R"({"model_type":"dinov3_vit","hidden_size":768,"num_attention_heads":12})");
  ASSERT_OK(model);
  EXPECT_TRUE(model->known_family);
  const RopeSpec spec = VisionOf(model);
  EXPECT_EQ(spec.base, 100);
  EXPECT_TRUE(spec.axes->full_turns);
  EXPECT_EQ(spec.grid->coordinates, GridCoordinates::kCentred);
  EXPECT_THAT(spec.grid->sizes, ElementsAre(14, 14));
}

TEST(VisionConfigTest, Gemma4RotatesInsideEachHalf) {
  const RopeSpec spec = VisionOf(ResolveModelConfig(ReadGolden("sophgo_Gemma4", "config.json")));
  EXPECT_EQ(spec.layout, RopeLayout::kSplitAxisDuplicated);
  EXPECT_EQ(spec.base, 100);
  EXPECT_EQ(spec.head_dim, 64);
}

TEST(VisionConfigTest, SamHasATableForItsMemory) {
  const auto model = Resolve(R"({"model_type":"sam2_video","memory_attention_rope_feat_sizes":[32,32]})");
  const auto& spec = std::get<RopeSpec>(TableNamed(model, "vision_memory_attention").spec.family);
  EXPECT_EQ(spec.head_dim, 256);
  EXPECT_THAT(spec.grid->sizes, ElementsAre(32, 32));
}

TEST(VisionConfigTest, SiglipIsLearnedAndAudioIsSinusoidal) {
  const auto gemma3 = ResolveModelConfig(ReadGolden("nxdi_integration_tp64_gemma3", "config.json"));
  EXPECT_TRUE(std::holds_alternative<LearnedSpec>(TableNamed(gemma3, "vision").spec.family));
  const auto audio =
      Resolve(R"({"model_type":"qwen2_audio","text_config":{"model_type":"qwen2"},"audio_config":{
      "model_type":"qwen2_audio_encoder","d_model":1280,"max_source_positions":1500}})");
  EXPECT_EQ(std::get<SinusoidalSpec>(TableNamed(audio, "audio").spec.family).d_model, 1280);
}

TEST(VisionConfigTest, UnknownPartsAreNoted) {
  const auto model = Resolve(R"({"model_type":"llava","text_config":{"model_type":"llama"},
                                 "vision_config":{"model_type":"brand_new"}})");
  ASSERT_OK(model);
  EXPECT_TRUE(HasNote(model, "\"brand_new\" is not in the list of vision and audio models"));
}

TEST(VisionConfigTest, WrongPartsAreNamed) {
  const auto with = [](const std::string& vision) {
    return Resolve(
        absl::StrCat(R"({"model_type":"llava","text_config":{"model_type":"llama"},"vision_config":{
        "model_type":"pixtral",)",
                     vision, "}}"));
  };
  EXPECT_THAT(with(R"("image_size":7)"), ViolatesField("vision_config.image_size"));
  EXPECT_THAT(with(R"("num_attention_heads":0)"), ViolatesField("vision_config.num_attention_heads"));
  EXPECT_THAT(with(R"("head_dim":6)"), ViolatesField("vision_config.hidden_size"));
}

TEST(VisionConfigTest, EveryRowAnswersAPartWithoutKeys) {
  for (const VisionModel& row : AllVisionModels()) {
    const auto model = Resolve(absl::StrCat(R"({"model_type":"llava","text_config":{"model_type":"llama"},
        "vision_config":{"model_type":")", row.model_type, "\"}}"));
    ASSERT_OK(model);
    EXPECT_EQ(model->tables.size(), row.rule == VisionRule::kNone ? 1u : 2u) << row.model_type;
  }
}

TEST(DiffusersConfigTest, FluxHasThreeAxes) {
  const auto model = Resolve(R"({"_class_name":"FluxTransformer2DModel","axes_dims_rope":[16,56,56]})");
  ASSERT_OK(model);
  EXPECT_EQ(RopeOf(model).head_dim, 128);
  EXPECT_EQ(RopeOf(model).axes->map, AxisMap::kSeparate);
  EXPECT_THAT(RopeOf(model).axes->sections, ElementsAre(8, 28, 28));
  EXPECT_EQ(model->tables[0].pairing, Pairing::kInterleaved);
}

TEST(DiffusersConfigTest, ClassesHaveTheirOwnBasesAndWidths) {
  EXPECT_EQ(RopeOf(Resolve(R"({"_class_name":"HunyuanVideoTransformer3DModel"})")).base, 256);
  EXPECT_THAT(RopeOf(Resolve(R"({"_class_name":"WanTransformer3DModel"})")).axes->sections,
              ElementsAre(22, 21, 21));
  EXPECT_THAT(RopeOf(Resolve(R"({"_class_name":"CogVideoXTransformer3DModel",
      "use_rotary_positional_embeddings":true})")).axes->sections, ElementsAre(8, 12, 12));
  EXPECT_THAT(RopeOf(Resolve(R"({"_class_name":"CosmosTransformer3DModel"})")).axes->ntk_factors,
              ElementsAre(2, 1, 1));
  const RopeSpec ltx = RopeOf(Resolve(R"({"_class_name":"LTXVideoTransformer3DModel"})"));
  EXPECT_EQ(ltx.axes->identity_pairs, 1);
  EXPECT_THAT(ltx.axes->sections, ElementsAre(341, 341, 341));
}

TEST(DiffusersConfigTest, PatchGridsHaveTheirReferenceSize) {
  const auto model = Resolve(R"({"_class_name":"SD3Transformer2DModel","num_attention_heads":24,
      "attention_head_dim":64,"patch_size":2,"sample_size":128,"pos_embed_max_size":192})");
  ASSERT_OK(model);
  const auto& spec = std::get<GridSinusoidalSpec>(model->tables[0].spec.family);
  EXPECT_EQ(spec.d_model, 1536);
  EXPECT_THAT(spec.grid.sizes, ElementsAre(192, 192));
  EXPECT_THAT(spec.grid.references, ElementsAre(64, 64));
  EXPECT_THAT(spec.axis_order, ElementsAre(1, 0));
}

TEST(DiffusersConfigTest, UnetHasTimesteps) {
  const auto model = Resolve(R"({"_class_name":"UNet2DConditionModel","block_out_channels":[320,640],
                                 "flip_sin_to_cos":true,"freq_shift":0})");
  ASSERT_OK(model);
  const auto& spec = std::get<SinusoidalSpec>(model->tables[0].spec.family);
  EXPECT_EQ(spec.d_model, 320);
  EXPECT_EQ(spec.order, SinusoidalOrder::kCosSin);
}

TEST(DiffusersConfigTest, UnknownClassesAreAnsweredFromTheirAxes) {
  const auto model = Resolve(R"({"_class_name":"NewModel","axes_dims_rope":[32,32],"rope_theta":77})");
  ASSERT_OK(model);
  EXPECT_FALSE(model->known_family);
  EXPECT_EQ(RopeOf(model).base, 77);
  EXPECT_THAT(Resolve(R"({"_class_name":"NewModel"})"), ViolatesField("_class_name"));
  EXPECT_THAT(Resolve(R"({"_class_name":"NewModel","axes_dims_rope":[]})"), ViolatesField("axes_dims_rope"));
}

}  // namespace
}  // namespace posenc
