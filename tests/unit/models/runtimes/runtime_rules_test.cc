// One config, several tables: where runtimes differ, and that they do not differ elsewhere. The reports are
// named above the claims.

#include <cmath>
#include <optional>
#include <string>
#include <variant>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/core/table_key.h"
#include "server/models/model_config.h"
#include "tests/support/matchers.h"
#include "tests/unit/models/config_files.h"

namespace posenc {
namespace {

using ::testing::ElementsAre;

absl::StatusOr<ModelTables> ResolveAs(Runtime runtime, const std::string& config,
                                      std::optional<int64_t> effective_length = {}) {
  return ResolveModel({.config_json = config, .runtime = runtime, .effective_length = effective_length});
}

constexpr Runtime kOthers[] = {Runtime::kVllm, Runtime::kLlamaCpp, Runtime::kTensorRtLlm, Runtime::kMlxLm};

std::string Scaled(const std::string& block, const std::string& model_type = "qwen2") {
  return absl::StrCat(R"({"hidden_size":4096,"num_attention_heads":32,"max_position_embeddings":32768,)",
                      R"("rope_theta":10000,"model_type":")", model_type, R"(","rope_scaling":{)", block,
                      "}}");
}

double MagnitudeAs(Runtime runtime, const std::string& config) {
  return ResolveAs(runtime, config).value().tables.at(0).magnitude;
}

// vllm-project/vllm#46280, #48351; ml-explore/mlx-lm#1507
TEST(RuntimeRulesTest, WrittenAttentionFactorIsDroppedByTheOthers) {
  const std::string config = Scaled(R"("rope_type":"yarn","factor":64,"attention_factor":1.0,
                                       "original_max_position_embeddings":4096)");
  EXPECT_EQ(MagnitudeAs(Runtime::kTransformers, config), 1.0);
  EXPECT_NEAR(MagnitudeAs(Runtime::kVllm, config), 1.415888308, 1e-9);
  EXPECT_NEAR(MagnitudeAs(Runtime::kLlamaCpp, config), 1.415888308, 1e-9);
  EXPECT_NEAR(MagnitudeAs(Runtime::kMlxLm, config), 1.415888308, 1e-9);
  // Its mscale_all_dim is 0.0 where the file has none, so the factor is 0.1 ln s + 1.
  EXPECT_NEAR(MagnitudeAs(Runtime::kTensorRtLlm, config), 1.415888308, 1e-9);
}

// vllm-project/vllm#48621: Ministral 3 has mscale = mscale_all_dim = 1 and factor 16.
TEST(RuntimeRulesTest, VllmIgnoresMinistralsMagnitudes) {
  const std::string config = Scaled(R"("rope_type":"yarn","factor":16,"mscale":1.0,"mscale_all_dim":1.0,
                                       "original_max_position_embeddings":16384)", "ministral3");
  EXPECT_EQ(MagnitudeAs(Runtime::kTransformers, config), 1.0);
  EXPECT_NEAR(MagnitudeAs(Runtime::kVllm, config), 1.277258872, 1e-9);
}

TEST(RuntimeRulesTest, DeepSeekHasNoMagnitudeAnywhere) {
  const std::string config = ReadGolden("ipex_deepseekv2", "config.json");
  for (const Runtime runtime : kOthers) {
    const auto model = ResolveAs(runtime, config);
    ASSERT_OK(model);
    EXPECT_NEAR(model->tables[0].magnitude, 1.0, 1e-12);
    EXPECT_NEAR(model->tables[0].softmax_scale, std::pow(0.1 * std::log(40) + 1, 2), 1e-12);
  }
}

// vllm-project/vllm#27722
TEST(RuntimeRulesTest, UntruncatedYarnIsTransformersAndVllms) {
  for (const Runtime runtime : kOthers) {
    const auto model = ResolveAs(runtime, R"({"model_type":"gpt_oss","rope_theta":150000})");
    ASSERT_OK(model);
    EXPECT_EQ(std::get<YarnScaling>(RopeOf(model).scaling).truncate, runtime != Runtime::kVllm);
  }
}

// vllm-project/vllm#3488, #41236, #41277; huggingface/transformers#25104
TEST(RuntimeRulesTest, DynamicScalingIsThreeTables) {
  const std::string config = Scaled(R"("rope_type":"dynamic","factor":2)");
  EXPECT_TRUE(
      std::holds_alternative<std::monostate>(RopeOf(ResolveAs(Runtime::kTransformers, config)).scaling));
  const auto asked = ResolveAs(Runtime::kTransformers, config, 40000);
  EXPECT_EQ(RopeOf(asked).effective_length, 40000);
  EXPECT_EQ(std::get<DynamicScaling>(RopeOf(asked).scaling).original_max_len, 32768);
  const auto vllm = ResolveAs(Runtime::kVllm, config, 40000);
  EXPECT_EQ(RopeOf(vllm).effective_length, 65536);
  EXPECT_TRUE(HasNote(vllm, "#41277"));
  EXPECT_TRUE(
      std::holds_alternative<std::monostate>(RopeOf(ResolveAs(Runtime::kLlamaCpp, config, 40000)).scaling));
  EXPECT_THAT(ResolveAs(Runtime::kTensorRtLlm, config),
              StatusIs(absl::StatusCode::kUnimplemented, ::testing::HasSubstr("refuses")));
}

TEST(RuntimeRulesTest, AlphaIsTheSameEverywhere) {
  const std::string config = Scaled(R"("rope_type":"dynamic","factor":1,"alpha":1000)", "hunyuan_v1_dense");
  for (const Runtime runtime : kOthers) {
    EXPECT_EQ(std::get<NtkAlphaScaling>(RopeOf(ResolveAs(runtime, config)).scaling).alpha, 1000);
  }
}

const char* const kPhi3 =
    R"({"model_type":"phi3","head_dim":4,"max_position_embeddings":131072,
        "original_max_position_embeddings":4096,
        "rope_scaling":{"type":"longrope","short_factor":[1,1.1],"long_factor":[2,3]}})";

// ggml-org/llama.cpp#24823; lablup/mlxcel#1358; ml-explore/mlx-lm#660
TEST(RuntimeRulesTest, LongRopeSwitchesByRuntime) {
  const auto is_long = [](Runtime runtime, std::optional<int64_t> length) {
    const auto model = ResolveAs(runtime, kPhi3, length);
    return !std::get<LongRopeScaling>(RopeOf(model).scaling).long_factor.empty();
  };
  EXPECT_EQ(ResolveAs(Runtime::kTransformers, kPhi3)->tables.size(), 2u);
  EXPECT_EQ(ResolveAs(Runtime::kLlamaCpp, kPhi3)->tables.size(), 2u);
  EXPECT_FALSE(is_long(Runtime::kTransformers, 100));
  EXPECT_FALSE(is_long(Runtime::kLlamaCpp, 4096));
  EXPECT_TRUE(is_long(Runtime::kVllm, std::nullopt));
  EXPECT_FALSE(is_long(Runtime::kVllm, 4096));
  EXPECT_TRUE(is_long(Runtime::kMlxLm, 100));
}

TEST(RuntimeRulesTest, TensorRtLongRopeMagnitudeFollowsItsRows) {
  EXPECT_NEAR(MagnitudeAs(Runtime::kTransformers, kPhi3), 1.190238071, 1e-9);
  EXPECT_NEAR(MagnitudeAs(Runtime::kTensorRtLlm, kPhi3), 1.190238071, 1e-9);
  const auto shorter = ResolveAs(Runtime::kTensorRtLlm, kPhi3, 8192);
  EXPECT_NEAR(shorter->tables[0].magnitude, std::sqrt(1 + 1.0 / 12), 1e-12);
}

TEST(RuntimeRulesTest, VllmReadsMagnitudesOfBothLists) {
  const std::string config =
      R"({"model_type":"phi3","head_dim":4,"max_position_embeddings":131072,
          "original_max_position_embeddings":4096,"rope_scaling":{"type":"longrope","short_mscale":1.1,
          "long_mscale":1.3,"short_factor":[1,1.1],"long_factor":[2,3]}})";
  EXPECT_EQ(MagnitudeAs(Runtime::kVllm, config), 1.3);
  EXPECT_EQ(ResolveAs(Runtime::kVllm, config, 2048)->tables[0].magnitude, 1.1);
  EXPECT_NEAR(MagnitudeAs(Runtime::kTransformers, config), 1.190238071, 1e-9);
}

// MNN#4133, ollama#12807, ggml-org/llama.cpp#19443
TEST(RuntimeRulesTest, LlamaCppGivesLeftoversToAFourthAxis) {
  const std::string config = ReadGolden("sophgo_Qwen3_VL", "config.json");
  const RopeAxes meant = RopeOf(ResolveAs(Runtime::kVllm, config)).axes.value();
  EXPECT_EQ(meant.map, AxisMap::kInterleaved);
  const RopeAxes ggml = RopeOf(ResolveAs(Runtime::kLlamaCpp, config)).axes.value();
  EXPECT_EQ(ggml.map, AxisMap::kInterleavedGgml);
  EXPECT_THAT(ggml.sections, ElementsAre(24, 20, 20, 0));
}

// ollama/ollama#2379
TEST(RuntimeRulesTest, LlamaCppDoesNotKnowTheClassesBase) {
  const std::string config = R"({"model_type":"mixtral"})";
  EXPECT_EQ(RopeOf(ResolveAs(Runtime::kTransformers, config)).base, 1e6);
  const auto model = ResolveAs(Runtime::kLlamaCpp, config);
  EXPECT_EQ(RopeOf(model).base, 1e4);
  EXPECT_TRUE(HasNote(model, "base 10000 and not 1000000"));
  EXPECT_EQ(RopeOf(ResolveAs(Runtime::kLlamaCpp, R"({"model_type":"mixtral","rope_theta":1e6})")).base, 1e6);
}

TEST(RuntimeRulesTest, MlxTakes4096ForTheTrainedLength) {
  const std::string config = Scaled(R"("rope_type":"yarn","factor":4)");
  EXPECT_EQ(std::get<YarnScaling>(RopeOf(ResolveAs(Runtime::kTransformers, config)).scaling).original_max_len, 32768);
  EXPECT_EQ(std::get<YarnScaling>(RopeOf(ResolveAs(Runtime::kTensorRtLlm, config)).scaling).original_max_len, 1024);
  EXPECT_THAT(ResolveAs(Runtime::kVllm, config),
              StatusIs(absl::StatusCode::kUnimplemented, ::testing::HasSubstr("KeyError")));
  EXPECT_EQ(std::get<YarnScaling>(RopeOf(ResolveAs(Runtime::kMlxLm, config)).scaling).original_max_len, 4096);
}

TEST(RuntimeRulesTest, NtkHasVllmsSteps) {
  const std::string config = Scaled(R"("rope_type":"ntk","factor":8)");
  EXPECT_EQ(std::get<NtkScaling>(RopeOf(ResolveAs(Runtime::kTransformers, config)).scaling).rule,
            NtkRule::kExponent);
  EXPECT_EQ(std::get<NtkScaling>(RopeOf(ResolveAs(Runtime::kVllm, config)).scaling).rule, NtkRule::kVllm);
  const std::string mixed = Scaled(R"("rope_type":"ntk","factor":8,"mixed_b":0.625)");
  EXPECT_EQ(std::get<NtkScaling>(RopeOf(ResolveAs(Runtime::kVllm, mixed)).scaling).mixed_b, 0.625);
}

TEST(RuntimeRulesTest, GgufWeightsOfLlamaArePermuted) {
  const std::string config = R"({"model_type":"llama"})";
  EXPECT_EQ(ResolveAs(Runtime::kVllm, config)->tables[0].pairing, Pairing::kHalfSplit);
  EXPECT_EQ(ResolveAs(Runtime::kLlamaCpp, config)->tables[0].pairing, Pairing::kInterleaved);
}

// What all runtimes read alike has one table, whoever asks.
TEST(RuntimeRulesTest, PlainLinearAndLlama3AreOneTable) {
  for (const std::string block :
       {R"("rope_type":"default")", R"("rope_type":"linear","factor":4)",
        R"("rope_type":"llama3","factor":8,"low_freq_factor":1,"high_freq_factor":4,
           "original_max_position_embeddings":8192)",
        R"("rope_type":"yarn","factor":4,"mscale_all_dim":0,"original_max_position_embeddings":8192)"}) {
    const TableKey key = KeyOf(ResolveAs(Runtime::kTransformers, Scaled(block))->tables[0].spec);
    EXPECT_EQ(KeyOf(ResolveAs(Runtime::kVllm, Scaled(block))->tables[0].spec), key) << block;
    EXPECT_EQ(KeyOf(ResolveAs(Runtime::kMlxLm, Scaled(block))->tables[0].spec), key) << block;
    EXPECT_EQ(KeyOf(ResolveAs(Runtime::kLlamaCpp, Scaled(block))->tables[0].spec), key) << block;
  }
}

class RuntimeOfGoldenConfigTest : public ::testing::TestWithParam<std::string> {};

TEST_P(RuntimeOfGoldenConfigTest, EveryRuntimeAnswers) {
  for (const Runtime runtime : kOthers) {
    const auto model = ResolveAs(runtime, ReadGolden(GetParam(), "config.json"), 4096);
    EXPECT_TRUE(model.ok() || model.status().code() == absl::StatusCode::kUnimplemented) << model.status();
  }
}

INSTANTIATE_TEST_SUITE_P(All, RuntimeOfGoldenConfigTest, ::testing::ValuesIn(GoldenConfigIds()),
                         GoldenTestName);

}  // namespace
}  // namespace posenc
