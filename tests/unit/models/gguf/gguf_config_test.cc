// What the metadata of a GGUF file means: one claim each. Files are written by the test and read back.

#include <cmath>
#include <string>
#include <variant>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/models/gguf/gguf.h"
#include "server/models/gguf/gguf_architectures.h"
#include "server/models/model_config.h"
#include "tests/support/matchers.h"
#include "tests/unit/models/config_files.h"
#include "tests/unit/models/gguf/gguf_writer.h"

namespace posenc {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<ModelTables> Resolve(const GgufWriter& writer, Runtime runtime = Runtime::kLlamaCpp,
                                    std::optional<int64_t> effective_length = {}) {
  const auto file = ReadGguf(WriteFile(writer.ToBytes()));
  if (!file.ok()) return file.status();
  return ResolveModel(
      {.gguf_json = GgufToJson(*file), .runtime = runtime, .effective_length = effective_length});
}

// A file of an architecture with heads of 128 channels.
GgufWriter Model(const std::string& name) {
  GgufWriter writer;
  writer.Text("general.architecture", name).U32(name + ".context_length", 8192);
  writer.U32(name + ".embedding_length", 4096).U32(name + ".attention.head_count", 32);
  return writer;
}

TEST(ResolveGgufTest, LlamaIsInterleavedWithItsBase) {
  const auto model =
      Resolve(Model("llama").F32("llama.rope.freq_base", 500000).U32("llama.rope.dimension_count", 128));
  ASSERT_OK(model);
  EXPECT_EQ(model->model_type, "llama");
  EXPECT_TRUE(model->known_family);
  EXPECT_EQ(model->tables[0].pairing, Pairing::kInterleaved);
  EXPECT_EQ(RopeOf(model).base, 500000);
  EXPECT_EQ(RopeOf(model).max_len, 8192);
  EXPECT_EQ(OriginOf(model, "rope.base").source, "llama.rope.freq_base");
  EXPECT_EQ(OriginOf(model, "rope.head_dim").source, "llama.embedding_length / llama.attention.head_count");
}

// ollama#2379
TEST(ResolveGgufTest, MissingBaseIsTenThousandWithANote) {
  const auto model = Resolve(Model("qwen2"));
  ASSERT_OK(model);
  EXPECT_EQ(RopeOf(model).base, 10000);
  EXPECT_EQ(model->tables[0].pairing, Pairing::kHalfSplit);
  EXPECT_TRUE(OriginOf(model, "rope.base").defaulted);
  EXPECT_TRUE(HasNote(model, "freq_base is missing"));
}

TEST(ResolveGgufTest, LinearScalingNeedsNoType) {
  for (const char* key : {"llama.rope.scaling.factor", "llama.rope.scale_linear"}) {
    const auto model = Resolve(Model("llama").F32(key, 4));
    ASSERT_OK(model);
    EXPECT_EQ(std::get<LinearScaling>(RopeOf(model).scaling).factor, 4);
  }
  EXPECT_TRUE(std::holds_alternative<std::monostate>(
      RopeOf(Resolve(Model("llama").F32("llama.rope.scaling.factor", 0))).scaling));
}

TEST(ResolveGgufTest, FrequencyDivisorsAreReadFromTheTensor) {
  GgufWriter writer = Model("llama");
  writer.U32("llama.rope.dimension_count", 8).Tensor("rope_freqs.weight", {1, 1.5, 8, 8});
  const auto model = Resolve(writer);
  ASSERT_OK(model);
  EXPECT_THAT(std::get<FrequencyDivisors>(RopeOf(model).scaling).divisors, ElementsAre(1, 1.5, 8, 8));
  EXPECT_EQ(OriginOf(model, "rope.divisors.divisors").source, "rope_freqs.weight");
}

TEST(ResolveGgufTest, HugeDivisorsStopTheirPairs) {
  GgufWriter writer = Model("gemma4");
  writer.U32("gemma4.rope.dimension_count", 4)
      .F32("gemma4.rope.freq_base", 10000)
      .Tensor("rope_freqs.weight", {1, 1e30f});
  const auto model = Resolve(writer);
  ASSERT_OK(model);
  EXPECT_THAT(std::get<ExplicitFrequencies>(RopeOf(model).scaling).inverse_frequencies, ElementsAre(1, 0));
}

TEST(ResolveGgufTest, YarnHasItsMagnitude) {
  GgufWriter writer = Model("qwen3");
  writer.Text("qwen3.rope.scaling.type", "yarn").F32("qwen3.rope.scaling.factor", 4);
  writer.U32("qwen3.rope.scaling.original_context_length", 32768).F32("qwen3.rope.freq_base", 1e6f);
  const auto model = Resolve(writer);
  ASSERT_OK(model);
  EXPECT_EQ(std::get<YarnScaling>(RopeOf(model).scaling).original_max_len, 32768);
  EXPECT_FALSE(RopeOf(model).attention_factor.has_value());
  EXPECT_NEAR(model->tables[0].magnitude, 1.138629436, 1e-9);
}

// The converter stores a tenth of mscale_all_dim; DeepSeek's cosines stay as they are, its scores do not.
TEST(ResolveGgufTest, DeepSeekScalesItsScores) {
  GgufWriter writer = Model("deepseek2");
  writer.Text("deepseek2.rope.scaling.type", "yarn").F32("deepseek2.rope.scaling.factor", 40);
  writer.U32("deepseek2.rope.scaling.original_context_length", 4096)
      .U32("deepseek2.rope.dimension_count", 64);
  writer.F32("deepseek2.rope.scaling.yarn_log_multiplier", 0.1f);
  const auto model = Resolve(writer);
  ASSERT_OK(model);
  EXPECT_EQ(RopeOf(model).head_dim, 64);
  EXPECT_EQ(model->tables[0].magnitude, 1);
  EXPECT_NEAR(model->tables[0].softmax_scale, 1.368887945 * 1.368887945, 1e-7);
}

TEST(ResolveGgufTest, LongRopeFollowsTheContext) {
  GgufWriter writer = Model("phi3");
  writer.U32("phi3.rope.dimension_count", 4).U32("phi3.rope.scaling.original_context_length", 4096);
  writer.F32("phi3.rope.scaling.attn_factor", 1.19f);
  writer.Tensor("rope_factors_long.weight", {2, 3}).Tensor("rope_factors_short.weight", {1, 1.1f});
  const auto both = Resolve(writer);
  ASSERT_OK(both);
  ASSERT_EQ(both->tables.size(), 2u);
  EXPECT_EQ(both->tables[0].name, "main_short");
  EXPECT_NEAR(both->tables[1].magnitude, 1.19, 1e-6);
  const auto served = Resolve(writer, Runtime::kLlamaCpp, 8192);
  ASSERT_EQ(served->tables.size(), 1u);
  EXPECT_THAT(std::get<LongRopeScaling>(RopeOf(served).scaling).long_factor, ElementsAre(2, 3));
}

TEST(ResolveGgufTest, SlidingLayersHaveTheirOwnBase) {
  GgufWriter writer = Model("gemma3");
  writer.F32("gemma3.rope.freq_base", 1e6f).U32("gemma3.attention.sliding_window", 1024);
  writer.Text("gemma3.rope.scaling.type", "linear").F32("gemma3.rope.scaling.factor", 8);
  const auto model = Resolve(writer);
  ASSERT_OK(model);
  ASSERT_EQ(model->tables.size(), 2u);
  const auto& sliding = std::get<RopeSpec>(model->tables[1].spec.family);
  EXPECT_EQ(sliding.base, 1e4);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(sliding.scaling));
  EXPECT_EQ(std::get<LinearScaling>(RopeOf(model).scaling).factor, 8);
}

TEST(ResolveGgufTest, LeftoversOfInterleavedAxesAreLlamaCpps) {
  GgufWriter writer = Model("qwen3vl");
  writer.I32List("qwen3vl.rope.dimension_sections", {24, 20, 20, 0});
  const RopeAxes ggml = RopeOf(Resolve(writer)).axes.value();
  EXPECT_EQ(ggml.map, AxisMap::kInterleavedGgml);
  EXPECT_THAT(ggml.sections, ElementsAre(24, 20, 20, 0));
  const RopeAxes meant = RopeOf(Resolve(writer, Runtime::kTransformers)).axes.value();
  EXPECT_EQ(meant.map, AxisMap::kInterleaved);
  EXPECT_THAT(meant.sections, ElementsAre(24, 20, 20));
}

TEST(ResolveGgufTest, HunyuanAloneReadsAlpha) {
  for (const std::string name : {"hunyuan-dense", "llama"}) {
    const auto model = Resolve(Model(name).F32(name + ".rope.scaling.alpha", 1000));
    ASSERT_OK(model);
    EXPECT_EQ(std::holds_alternative<NtkAlphaScaling>(RopeOf(model).scaling), name != "llama");
  }
}

TEST(ResolveGgufTest, AlibiIsBuiltInOrWritten) {
  EXPECT_EQ(AlibiOf(Resolve(Model("bloom"))).bias_max, 8);
  EXPECT_EQ(AlibiOf(Resolve(Model("mpt").F32("mpt.attention.max_alibi_bias", 16))).bias_max, 16);
  EXPECT_EQ(AlibiOf(Resolve(Model("baichuan").U32("baichuan.block_count", 40))).heads, 32);
  EXPECT_EQ(RopeOf(Resolve(Model("baichuan").U32("baichuan.block_count", 32))).head_dim, 128);
}

TEST(ResolveGgufTest, TemperatureIsATableOfItsOwn) {
  const auto model = Resolve(Model("llama4"));
  ASSERT_OK(model);
  ASSERT_EQ(model->tables.size(), 2u);
  const auto& spec = std::get<QueryTemperatureSpec>(model->tables[1].spec.family);
  EXPECT_EQ(spec.position_offset, 1);
  EXPECT_EQ(spec.floor_len, 8192);
}

TEST(ResolveGgufTest, PositionTensorIsALearnedTable) {
  const auto model = Resolve(Model("gpt2").Tensor("position_embd.weight", {4, 3}, std::vector<float>(12, 0)));
  ASSERT_OK(model);
  ASSERT_EQ(model->tables.size(), 1u);
  EXPECT_EQ(std::get<LearnedSpec>(model->tables[0].spec.family).name, "position_embd.weight");
  EXPECT_TRUE(HasNote(model, "each of 3 positions"));
}

TEST(ResolveGgufTest, T5HasBuckets) {
  const auto model = Resolve(Model("t5").U32("t5.attention.relative_buckets_count", 32));
  ASSERT_OK(model);
  ASSERT_EQ(model->tables.size(), 2u);
  EXPECT_FALSE(
      std::get<T5Buckets>(std::get<RelativeBucketSpec>(model->tables[1].spec.family).rule).bidirectional);
}

TEST(ResolveGgufTest, WrongMetadataIsNamed) {
  EXPECT_THAT(ResolveModel({.gguf_json = "{"}), ViolatesField("gguf_json"));
  EXPECT_THAT(ResolveModel({.gguf_json = "{}"}), ViolatesField("metadata"));
  EXPECT_THAT(ResolveModel({.gguf_json = R"({"metadata":{"a":1}})"}), ViolatesField("general.architecture"));
  EXPECT_THAT(Resolve(Model("llama").Text("llama.rope.scaling.type", "dynamic")),
              ViolatesField("llama.rope.scaling.type"));
  EXPECT_THAT(Resolve(Model("llama").U32("llama.rope.dimension_count", 7)),
              ViolatesField("llama.rope.dimension_count"));
  EXPECT_THAT(ResolveModel({.config_json = "{}", .gguf_json = "{}"}), ViolatesField("config_json"));
}

TEST(ResolveGgufTest, UnknownArchitectureIsAnsweredFromItsKeys) {
  const auto model = Resolve(Model("brand-new").F32("brand-new.rope.freq_base", 77));
  ASSERT_OK(model);
  EXPECT_FALSE(model->known_family);
  EXPECT_EQ(RopeOf(model).base, 77);
  EXPECT_THAT(Resolve(Model("brand-new")),
              AllOf(StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("brand-new")),
                    ViolatesField("general.architecture")));
}

TEST(ResolveGgufTest, EveryArchitectureIsAnswered) {
  for (const GgufArchitecture& row : AllArchitectures()) {
    const std::string name(row.name);
    EXPECT_OK(Resolve(Model(name).U32(name + ".rope.dimension_count", 64))) << name;
    EXPECT_EQ(FindArchitecture(name), &row);
  }
}

}  // namespace
}  // namespace posenc
