// Scalings, axes, windows, learned tables, buckets and temperatures of a config.json, one claim each.

#include <cmath>
#include <string>
#include <variant>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/models/model_config.h"
#include "tests/support/matchers.h"
#include "tests/unit/models/config_files.h"

namespace posenc {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<ModelTables> Resolve(const std::string& text) { return ResolveModelConfig(text); }

// A model with heads of 128 channels and a scaling block.
absl::StatusOr<ModelTables> Scaled(const std::string& block, const std::string& model_type = "qwen2") {
  return Resolve(absl::StrCat(R"({"hidden_size":4096,"num_attention_heads":32,"model_type":")", model_type,
                              R"(","max_position_embeddings":131072,"rope_scaling":{)", block, "}}"));
}

template <typename Scaling>
Scaling ScalingOf(const absl::StatusOr<ModelTables>& model) {
  return std::get<Scaling>(RopeOf(model).scaling);
}

template <typename Spec>
Spec SpecOf(const absl::StatusOr<ModelTables>& model, size_t table = 0) {
  return std::get<Spec>(model.value().tables.at(table).spec.family);
}

TEST(ScalingConfigTest, YarnFactorIsTheRatioWhereItIsMissing) {
  const auto model = Scaled(R"("type":"yarn","factor":null,"original_max_position_embeddings":32768)");
  ASSERT_OK(model);
  EXPECT_EQ(ScalingOf<YarnScaling>(model).factor, 4);
  EXPECT_TRUE(OriginOf(model, "rope.yarn.factor").defaulted);
}

TEST(ScalingConfigTest, YarnFactorThatDiffersFromTheRatioIsNoted) {
  EXPECT_TRUE(HasNote(Scaled(R"("type":"yarn","factor":2,"original_max_position_embeddings":32768)"),
                      "is used, though 131072 / 32768 is 4"));
}

TEST(ScalingConfigTest, ZeroAndNullBetasAreTheDefaults) {
  const auto model = Scaled(R"("type":"yarn","factor":4,"beta_fast":0,"beta_slow":null,
                               "original_max_position_embeddings":32768)");
  ASSERT_OK(model);
  EXPECT_EQ(ScalingOf<YarnScaling>(model).beta_fast, 32);
  EXPECT_EQ(ScalingOf<YarnScaling>(model).beta_slow, 1);
}

TEST(ScalingConfigTest, YarnTruncateInsideALayerTypeIsNotRead) {
  const auto model = Resolve(R"({"model_type":"olmo3","hidden_size":4096,"num_attention_heads":32,
      "rope_parameters":{"full_attention":{"rope_type":"yarn","factor":8,"truncate":false,
      "original_max_position_embeddings":8192,"rope_theta":500000}}})");
  ASSERT_OK(model);
  EXPECT_TRUE(ScalingOf<YarnScaling>(model).truncate);
  EXPECT_TRUE(HasNote(model, "full_attention.truncate is not used"));
}

TEST(ScalingConfigTest, MagnitudesOfDeepSeek) {
  const auto model = Resolve(R"({"model_type":"deepseek_v2","rope_scaling":{"type":"yarn","factor":40,
      "mscale":0.707,"mscale_all_dim":1.0,"original_max_position_embeddings":4096}})");
  ASSERT_OK(model);
  EXPECT_NEAR(model->tables[0].magnitude, (0.0707 * std::log(40) + 1) / 1.368887945411394, 1e-12);
  EXPECT_NEAR(model->tables[0].softmax_scale, 1.368887945411394 * 1.368887945411394, 1e-12);
}

TEST(ScalingConfigTest, ByProductsHaveTheirOrigins) {
  const auto model = Scaled(R"("type":"yarn","factor":4,"original_max_position_embeddings":32768)");
  EXPECT_THAT(OriginOf(model, "magnitude").source, HasSubstr("ln(factor)"));
  const auto written = Scaled(R"("type":"yarn","factor":4,"attention_factor":1.5,
                                 "original_max_position_embeddings":32768)");
  EXPECT_EQ(OriginOf(written, "magnitude").value, "1.5");
  EXPECT_EQ(OriginOf(written, "rope.attention_factor").source, "rope_scaling.attention_factor");
}

TEST(ScalingConfigTest, OneMagnitudeAloneIsNone) {
  const auto model =
      Scaled(R"("type":"yarn","factor":40,"mscale":0.707,"original_max_position_embeddings":4096)");
  EXPECT_NEAR(model->tables[0].magnitude, 1.368887945, 1e-9);
  EXPECT_EQ(model->tables[0].softmax_scale, 1);
}

TEST(ScalingConfigTest, TopLevelOriginalLengthBeatsTheBlockOfLongRope) {
  const auto model = Resolve(
      R"({"model_type":"phi3","head_dim":4,"max_position_embeddings":131072,
          "original_max_position_embeddings":4096,"rope_scaling":{"type":"yarn","short_factor":[1,2],
          "long_factor":[3,4],"original_max_position_embeddings":8192}})");
  ASSERT_OK(model);
  EXPECT_EQ(ScalingOf<LongRopeScaling>(model).original_max_len, 4096);
  EXPECT_EQ(ScalingOf<LongRopeScaling>(model).factor, 32);
  EXPECT_THAT(ScalingOf<LongRopeScaling>(model).short_factor, ElementsAre(1, 2));
}

TEST(ScalingConfigTest, FactorListOfTheWrongLengthIsNamed) {
  EXPECT_THAT(Resolve(R"({"model_type":"phi3","head_dim":8,"rope_scaling":{"type":"longrope",
      "short_factor":[1,2],"long_factor":[3,4],"original_max_position_embeddings":4096}})"),
              ViolatesField("rope_scaling.short_factor"));
  EXPECT_THAT(Scaled(R"("type":"longrope","short_factor":[1,"2"],"long_factor":[1])"),
              ViolatesField("rope_scaling.short_factor[1]"));
}

TEST(ScalingConfigTest, PhiMoeHasAMagnitudeForEachList) {
  const auto model = Resolve(R"({"model_type":"phimoe","head_dim":4,"rope_scaling":{"type":"longrope",
      "short_factor":[1,2],"long_factor":[3,4],"short_mscale":1.1,"long_mscale":1.2,
      "original_max_position_embeddings":4096}})");
  ASSERT_OK(model);
  EXPECT_EQ(model->tables.at(0).magnitude, 1.1);
  EXPECT_EQ(model->tables.at(1).magnitude, 1.2);
}

TEST(ScalingConfigTest, ProportionalKeepsTheWholeWidth) {
  const auto model = Resolve(R"({"model_type":"gemma4"})");
  ASSERT_OK(model);
  EXPECT_EQ(RopeOf(model).rotary_dim, 512);
  EXPECT_EQ(ScalingOf<ProportionalScaling>(model).fraction, 0.25);
  EXPECT_EQ(SpecOf<RopeSpec>(model, 1).base, 1e4);
  EXPECT_EQ(model->tables[1].applies_to, "layers with sliding attention");
}

TEST(ScalingConfigTest, SectionsFollowTheFamily) {
  const auto qwen2 = Scaled(R"("type":"mrope","mrope_section":[16,24,24])", "qwen2_vl");
  EXPECT_EQ(RopeOf(qwen2).axes->map, AxisMap::kContiguous);
  const auto qwen3 = Scaled(R"("rope_type":"default","mrope_section":[24,20,20])", "qwen3_vl");
  EXPECT_EQ(RopeOf(qwen3).axes->map, AxisMap::kInterleaved);
  const auto ernie = Scaled(R"("type":"default","mrope_section":[22,22,20])", "ernie4_5_vl_moe");
  EXPECT_EQ(RopeOf(ernie).axes->map, AxisMap::kAlternating);
  EXPECT_THAT(RopeOf(ernie).axes->sections, ElementsAre(20, 22, 22));
  const auto pangu = Scaled(R"("type":"openpangu","mrope_section":[24,20,20])");
  EXPECT_EQ(RopeOf(pangu).axes->map, AxisMap::kBalanced);
}

TEST(ScalingConfigTest, XdRopeHasFourSectionsAndAlpha) {
  const auto model = Scaled(R"("type":"xdrope","alpha":1000,"xdrope_section":[16,16,16,16])", "hunyuan_vl");
  ASSERT_OK(model);
  EXPECT_EQ(ScalingOf<NtkAlphaScaling>(model).alpha, 1000);
  EXPECT_THAT(RopeOf(model).axes->sections, ElementsAre(16, 16, 16, 16));
}

TEST(ScalingConfigTest, SectionsThatDoNotFillThePairsAreRefused) {
  EXPECT_THAT(Scaled(R"("type":"mrope","mrope_section":[16,24,23])", "qwen2_vl"),
              AllOf(StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("64 rotated pairs")),
                    ViolatesField("rope_scaling.mrope_section")));
  EXPECT_THAT(Scaled(R"("mrope_section":[])"), ViolatesField("rope_scaling.mrope_section"));
  EXPECT_THAT(Scaled(R"("mrope_section":[1,2.5])"), ViolatesField("rope_scaling.mrope_section[1]"));
}

TEST(ScalingConfigTest, DeepSeekV4RotatesTheLastChannels) {
  const auto model = Resolve(R"({"model_type":"deepseek_v4","rope_scaling":{"type":"yarn","factor":16,
      "original_max_position_embeddings":65536}})");
  ASSERT_OK(model);
  ASSERT_EQ(model->tables.size(), 2u);
  EXPECT_EQ(model->tables[0].name, "compress");
  EXPECT_EQ(RopeOf(model).base, 160000);
  EXPECT_EQ(model->tables[0].rotary_begin, 448);
  EXPECT_EQ(model->tables[1].name, "main");
  EXPECT_EQ(SpecOf<RopeSpec>(model, 1).base, 1e4);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(SpecOf<RopeSpec>(model, 1).scaling));
}

TEST(ScalingConfigTest, LayersWithoutRotationAreNamed) {
  EXPECT_EQ(Resolve(R"({"model_type":"smollm3"})")->tables[0].applies_to,
            "all layers except every fourth (no_rope_layer_interval)");
  EXPECT_EQ(Resolve(R"({"model_type":"smollm3","no_rope_layers":[1,1,0,1,0]})")->tables[0].applies_to,
            "all layers except 2, 4 (no_rope_layers)");
  EXPECT_THAT(Resolve(R"({"model_type":"cohere2"})")->tables[0].applies_to, HasSubstr("sliding attention"));
  EXPECT_EQ(Resolve(R"({"model_type":"exaone4","layer_types":["full_attention"]})")->tables[0].applies_to,
            "");
}

TEST(ScalingConfigTest, Llama4HasAQueryTemperature) {
  const auto model =
      Resolve(R"({"model_type":"llama4_text","attn_temperature_tuning":4,"floor_scale":8192.0})");
  ASSERT_OK(model);
  ASSERT_EQ(model->tables.size(), 2u);
  EXPECT_EQ(model->tables[1].name, "query_temperature");
  EXPECT_EQ(SpecOf<QueryTemperatureSpec>(model, 1).position_offset, 1);
  EXPECT_EQ(Resolve(R"({"model_type":"llama4","attn_temperature_tuning":false})")->tables.size(), 1u);
}

TEST(ScalingConfigTest, MinistralHasAQueryTemperatureByItsBeta) {
  const auto model = Resolve(R"({"model_type":"ministral3"})");
  ASSERT_OK(model);
  ASSERT_EQ(model->tables.size(), 2u);
  EXPECT_EQ(model->tables[0].magnitude, 1);
  const auto spec = SpecOf<QueryTemperatureSpec>(model, 1);
  EXPECT_EQ(spec.scale, 0.1);
  EXPECT_EQ(spec.floor_len, 16384);
  EXPECT_EQ(spec.position_offset, 0);
}

TEST(ScalingConfigTest, LearnedTablesNameTheirTensorAndOffset) {
  const std::pair<const char*, int64_t> kOffsets[] = {
      {R"({"model_type":"opt"})", 2},        {R"({"model_type":"bart"})", 2},
      {R"({"model_type":"gpt2"})", 0},       {R"({"model_type":"bert"})", 0},
      {R"({"model_type":"roberta"})", 2},    {R"({"model_type":"xlm-roberta","pad_token_id":3})", 4}};
  for (const auto& [config, offset] : kOffsets) {
    const auto model = Resolve(config);
    ASSERT_OK(model);
    EXPECT_EQ(SpecOf<LearnedSpec>(model).position_offset, offset) << config;
    EXPECT_TRUE(HasNote(model, "give the server that tensor")) << config;
  }
  EXPECT_EQ(SpecOf<LearnedSpec>(Resolve(R"({"model_type":"gpt2"})")).name, "transformer.wpe.weight");
}

TEST(ScalingConfigTest, PositionEmbeddingTypeDecides) {
  EXPECT_EQ(RopeOf(Resolve(R"({"model_type":"esm","position_embedding_type":"rotary"})")).head_dim, 64);
  const auto jina = Resolve(R"({"model_type":"bert","position_embedding_type":"alibi"})");
  EXPECT_EQ(AlibiOf(jina).form, AlibiForm::kSymmetric);
  EXPECT_TRUE(Resolve(R"({"model_type":"granitemoehybrid"})")->tables.empty());
  EXPECT_EQ(RopeOf(Resolve(R"({"model_type":"granitemoehybrid","position_embedding_type":"rope"})")).head_dim,
            128);
  EXPECT_TRUE(
      HasNote(Resolve(R"({"model_type":"bert","position_embedding_type":"relative_key"})"), "distance"));
  EXPECT_THAT(Resolve(R"({"model_type":"bert","position_embedding_type":"x"})"),
              ViolatesField("position_embedding_type"));
}

TEST(ScalingConfigTest, FixedSinesOfFairseqsKin) {
  const auto spec = SpecOf<SinusoidalSpec>(Resolve(R"({"model_type":"m2m_100","d_model":1024})"));
  EXPECT_EQ(spec.max_len, 1026);
  EXPECT_EQ(spec.frequency_shift, 1);
  EXPECT_EQ(spec.zero_row, 1);
  const auto marian = SpecOf<SinusoidalSpec>(Resolve(R"({"model_type":"marian","d_model":512})"));
  EXPECT_EQ(marian.frequency_shift, 0);
  EXPECT_EQ(marian.order, SinusoidalOrder::kSinCos);
}

TEST(ScalingConfigTest, WhispersDecoderIsLearned) {
  const auto model = Resolve(R"({"model_type":"whisper","max_target_positions":448})");
  ASSERT_OK(model);
  EXPECT_EQ(model->tables.at(1).name, "decoder");
  EXPECT_TRUE(HasNote(model, "each of 448 positions"));
}

TEST(ScalingConfigTest, BucketsOfT5AndDeberta) {
  const auto t5 = Resolve(R"({"model_type":"t5","relative_attention_max_distance":64})");
  EXPECT_EQ(std::get<T5Buckets>(SpecOf<RelativeBucketSpec>(t5).rule).max_distance, 64);
  EXPECT_FALSE(std::get<T5Buckets>(SpecOf<RelativeBucketSpec>(t5, 1).rule).bidirectional);
  EXPECT_EQ(Resolve(R"({"model_type":"mpnet"})")->tables.size(), 1u);
  const auto deberta = Resolve(R"({"model_type":"deberta-v2","relative_attention":true,"position_buckets":256,
                                   "max_relative_positions":-1})");
  EXPECT_EQ(std::get<DebertaBuckets>(SpecOf<RelativeBucketSpec>(deberta).rule).max_distance, 512);
  EXPECT_TRUE(Resolve(R"({"model_type":"deberta"})")->tables.empty());
}

TEST(ScalingConfigTest, ArchitectureDecidesWithoutAModelType) {
  const auto model = Resolve(R"({"architectures":["GemmaForCausalLM"]})");
  ASSERT_OK(model);
  EXPECT_TRUE(model->known_family);
  EXPECT_EQ(RopeOf(model).head_dim, 256);
  EXPECT_TRUE(HasNote(model, "architectures"));
}

TEST(ScalingConfigTest, EffectiveLengthIsHeldToItsRange) {
  EXPECT_THAT(ResolveModel({.config_json = R"({"model_type":"llama"})", .effective_length = 0}),
              ViolatesField("effective_length"));
}

}  // namespace
}  // namespace posenc
