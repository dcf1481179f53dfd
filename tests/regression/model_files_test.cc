// Files of models of 2025 and 2026 that were answered wrongly, and their siblings. README.md lists them.

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posenc/client.h"
#include "server/models/gguf/gguf.h"
#include "tests/regression/regression.h"

namespace posenc {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string PathOf(const std::string& file) { return absl::StrCat(POSENC_TEST_SOURCE_DIR, "/regression/models/", file); }

std::string ReadModelFile(const std::string& file) {
  std::ifstream stream(PathOf(file));
  std::ostringstream text;
  text << stream.rdbuf();
  EXPECT_FALSE(text.str().empty()) << file;
  return text.str();
}

absl::StatusOr<ModelTables> ResolveText(const std::string& config, Runtime runtime = Runtime::kTransformers) {
  return LocalClient().ResolveModel({.config_json = config, .runtime = runtime});
}

absl::StatusOr<ModelTables> ResolveFile(const std::string& file, Runtime runtime = Runtime::kTransformers) {
  return ResolveText(ReadModelFile(file), runtime);
}

// The table of that name; a failed test and an empty one where there is none.
ModelTable TableOf(const absl::StatusOr<ModelTables>& model, const std::string& name) {
  EXPECT_OK(model);
  if (!model.ok()) return {};
  for (const ModelTable& table : model->tables) {
    if (table.name == name) return table;
  }
  ADD_FAILURE() << "no table " << name;
  return {};
}

// What a rotary table is held against.
struct Rotary {
  int64_t head_dim;
  int64_t rotary_dim;
  double base;
  Pairing pairing;
  std::vector<int64_t> layers = {};
};

void ExpectRotary(const ModelTable& table, const Rotary& want) {
  const auto* spec = std::get_if<Rope>(&table.spec.family);
  ASSERT_NE(spec, nullptr) << table.name;
  EXPECT_EQ(spec->head_dim, want.head_dim);
  EXPECT_EQ(spec->rotary_dim, want.rotary_dim);
  EXPECT_EQ(spec->base, want.base);
  EXPECT_EQ(table.pairing, want.pairing);
  EXPECT_EQ(table.layers, want.layers);
}

bool IsPlain(const ModelTable& table) {
  return std::holds_alternative<std::monostate>(std::get<Rope>(table.spec.family).scaling);
}

constexpr Pairing kHalf = Pairing::kHalfSplit;
constexpr Pairing kNeighbours = Pairing::kInterleaved;

TEST(Dynamo2882Test, InfinityInAFileIsRead) {
  ExpectRotary(TableOf(ResolveFile("inf.json"), "main"), {128, 128, 1e11, kHalf});
}

TEST(Dynamo2882Test, AllNamesOfPythonAreReadAnywhere) {
  const auto model = ResolveText(R"({"model_type":"llama","head_dim":64,"a":[NaN,{"b":-Infinity}],"c":Infinity})");
  ExpectRotary(TableOf(model, "main"), {64, 64, 1e4, kHalf});
  EXPECT_THAT(ResolveText(R"({"model_type":"llama","rope_theta":-Infinity})"), ViolatesField("rope_theta"));
  EXPECT_THAT(ResolveText(R"({"model_type":"llama",NaN:1})"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is not JSON")));
}

TEST(Dynamo2882Test, EncoderAndDecoderAreTwoModels) {
  const std::string part = R"({"model_type":"t5_gemma_module","head_dim":256,"num_hidden_layers":2,"x":Infinity})";
  const auto model =
      ResolveText(absl::StrCat(R"({"model_type":"t5gemma","encoder":)", part, R"(,"decoder":)", part, "}"));
  ExpectRotary(TableOf(model, "encoder"), {256, 256, 1e4, kHalf, {0, 1}});
  ExpectRotary(TableOf(model, "decoder"), {256, 256, 1e4, kHalf, {0, 1}});
}

TEST(GptOssTest, TensorRtTakesZeroForAMissingMscale) {
  EXPECT_NEAR(TableOf(ResolveFile("gpt_oss.json", Runtime::kTensorRtLlm), "main").magnitude, 1.3465735903, 1e-9);
  const auto qwen = ResolveText(
      R"({"model_type":"qwen2","rope_scaling":{"type":"yarn","factor":4.0,"original_max_position_embeddings":32768}})",
      Runtime::kTensorRtLlm);
  EXPECT_NEAR(TableOf(qwen, "main").magnitude, 1.1386294361, 1e-9);
}

TEST(GptOssTest, TensorRtTakes1024ForAMissingLength) {
  const auto model = ResolveText(R"({"model_type":"qwen2","rope_scaling":{"type":"yarn","factor":4.0}})",
                                 Runtime::kTensorRtLlm);
  const auto spec = std::get<Rope>(TableOf(model, "main").spec.family);
  EXPECT_EQ(std::get<YarnScaling>(spec.scaling).original_max_len, 1024);
}

TEST(KimiLinearTest, NothingRotates) {
  for (const Runtime runtime : {Runtime::kTransformers, Runtime::kLlamaCpp, Runtime::kMlxLm}) {
    const auto model = ResolveFile("kimi_linear.json", runtime);
    ASSERT_OK(model);
    EXPECT_THAT(model->tables, IsEmpty());
    EXPECT_THAT(model->notes, Contains(HasSubstr("no positional table")));
  }
}

TEST(KimiLinearTest, NorDoesItsGguf) {
  const auto model = LocalClient().ResolveModel(
      {.gguf_json = R"({"metadata":{"general.architecture":"kimi-linear","kimi-linear.context_length":1048576,
                        "kimi-linear.embedding_length":2304,"kimi-linear.attention.head_count":32,
                        "kimi-linear.rope.dimension_count":64,"kimi-linear.rope.freq_base":10000}})",
       .runtime = Runtime::kLlamaCpp});
  ASSERT_OK(model);
  EXPECT_THAT(model->tables, IsEmpty());
  EXPECT_THAT(model->notes, Contains(HasSubstr("kimi-linear.rope.freq_base is not used")));
}

TEST(KimiLinearTest, SwitchesThatAreOffAreBelieved) {
  const auto zamba = ResolveText(R"({"model_type":"zamba2","use_mem_rope":false})");
  ASSERT_OK(zamba);
  EXPECT_THAT(zamba->tables, IsEmpty());
  const auto unknown = ResolveText(R"({"model_type":"x","head_dim":64,"rope_theta":10000,"use_rope":false})");
  ASSERT_OK(unknown);
  EXPECT_THAT(unknown->tables, IsEmpty());
  EXPECT_THAT(unknown->notes, Contains(HasSubstr("use_rope is false")));
}

TEST(KimiLinearTest, GraniteHybridSaysByFinetunedThatNothingRotates) {
  const auto model = LocalClient().ResolveModel(
      {.gguf_json = R"({"metadata":{"general.architecture":"granitehybrid","granitehybrid.embedding_length":1536,
                        "granitehybrid.attention.head_count":12,"granitehybrid.rope.scaling.finetuned":false,
                        "granitehybrid.rope.dimension_count":128}})",
       .runtime = Runtime::kLlamaCpp});
  ASSERT_OK(model);
  EXPECT_THAT(model->tables, IsEmpty());
}

TEST(AfmoeTest, SlidingLayersRotateAndFullOnesDoNot) {
  const auto model = ResolveFile("afmoe.json");
  ExpectRotary(TableOf(model, "main"), {128, 128, 1e4, kHalf, {0, 1, 2}});
  EXPECT_THAT(model->layers_without_table, ElementsAre(3));
  EXPECT_THAT(model->notes, Contains(HasSubstr("layers without a table: 3 of 4")));
}

TEST(AfmoeTest, SoDoItsGgufs) {
  const auto file = ReadGguf(PathOf("afmoe.gguf"));
  ASSERT_OK(file);
  const auto model = LocalClient().ResolveModel({.gguf_json = GgufToJson(*file), .runtime = Runtime::kLlamaCpp});
  EXPECT_THAT(TableOf(model, "main").applies_to, HasSubstr("every fourth, which does not rotate"));
  GgufFile counted = *file;
  counted.metadata["afmoe.block_count"] = 8;
  const auto layers =
      LocalClient().ResolveModel({.gguf_json = GgufToJson(counted), .runtime = Runtime::kLlamaCpp});
  ExpectRotary(TableOf(layers, "main"), {128, 128, 1e4, kHalf, {0, 1, 2, 4, 5, 6}});
  EXPECT_THAT(layers->layers_without_table, ElementsAre(3, 7));
}

TEST(MimoV2Test, SlidingLayersHaveTheirOwnBase) {
  const auto model = ResolveFile("mimo_v2.json");
  ExpectRotary(TableOf(model, "full_attention"), {192, 64, 5e6, kHalf, {0}});
  ExpectRotary(TableOf(model, "sliding_attention"), {192, 64, 1e4, kHalf, {1, 2, 3, 4}});
}

TEST(MimoV2Test, SoDoThoseOfAnUnknownFamily) {
  const auto model = ResolveText(
      R"({"model_type":"x","head_dim":128,"rope_theta":5000000,"swa_rope_theta":10000,"hybrid_layer_pattern":[0,1,1]})");
  ExpectRotary(TableOf(model, "full_attention"), {128, 128, 5e6, kHalf, {0}});
  ExpectRotary(TableOf(model, "sliding_attention"), {128, 128, 1e4, kHalf, {1, 2}});
}

TEST(Transformers46372Test, GlmFiveIsInterleavedAndSoIsItsIndexer) {
  const auto model = ResolveFile("glm5.json");
  ExpectRotary(TableOf(model, "main"), {64, 64, 1e6, kNeighbours});
  ExpectRotary(TableOf(model, "indexer"), {128, 64, 1e6, kNeighbours});
}

TEST(Transformers46372Test, IndexersHaveAPairingOfTheirOwn) {
  const auto model = ResolveText(R"({"model_type":"deepseek_v32","num_hidden_layers":2})");
  ExpectRotary(TableOf(model, "main"), {64, 64, 1e4, kNeighbours, {0, 1}});
  ExpectRotary(TableOf(model, "indexer"), {128, 64, 1e4, kHalf, {0, 1}});
}

TEST(NemotronNasTest, ConvertersPermuteItsRows) {
  ExpectRotary(TableOf(ResolveFile("nemotron_nas.json"), "main"), {128, 128, 5e5, kHalf});
  const auto model = ResolveFile("nemotron_nas.json", Runtime::kLlamaCpp);
  ExpectRotary(TableOf(model, "main"), {128, 128, 5e5, kNeighbours});
}

TEST(Zamba2Test, TheFileSaysTheWidthOfItsHeads) {
  ExpectRotary(TableOf(ResolveFile("zamba2.json"), "main"), {224, 224, 1e4, kHalf});
  const auto unknown =
      ResolveText(R"({"model_type":"x","hidden_size":1024,"num_attention_heads":8,"attention_head_dim":256,"rope_theta":7})");
  ExpectRotary(TableOf(unknown, "main"), {256, 256, 7, kHalf});
  EXPECT_THAT(unknown->notes, Contains(HasSubstr("attention_head_dim 256")));
}

TEST(Step35Test, EachTypeOfLayerHasItsBaseShareAndScaling) {
  const auto model = ResolveFile("step35.json");
  const ModelTable full = TableOf(model, "full_attention");
  ExpectRotary(full, {128, 64, 5e6, kHalf, {0}});
  EXPECT_EQ(std::get<Llama3Scaling>(std::get<Rope>(full.spec.family).scaling).factor, 2);
  const ModelTable sliding = TableOf(model, "sliding_attention");
  ExpectRotary(sliding, {128, 128, 1e4, kHalf, {1, 2, 3}});
  EXPECT_TRUE(IsPlain(sliding));
}

TEST(Step35Test, AListThatDoesNotFitTheLayersIsRefused) {
  EXPECT_THAT(ResolveText(R"({"model_type":"step3p5","num_hidden_layers":4,"rope_theta":[1e4,1e5]})"),
              ViolatesField("rope_theta"));
}

TEST(DeepSeekOcrTest, WithoutLatentAttentionItIsOrdinary) {
  const ModelTable table = TableOf(ResolveFile("deepseek_ocr.json"), "main");
  ExpectRotary(table, {128, 128, 1e4, kHalf});
  EXPECT_EQ(std::get<Rope>(table.spec.family).max_len, 8192);
}

TEST(Qwen3OmniTest, TalkerAndVocoderHaveTheirTables) {
  const auto model = ResolveFile("qwen3_omni.json");
  ExpectRotary(TableOf(model, "main"), {128, 128, 1e6, kHalf});
  ExpectRotary(TableOf(model, "talker"), {128, 128, 1e6, kHalf});
  ExpectRotary(TableOf(model, "code2wav"), {64, 64, 1e4, kHalf});
}

TEST(Qwen3OmniTest, PartsThatAreNotKnownAreNamed) {
  const auto model = ResolveText(
      R"({"model_type":"llava","text_config":{"model_type":"llama"},"speaker_config":{"model_type":"brand_new","num_heads":8}})");
  ASSERT_OK(model);
  EXPECT_THAT(model->notes, Contains(AllOf(HasSubstr("speaker"), HasSubstr("not in this answer"))));
}

TEST(RuntimeRefusalTest, MlxNamesThePlaceOfItsException) {
  const std::string block = R"({"model_type":"qwen2","rope_scaling":{"rope_type":"ntk","factor":4.0}})";
  EXPECT_THAT(ResolveText(block, Runtime::kMlxLm),
              AllOf(StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("mlx_lm/models/rope_utils.py")),
                    ViolatesField("rope_scaling.rope_type")));
}

TEST(RuntimeRefusalTest, VllmAssertsTheSumOfSectionsAndNeedsTheLength) {
  EXPECT_THAT(ResolveText(R"({"model_type":"qwen3_vl","rope_scaling":{"mrope_section":[24,20,18],"rope_type":"default"}})",
                          Runtime::kVllm),
              AllOf(StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("mrope.py")),
                    ViolatesField("rope_scaling.mrope_section")));
  EXPECT_THAT(ResolveText(R"({"model_type":"qwen2","rope_scaling":{"rope_type":"yarn","factor":4.0}})", Runtime::kVllm),
              ViolatesField("rope_scaling.original_max_position_embeddings"));
}

TEST(ToldKeysTest, ContradictionsAndUnknownKeysAreNoted) {
  const auto model = ResolveText(
      R"({"model_type":"minimax_m2","head_dim":128,"rotary_dim":64,"partial_rotary_factor":0.25,
          "rope_scaling":{"rope_type":"linear","factor":2.0,"zeta":1}})");
  ASSERT_OK(model);
  EXPECT_THAT(model->notes, Contains(HasSubstr("rotary_dim 64 is used, not partial_rotary_factor 0.25")));
  EXPECT_THAT(model->notes, Contains("rope_scaling.zeta is not used"));
}

TEST(ToldKeysTest, AViolationIsListedOnce) {
  const auto model = ResolveText(
      R"({"model_type":"gemma3","rope_parameters":7,"vision_config":{"model_type":"siglip"}})");
  ASSERT_FALSE(model.ok());
  EXPECT_THAT(FieldViolationsOf(model.status()), SizeIs(1));
}

TEST(UnknownFamilyTest, WhatIsAssumedIsMarked) {
  const auto model = ResolveText(R"({"model_type":"brand_new","head_dim":64,"rope_theta":77})");
  const ModelTable table = TableOf(model, "main");
  std::vector<std::string> assumed;
  for (const ValueOrigin& origin : table.origins) {
    if (origin.assumed) assumed.push_back(origin.field);
  }
  EXPECT_THAT(assumed, ElementsAre("pairing", "rope.rotary_dim", "rope.max_len", "rope.scaling"));
  for (const ValueOrigin& origin : TableOf(ResolveText(R"({"model_type":"llama"})"), "main").origins) {
    EXPECT_FALSE(origin.assumed) << origin.field;
  }
}

TEST(UnknownFamilyTest, GteHasANtkOfItsOwn) {
  const auto model = ResolveText(
      R"({"model_type":"new","hidden_size":1024,"num_attention_heads":16,"rope_theta":160000,
          "rope_scaling":{"type":"ntk","factor":2.0}})");
  const std::vector<double> inv = Frequencies(TableOf(model, "main").spec);
  ASSERT_EQ(inv.size(), 32u);
  EXPECT_THAT(inv[0], IsNine(std::pow(2.0, -2.0 / 64)));
  EXPECT_THAT(inv[1], IsNine(std::pow(320000.0, -2.0 / 64) * std::pow(2.0, -2.0 / 64)));
}

}  // namespace
}  // namespace posenc
