// The rules by which a config.json becomes tables, one claim each.

#include "server/models/model_config.h"

#include <string>
#include <variant>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/core/specs/normalize.h"
#include "server/core/table_key.h"
#include "tests/support/matchers.h"
#include "tests/unit/models/config_files.h"

namespace posenc {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

absl::StatusOr<ModelTables> Resolve(const std::string& text) { return ResolveModelConfig(text); }

// A Llama config with `more` keys after the usual ones.
absl::StatusOr<ModelTables> ResolveLlama(const std::string& more) {
  return Resolve(R"({"model_type":"llama","hidden_size":4096,"num_attention_heads":32,)"
                 R"("max_position_embeddings":8192)" + (more.empty() ? "" : "," + more) + "}");
}

TEST(ResolveModelConfigTest, FillsClassDefaultsAndSaysSo) {
  const auto model = Resolve(R"({"model_type":"mixtral"})");
  ASSERT_OK(model);
  EXPECT_EQ(RopeOf(model).head_dim, 128);
  EXPECT_EQ(RopeOf(model).base, 1e6);
  EXPECT_EQ(RopeOf(model).max_len, 131072);
  const ValueOrigin origin = OriginOf(model, "rope.base");
  EXPECT_EQ(origin.value, "1000000");
  EXPECT_EQ(origin.source, "default of MixtralConfig");
  EXPECT_TRUE(origin.defaulted);
}

TEST(ResolveModelConfigTest, RecordsTheKeyOfEachValue) {
  const auto model = ResolveLlama(R"("rope_theta":500000,"head_dim":64)");
  ASSERT_OK(model);
  EXPECT_EQ(OriginOf(model, "rope.base").source, "rope_theta");
  EXPECT_EQ(OriginOf(model, "rope.base").value, "500000");
  EXPECT_EQ(OriginOf(model, "rope.head_dim").source, "head_dim");
  EXPECT_EQ(OriginOf(model, "rope.max_len").source, "max_position_embeddings");
  EXPECT_FALSE(OriginOf(model, "rope.max_len").defaulted);
}

TEST(ResolveModelConfigTest, SpecIsNormalisedF32) {
  const auto model = ResolveLlama("");
  ASSERT_OK(model);
  const TableSpec& spec = model->tables[0].spec;
  EXPECT_EQ(spec.element_type, ElementType::kF32);
  EXPECT_EQ(RopeOf(model).layout, RopeLayout::kSplitHalf);
  EXPECT_EQ(CanonicalText(*Normalize(spec)), CanonicalText(spec));
}

// Family by family: what a minimal file of it means.
struct FamilyCase {
  std::string config;
  int64_t head_dim;
  int64_t rotary_dim;
  double base;
  Pairing pairing;
};
const FamilyCase kFamilyCases[] = {
    {R"({"model_type":"gpt_neox","hidden_size":2048,"num_attention_heads":16,"rotary_emb_base":10000})", 128,
     32, 1e4, Pairing::kHalfSplit},
    {R"({"model_type":"gpt_neox","hidden_size":2048,"num_attention_heads":16,"rotary_pct":0.5})", 128, 64,
     1e4, Pairing::kHalfSplit},
    {R"({"model_type":"gptj","n_embd":4096,"n_head":16,"rotary_dim":64})", 256, 64, 1e4,
     Pairing::kInterleaved},
    {R"({"model_type":"gemma","hidden_size":2048,"num_attention_heads":8})", 256, 256, 1e4,
     Pairing::kHalfSplit},
    {R"({"model_type":"stablelm","hidden_size":2560,"num_attention_heads":32})", 80, 20, 1e4,
     Pairing::kHalfSplit},
    {R"({"model_type":"phi","hidden_size":2560,"num_attention_heads":32,"partial_rotary_factor":0.4})", 80,
     32, 1e4, Pairing::kHalfSplit},
    {R"({"model_type":"persimmon"})", 64, 32, 25000, Pairing::kHalfSplit},
    {R"({"model_type":"cohere","rope_theta":8000000})", 128, 128, 8e6, Pairing::kInterleaved},
    {R"({"model_type":"nemotron"})", 128, 64, 1e4, Pairing::kHalfSplit},
    {R"({"model_type":"qwen3","hidden_size":1024,"num_attention_heads":16})", 128, 128, 1e4,
     Pairing::kHalfSplit},
    {R"({"model_type":"falcon","alibi":false,"hidden_size":4544,"num_attention_heads":71})", 64, 64, 1e4,
     Pairing::kHalfSplit},
    {R"({"model_type":"chatglm","kv_channels":128,"rope_ratio":500,"seq_length":131072})", 128, 64, 5e6,
     Pairing::kInterleaved},
    {R"({"model_type":"chatglm","kv_channels":128,"original_rope":false})", 128, 64, 1e4,
     Pairing::kHalfSplit},
    {R"({"model_type":"deepseek_v3","qk_rope_head_dim":64,"hidden_size":7168})", 64, 64, 1e4,
     Pairing::kInterleaved},
    {R"({"model_type":"deepseek_v3","rope_interleave":false})", 64, 64, 1e4, Pairing::kHalfSplit},
    {R"({"model_type":"dbrx","d_model":6144,"n_heads":48,"attn_config":{"rope_theta":500000}})", 128, 128,
     5e5, Pairing::kHalfSplit},
    {R"({"model_type":"baichuan","hidden_size":4096,"num_attention_heads":32})", 128, 128, 1e4,
     Pairing::kHalfSplit},
};

TEST(ResolveModelConfigTest, KnowsTheFamilies) {
  for (const FamilyCase& row : kFamilyCases) {
    SCOPED_TRACE(row.config);
    const auto model = Resolve(row.config);
    ASSERT_OK(model);
    EXPECT_TRUE(model->known_family);
    EXPECT_EQ(RopeOf(model).head_dim, row.head_dim);
    EXPECT_EQ(RopeOf(model).rotary_dim, row.rotary_dim);
    EXPECT_EQ(RopeOf(model).base, row.base);
    EXPECT_EQ(model->tables[0].pairing, row.pairing);
  }
}

TEST(ResolveModelConfigTest, TextModelInsideALargerOne) {
  const auto model = Resolve(
      R"({"model_type":"llava","vision_config":{"hidden_size":1024},"text_config":{"model_type":"llama",
          "hidden_size":5120,"num_attention_heads":40,"rope_theta":20000}})");
  ASSERT_OK(model);
  EXPECT_EQ(model->model_type, "llava");
  EXPECT_TRUE(model->known_family);
  EXPECT_EQ(OriginOf(model, "rope.base").source, "text_config.rope_theta");
  EXPECT_EQ(OriginOf(model, "rope.head_dim").source,
            "text_config.hidden_size / text_config.num_attention_heads");
}

TEST(ResolveModelConfigTest, TextModelWithoutATypeIsOfTheFamilyAroundIt) {
  const auto model = Resolve(R"({"model_type":"gemma2","text_config":{"num_attention_heads":4}})");
  ASSERT_OK(model);
  EXPECT_EQ(OriginOf(model, "rope.head_dim").source, "default of Gemma2Config");
  EXPECT_THAT(Resolve(R"({"model_type":"gemma2","text_config":{"num_attention_heads":"x","head_dim":null}})"),
              ViolatesField("text_config.num_attention_heads"));
  EXPECT_THAT(Resolve(R"({"model_type":"x","text_config":{"model_type":"y","hidden_size":64}})"),
              ViolatesField("text_config.model_type"));
}

TEST(ResolveModelConfigTest, TextModelTwoLevelsDown) {
  const auto model = Resolve(R"({"thinker_config":{"text_config":{"model_type":"qwen2","rope_theta":7}}})");
  ASSERT_OK(model);
  EXPECT_EQ(OriginOf(model, "rope.base").source, "thinker_config.text_config.rope_theta");
}

TEST(ResolveModelConfigTest, ScalingOfV4AndV5IsTheSame) {
  const std::string llama3 = R"("factor":8,"low_freq_factor":1,"high_freq_factor":4,)"
                             R"("original_max_position_embeddings":8192,"rope_type":"llama3")";
  const auto v4 = ResolveLlama(R"("rope_theta":500000.0,"rope_scaling":{)" + llama3 + "}");
  const auto v5 = ResolveLlama(R"("rope_parameters":{"rope_theta":500000.0,)" + llama3 + "}");
  ASSERT_OK(v4);
  ASSERT_OK(v5);
  EXPECT_EQ(KeyOf(v4->tables[0].spec), KeyOf(v5->tables[0].spec));
  EXPECT_EQ(std::get<Llama3Scaling>(RopeOf(v5).scaling).factor, 8);
  EXPECT_EQ(OriginOf(v5, "rope.llama3.factor").source, "rope_parameters.factor");
}

TEST(ResolveModelConfigTest, ScalingWinsOverParametersWithANote) {
  const auto model = ResolveLlama(R"("rope_scaling":{"type":"linear","factor":2},)"
                                  R"("rope_parameters":{"rope_type":"linear","factor":4})");
  ASSERT_OK(model);
  EXPECT_EQ(std::get<LinearScaling>(RopeOf(model).scaling).factor, 2);
  EXPECT_TRUE(HasNote(model, "rope_scaling is used, not rope_parameters"));
}

TEST(ResolveModelConfigTest, OriginalLengthAtTheTopBeatsTheBlock) {
  const auto model = ResolveLlama(
      R"("original_max_position_embeddings":4096,"rope_scaling":{"rope_type":"llama3","factor":8,
         "low_freq_factor":1,"high_freq_factor":4,"original_max_position_embeddings":8192})");
  ASSERT_OK(model);
  EXPECT_EQ(std::get<Llama3Scaling>(RopeOf(model).scaling).original_max_len, 4096);
  EXPECT_EQ(OriginOf(model, "rope.llama3.original_max_len").source, "original_max_position_embeddings");
}

TEST(ResolveModelConfigTest, ParametersByLayerTypeGiveSeveralTables) {
  const auto model = Resolve(
      R"({"model_type":"gemma3_text","rope_parameters":{
          "full_attention":{"rope_type":"linear","factor":8.0,"rope_theta":1000000},
          "sliding_attention":{"rope_type":"default"}, "linear_attention":null}})");
  ASSERT_OK(model);
  ASSERT_EQ(model->tables.size(), 2u);
  EXPECT_EQ(model->tables[0].name, "full_attention");
  EXPECT_EQ(model->tables[1].name, "sliding_attention");
  EXPECT_EQ(std::get<RopeSpec>(model->tables[1].spec.family).base, 1e4);
}

TEST(ResolveModelConfigTest, SlidingTableTakesNoScaling) {
  const auto model = Resolve(R"({"model_type":"olmo3","rope_theta":500000,
                                 "rope_scaling":{"rope_type":"linear","factor":2}})");
  ASSERT_OK(model);
  ASSERT_EQ(model->tables.size(), 2u);
  const auto& sliding = std::get<RopeSpec>(model->tables[1].spec.family);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(sliding.scaling));
  EXPECT_EQ(sliding.base, 5e5);
}

TEST(ResolveModelConfigTest, ModernBertHasABaseForEachKindOfLayer) {
  const auto model =
      Resolve(R"({"model_type":"modernbert","global_rope_theta":160000.0,"local_rope_theta":10000.0})");
  ASSERT_OK(model);
  ASSERT_EQ(model->tables.size(), 2u);
  EXPECT_EQ(RopeOf(model).base, 160000);
  EXPECT_EQ(std::get<RopeSpec>(model->tables[1].spec.family).base, 10000);
}

TEST(ResolveModelConfigTest, BloomHasAlibi) {
  for (const char* config : {R"({"model_type":"bloom","n_head":112,"seq_length":2048})",
                             R"({"model_type":"bloom","num_attention_heads":112,"seq_length":2048})"}) {
    const auto model = Resolve(config);
    ASSERT_OK(model);
    EXPECT_EQ(AlibiOf(model).heads, 112);
    EXPECT_EQ(AlibiOf(model).max_len, 2048);
    EXPECT_EQ(AlibiOf(model).bias_max, 8);
    EXPECT_EQ(model->tables[0].pairing, Pairing::kNone);
  }
}

TEST(ResolveModelConfigTest, MptReadsItsAttentionConfig) {
  const auto model = Resolve(R"({"model_type":"mpt","n_heads":64,"max_seq_len":8192,
                                 "attn_config":{"alibi":true,"alibi_bias_max":16}})");
  ASSERT_OK(model);
  EXPECT_EQ(AlibiOf(model).heads, 64);
  EXPECT_EQ(AlibiOf(model).bias_max, 16);
  EXPECT_EQ(OriginOf(model, "alibi.bias_max").source, "attn_config.alibi_bias_max");
}

TEST(ResolveModelConfigTest, MptWithoutAlibiRotatesOrHasALearnedTable) {
  const auto learned = Resolve(R"({"model_type":"mpt","attn_config":{"alibi":false}})");
  ASSERT_OK(learned);
  EXPECT_EQ(std::get<LearnedSpec>(learned->tables.at(0).spec.family).name, "transformer.wpe.weight");
  const auto rotary = Resolve(R"({"model_type":"mpt","d_model":4096,"n_heads":32,"attn_config":{"alibi":false,
      "rope":true,"rope_theta":50000,"rope_hf_config":{"type":"linear","factor":2}}})");
  ASSERT_OK(rotary);
  EXPECT_EQ(RopeOf(rotary).base, 50000);
  EXPECT_EQ(std::get<LinearScaling>(RopeOf(rotary).scaling).factor, 2);
}

TEST(ResolveModelConfigTest, FalconFollowsItsFlag) {
  const auto model =
      Resolve(R"({"model_type":"falcon","alibi":true,"hidden_size":2048,"num_attention_heads":32})");
  ASSERT_OK(model);
  EXPECT_EQ(AlibiOf(model).heads, 32);
  EXPECT_EQ(AlibiOf(model).score_divisor, 8);
  EXPECT_TRUE(HasNote(model, "bfloat16"));
}

TEST(ResolveModelConfigTest, BaichuanFollowsItsWidth) {
  const auto model = Resolve(R"({"model_type":"baichuan","hidden_size":5120,"num_attention_heads":40,
                                 "model_max_length":4096})");
  ASSERT_OK(model);
  EXPECT_EQ(AlibiOf(model).heads, 40);
  EXPECT_EQ(AlibiOf(model).max_len, 4096);
}

TEST(ResolveModelConfigTest, WhisperHasASinusoidalEncoder) {
  const auto model = Resolve(R"({"model_type":"whisper","d_model":1280,"max_source_positions":1500})");
  ASSERT_OK(model);
  const auto& spec = std::get<SinusoidalSpec>(model->tables.at(0).spec.family);
  EXPECT_EQ(spec.d_model, 1280);
  EXPECT_EQ(spec.frequency_shift, 1);
  EXPECT_TRUE(HasNote(model, "decoder"));
}

TEST(ResolveModelConfigTest, ModelWithoutPositionsHasNoTable) {
  const auto model = Resolve(R"({"model_type":"mamba"})");
  ASSERT_OK(model);
  EXPECT_THAT(model->tables, IsEmpty());
  EXPECT_TRUE(HasNote(model, "no positional table"));
}

TEST(ResolveModelConfigTest, UnknownFamilyIsAnsweredFromItsKeys) {
  const auto model = Resolve(R"({"model_type":"brand_new","head_dim":64,"rope_theta":77})");
  ASSERT_OK(model);
  EXPECT_FALSE(model->known_family);
  EXPECT_EQ(model->model_type, "brand_new");
  EXPECT_EQ(RopeOf(model).base, 77);
  EXPECT_EQ(OriginOf(model, "rope.rotary_dim").source,
            "head_dim * 1 (assumed for an unknown model_type)");
  EXPECT_TRUE(HasNote(model, "half-split pairing"));
}

TEST(ResolveModelConfigTest, UnknownFamilyWithoutRotaryKeysIsNotServed) {
  EXPECT_THAT(Resolve(R"({"model_type":"resnet","hidden_size":64})"),
              AllOf(StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("resnet")),
                    ViolatesField("model_type")));
}

TEST(ResolveModelConfigTest, VisionScalingIsNoTextModels) {
  EXPECT_THAT(ResolveLlama(R"("rope_scaling":{"rope_type":"mllama4"})"),
              AllOf(StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("\"mllama4\"")),
                    ViolatesField("rope_scaling.rope_type")));
}

TEST(ResolveModelConfigTest, ClassDefaultScalingIsNotForgotten) {
  const auto model = Resolve(R"({"model_type":"gpt_oss"})");
  ASSERT_OK(model);
  const auto yarn = std::get<YarnScaling>(RopeOf(model).scaling);
  EXPECT_EQ(yarn.factor, 32);
  EXPECT_EQ(yarn.original_max_len, 4096);
  EXPECT_FALSE(yarn.truncate);
  EXPECT_EQ(OriginOf(model, "rope.yarn.factor").source, "default of GptOssConfig");
  EXPECT_TRUE(OriginOf(model, "rope.yarn.factor").defaulted);
}

TEST(ResolveModelConfigTest, WrongValuesComeBeforeUnservedOnes) {
  EXPECT_THAT(ResolveLlama(R"("rope_theta":"x","rope_scaling":{"rope_type":"mllama4"})"),
              AllOf(StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("rope_theta")),
                    ViolatesField("rope_theta")));
}

TEST(ResolveModelConfigTest, FactorBelowOneIsNoted) {
  const auto model = ResolveLlama(R"("rope_scaling":{"type":"linear","factor":0.5})");
  ASSERT_OK(model);
  EXPECT_TRUE(HasNote(model, "below 1"));
}

TEST(ResolveModelConfigTest, FactorWithoutATypeIsNoted) {
  const auto model = ResolveLlama(R"("rope_scaling":{"factor":2})");
  ASSERT_OK(model);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(RopeOf(model).scaling));
  EXPECT_TRUE(HasNote(model, "no rope_type"));
}

TEST(ResolveModelConfigTest, KeysThatChangeTheUseOfTheTableAreNoted) {
  EXPECT_TRUE(HasNote(ResolveLlama(R"("use_dynamic_ntk":true)"), "use_dynamic_ntk"));
  EXPECT_FALSE(HasNote(ResolveLlama(R"("use_dynamic_ntk":false)"), "use_dynamic_ntk"));
}

}  // namespace
}  // namespace posenc
