// Configs that other systems were reported to misread. The comment above a claim names the reports.

#include <cmath>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/core/table_key.h"
#include "server/models/model_config.h"
#include "tests/support/matchers.h"
#include "tests/unit/models/config_files.h"

namespace posenc {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A Llama-shaped config, head_dim 128, with `more` keys.
absl::StatusOr<ModelTables> ResolveWith(const std::string& more) {
  return ResolveModelConfig(absl::StrCat(
      R"({"model_type":"llama","hidden_size":4096,"num_attention_heads":32)", more.empty() ? "" : ",", more,
      "}"));
}

double PlainFrequency(const RopeSpec& spec, int i) {
  return std::pow(spec.base, -2.0 * i / static_cast<double>(spec.rotary_dim));
}

bool IsPlain(const absl::StatusOr<ModelTables>& model) {
  return std::holds_alternative<std::monostate>(RopeOf(model).scaling);
}

// meta-llama/llama3#299, foundation-model-stack#384, runpod-workers/worker-vllm#89
TEST(ReportedConfigsTest, SixKeyLlama3BlockIsAccepted) {
  const auto model = ResolveWith(
      R"("rope_theta":500000.0,"rope_scaling":{"factor":8.0,"low_freq_factor":1.0,"high_freq_factor":4.0,
         "original_max_position_embeddings":8192,"rope_type":"llama3"})");
  ASSERT_OK(model);
  const auto scaling = std::get<Llama3Scaling>(RopeOf(model).scaling);
  EXPECT_EQ(scaling.factor, 8);
  EXPECT_EQ(scaling.low_freq_factor, 1);
  EXPECT_EQ(scaling.high_freq_factor, 4);
  EXPECT_EQ(scaling.original_max_len, 8192);
}

TEST(ReportedConfigsTest, EveryMissingLlama3KeyIsNamed) {
  const std::vector<std::pair<std::string, std::string>> keys = {
      {"factor", "8.0"}, {"low_freq_factor", "1.0"}, {"high_freq_factor", "4.0"},
      {"original_max_position_embeddings", "8192"}};
  for (const auto& [left_out, unused] : keys) {
    std::string block = R"("rope_type":"llama3")";
    for (const auto& [key, value] : keys) {
      if (key != left_out) absl::StrAppend(&block, ",\"", key, "\":", value);
    }
    EXPECT_THAT(ResolveWith(absl::StrCat(R"("rope_scaling":{)", block, "}")),
                AllOf(StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is missing")),
                      ViolatesField("rope_scaling." + left_out)));
  }
}

// huggingface/transformers#37134, #45289; meta-llama/llama3#319
TEST(ReportedConfigsTest, WholeNumbersAndFloatsAreTheSame) {
  const auto whole = ResolveWith(R"("rope_theta":1000000,"rope_scaling":{"type":"linear","factor":40})");
  const auto floats = ResolveWith(R"("rope_theta":1e6,"rope_scaling":{"type":"linear","factor":40.0})");
  ASSERT_OK(whole);
  ASSERT_OK(floats);
  EXPECT_EQ(KeyOf(whole->tables[0].spec), KeyOf(floats->tables[0].spec));
  EXPECT_EQ(OriginOf(floats, "rope.base").value, "1000000");
}

TEST(ReportedConfigsTest, FactorsThatAreNoPositiveNumberAreRejected) {
  for (const std::string factor : {"\"40\"", "true", "0", "-4", "[40]", "{}", "-0.0"}) {
    EXPECT_THAT(ResolveWith(R"("rope_scaling":{"rope_type":"linear","factor":)" + factor + "}"),
                AllOf(StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("allowed")),
                      ViolatesField("rope_scaling.factor")))
        << factor;
  }
  EXPECT_THAT(ResolveWith(R"("rope_scaling":{"rope_type":"linear","factor":NaN})"),
              AllOf(StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is not JSON")),
                    ViolatesField("rope_scaling.factor")));
}

// huggingface/transformers#32182, lablup/mlxcel#1386
TEST(ReportedConfigsTest, BothSpellingsOfTheTypeAreRead) {
  for (const std::string type : {R"("type":"linear")", R"("rope_type":"linear")",
                                 R"("type":"linear","rope_type":"linear")"}) {
    const auto model = ResolveWith(R"("rope_scaling":{"factor":2,)" + type + "}");
    ASSERT_OK(model);
    EXPECT_EQ(std::get<LinearScaling>(RopeOf(model).scaling).factor, 2);
    EXPECT_NEAR(PlainFrequency(RopeOf(model), 1) / 2, 0.432982162, 1e-9);
    EXPECT_FALSE(HasNote(model, "is used, not"));
  }
}

TEST(ReportedConfigsTest, DifferentTypesFollowRopeTypeWithANote) {
  const auto model = ResolveWith(R"("rope_scaling":{"factor":2,"type":"yarn","rope_type":"linear"})");
  ASSERT_OK(model);
  EXPECT_EQ(std::get<LinearScaling>(RopeOf(model).scaling).factor, 2);
  EXPECT_TRUE(HasNote(model, "rope_scaling.rope_type \"linear\" is used, not rope_scaling.type \"yarn\""));
}

// deepspeedai/DeepSpeed#8345, sgl-project/mini-sglang#13, InternLM/lmdeploy#4304
TEST(ReportedConfigsTest, ThetaInsideRopeParametersIsUsed) {
  const auto model = ResolveWith(R"("rope_parameters":{"rope_type":"default","rope_theta":1000000.0})");
  ASSERT_OK(model);
  EXPECT_EQ(RopeOf(model).base, 1e6);
  EXPECT_NEAR(std::cos(1000 * PlainFrequency(RopeOf(model), 32)), 0.540302306, 1e-9);
  EXPECT_EQ(OriginOf(model, "rope.base").source, "rope_parameters.rope_theta");
}

TEST(ReportedConfigsTest, ThetaThatIsNowhereIsFlaggedAsDefault) {
  const auto model = ResolveWith("");
  ASSERT_OK(model);
  EXPECT_EQ(RopeOf(model).base, 1e4);
  EXPECT_TRUE(OriginOf(model, "rope.base").defaulted);
}

TEST(ReportedConfigsTest, TwoDifferentThetasFollowTheBlockWithANote) {
  const auto model = ResolveWith(R"("rope_theta":10000,"rope_parameters":{"rope_theta":500000})");
  ASSERT_OK(model);
  EXPECT_EQ(RopeOf(model).base, 5e5);
  EXPECT_TRUE(HasNote(model, "rope_parameters.rope_theta 500000 is used, not rope_theta 10000"));
}

// ROCm/aiter#4742
TEST(ReportedConfigsTest, BlocksThatScaleNothingArePlain) {
  for (const std::string block :
       {"null", "{}", R"({"rope_type":"default"})",
        R"({"rope_theta":1000000,"partial_rotary_factor":1.0,"rope_type":"default"})"}) {
    for (const std::string name : {"rope_scaling", "rope_parameters"}) {
      const auto model = ResolveWith(absl::StrCat("\"", name, "\":", block));
      ASSERT_OK(model);
      EXPECT_TRUE(IsPlain(model));
      EXPECT_EQ(RopeOf(model).rotary_dim, 128);
    }
  }
}

TEST(ReportedConfigsTest, YarnWithoutOriginalLengthTakesTheLongestWithANote) {
  const auto model =
      ResolveWith(R"("max_position_embeddings":32768,"rope_scaling":{"rope_type":"yarn","factor":4.0})");
  ASSERT_OK(model);
  EXPECT_EQ(std::get<YarnScaling>(RopeOf(model).scaling).original_max_len, 32768);
  EXPECT_TRUE(HasNote(model, "is taken as the trained length"));
}

// vllm-project/vllm#27722: gpt-oss ends its ramp between two pairs.
TEST(ReportedConfigsTest, TruncateIsReadAndTrueWhenAbsent) {
  for (const std::string key : {"", R"(,"truncate":true)", R"(,"truncate":null)", R"(,"truncate":false)"}) {
    const auto model = ResolveWith(
        R"("rope_scaling":{"rope_type":"yarn","factor":32,"original_max_position_embeddings":4096)" + key +
        "}");
    ASSERT_OK(model);
    EXPECT_EQ(std::get<YarnScaling>(RopeOf(model).scaling).truncate, key.find("false") == std::string::npos);
    EXPECT_NEAR(model->tables[0].magnitude, 1.346573590, 1e-9);
  }
}

// ml-explore/mlx-lm#1507, vllm-project/vllm#46280 and #48351
TEST(ReportedConfigsTest, AttentionFactorReplacesTheFormula) {
  const auto with = [](const std::string& factor, const std::string& more) {
    return ResolveWith(absl::StrCat(R"("rope_scaling":{"rope_type":"yarn","factor":)", factor, more,
                                    R"(,"original_max_position_embeddings":4096})"))->tables.at(0).magnitude;
  };
  const std::pair<const char*, double> kFormula[] = {{"4", 1.138629436},  {"8", 1.207944154},
                                                     {"16", 1.277258872}, {"40", 1.368887945},
                                                     {"64", 1.415888308}, {"128", 1.485203026}};
  for (const auto& [factor, magnitude] : kFormula) {
    EXPECT_NEAR(with(factor, ""), magnitude, 1e-9);
    EXPECT_NEAR(with(factor, R"(,"attention_factor":null)"), magnitude, 1e-9);
    EXPECT_EQ(with(factor, R"(,"attention_factor":1.0)"), 1.0);
  }
}

// vllm-project/vllm#41236, #3488, #5093; huggingface/transformers#25306
TEST(ReportedConfigsTest, DynamicScalingIsAFunctionOfTheLengthAsked) {
  const std::string config = R"({"model_type":"llama","head_dim":128,"max_position_embeddings":2048,
                                 "rope_scaling":{"type":"dynamic","factor":2}})";
  for (const int64_t length : {100, 2048, 4096, 100}) {
    const auto model = ResolveModel({.config_json = config, .effective_length = length});
    ASSERT_OK(model);
    EXPECT_EQ(IsPlain(model), length <= 2048);
    EXPECT_EQ(RopeOf(model).effective_length.has_value(), length > 2048);
  }
  EXPECT_TRUE(HasNote(ResolveModelConfig(config), "depends on the sequence"));
}

// jmaczan/tiny-vllm#1, ggml-org/llama.cpp#8676, felafax/felafax#59
TEST(ReportedConfigsTest, Llama32KeepsItsFactorOf32) {
  const auto model = ResolveWith(
      R"("head_dim":64,"rope_theta":500000,"rope_scaling":{"factor":32.0,"high_freq_factor":4.0,
         "low_freq_factor":1.0,"original_max_position_embeddings":8192,"rope_type":"llama3"})");
  ASSERT_OK(model);
  EXPECT_EQ(RopeOf(model).head_dim, 64);
  EXPECT_EQ(std::get<Llama3Scaling>(RopeOf(model).scaling).factor, 32);
  EXPECT_EQ(model->tables[0].magnitude, 1);
}

// lablup/mlxcel#1358, ml-explore/mlx-lm#660
TEST(ReportedConfigsTest, LongRopeHasATableForEachList) {
  const std::string config =
      R"({"model_type":"phi3","head_dim":4,"max_position_embeddings":131072,
          "original_max_position_embeddings":4096,
          "rope_scaling":{"type":"su","short_factor":[1,1],"long_factor":[4,4]}})";
  const auto both = ResolveModelConfig(config);
  ASSERT_OK(both);
  ASSERT_EQ(both->tables.size(), 2u);
  EXPECT_NE(KeyOf(both->tables[0].spec), KeyOf(both->tables[1].spec));
  for (const ModelTable& table : both->tables) EXPECT_NEAR(table.magnitude, 1.190238071, 1e-9);
  const auto longer = ResolveModel({.config_json = config, .effective_length = 8000});
  ASSERT_EQ(longer->tables.size(), 1u);
  EXPECT_EQ(KeyOf(longer->tables[0].spec), KeyOf(both->tables[1].spec));
}

// pytorch/torchtitan#4117
TEST(ReportedConfigsTest, YarnDoesNotDependOnTheRows) {
  const std::string block =
      R"("rope_scaling":{"type":"yarn","factor":40,"original_max_position_embeddings":4096})";
  for (const std::string rows : {"16", "4096", "5000"}) {
    const auto model = ResolveWith(absl::StrCat(R"("max_position_embeddings":)", rows, ",", block));
    ASSERT_OK(model);
    EXPECT_EQ(std::get<YarnScaling>(RopeOf(model).scaling).factor, 40);
    EXPECT_EQ(RopeOf(model).max_len, std::stoll(rows));
  }
}

// pegainfer-project/pegainfer#253
TEST(ReportedConfigsTest, LongestInputIsTheTablesLength) {
  EXPECT_EQ(RopeOf(ResolveWith(R"("max_position_embeddings":262144)")).max_len, 262144);
}

// HabanaAI/vllm-fork#1294, tenstorrent/vllm#148
TEST(ReportedConfigsTest, NullHeadDimIsTheQuotient) {
  const auto model = ResolveModelConfig(R"({"hidden_size":4096,"num_attention_heads":32,"head_dim":null})");
  ASSERT_OK(model);
  EXPECT_EQ(RopeOf(model).head_dim, 128);
  EXPECT_NEAR(PlainFrequency(RopeOf(model), 1), 0.865964323, 1e-9);
  EXPECT_EQ(OriginOf(model, "rope.head_dim").source, "hidden_size / num_attention_heads");
}

TEST(ReportedConfigsTest, QuotientThatDoesNotDivideIsRejected) {
  EXPECT_THAT(ResolveModelConfig(R"({"hidden_size":4100,"num_attention_heads":32,"head_dim":null})"),
              AllOf(StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("a multiple of")),
                    ViolatesField("hidden_size")));
}

// huggingface/candle#2358, huggingface/transformers#32495
TEST(ReportedConfigsTest, WrittenHeadDimBeatsTheQuotient) {
  const auto model = ResolveModelConfig(
      R"({"hidden_size":5120,"num_attention_heads":32,"head_dim":128,"rope_theta":1000000.0})");
  ASSERT_OK(model);
  EXPECT_EQ(RopeOf(model).head_dim, 128);
  EXPECT_NEAR(PlainFrequency(RopeOf(model), 1), 0.805842188, 1e-9);
}

// ml-explore/mlx-lm#1698
TEST(ReportedConfigsTest, GlmRotatesHalfOfTheHead) {
  for (const std::string factor : {"", R"(,"partial_rotary_factor":0.5)"}) {
    const auto model = ResolveModelConfig(absl::StrCat(
        R"({"model_type":"glm","head_dim":128,"num_attention_heads":32,"rope_theta":10000.0)", factor, "}"));
    ASSERT_OK(model);
    EXPECT_EQ(RopeOf(model).rotary_dim, 64);
    EXPECT_NEAR(PlainFrequency(RopeOf(model), 1), 0.749894209, 1e-9);
    EXPECT_EQ(model->tables[0].pairing, Pairing::kInterleaved);
    EXPECT_EQ(OriginOf(model, "rope.rotary_dim").defaulted, factor.empty());
  }
}

}  // namespace
}  // namespace posenc
