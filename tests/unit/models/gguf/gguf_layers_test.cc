// Which layers of a GGUF file's model rotate, by which base, and what else its keys tell: one claim each.

#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/models/model_config.h"
#include "tests/support/matchers.h"
#include "tests/unit/models/config_files.h"

namespace posenc {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A model of `layers` layers with heads of 128 channels; "A." in `keys` stands for the architecture.
absl::StatusOr<ModelTables> Resolve(const std::string& architecture, int layers, const std::string& keys,
                                    const std::string& tensors = "") {
  std::string text = absl::StrCat(
      R"({"metadata":{"general.architecture":")", architecture,
      R"(","A.context_length":8192,"A.embedding_length":4096,"A.attention.head_count":32,"A.block_count":)", layers,
      keys.empty() ? "" : ",", keys, R"(},"tensors":{)", tensors, "}}");
  absl::StrReplaceAll({{"\"A.", absl::StrCat("\"", architecture, ".")}}, &text);
  return ResolveModel({.gguf_json = text, .runtime = Runtime::kLlamaCpp});
}

RopeSpec RopeAt(const absl::StatusOr<ModelTables>& model, size_t table) {
  return std::get<RopeSpec>(model.value().tables.at(table).spec.family);
}

TEST(GgufLayersTest, SlidingLayersHaveTheBuiltInBase) {
  const auto model = Resolve("gemma3", 7, R"("A.attention.sliding_window":1024,"A.rope.freq_base":1000000)");
  ASSERT_OK(model);
  ASSERT_EQ(model->tables.size(), 2u);
  EXPECT_THAT(model->tables[0].layers, ElementsAre(5));
  EXPECT_THAT(model->tables[1].layers, ElementsAre(0, 1, 2, 3, 4, 6));
  EXPECT_EQ(RopeAt(model, 1).base, 1e4);
}

TEST(GgufLayersTest, PatternsAreListsOrPeriods) {
  const auto list = Resolve("mimo2", 4, R"("A.attention.sliding_window":128,"A.rope.freq_base":5000000,
      "A.attention.sliding_window_pattern":[false,true,true,false])");
  EXPECT_THAT(list->tables.at(0).layers, ElementsAre(0, 3));
  const auto period = Resolve("gemma3", 4, R"("A.attention.sliding_window":128,"A.rope.freq_base":5000000,
      "A.attention.sliding_window_pattern":2)");
  EXPECT_THAT(period->tables.at(0).layers, ElementsAre(1, 3));
}

TEST(GgufLayersTest, LayersThatPredictFurtherTokensAreNamed) {
  const auto model = Resolve("glm4moe", 5, R"("A.nextn_predict_layers":1,"A.rope.freq_base":1000000)");
  EXPECT_THAT(model->tables.at(0).layers, ElementsAre(0, 1, 2, 3));
  EXPECT_TRUE(HasNote(model, "layers 4 to 4 predict further tokens"));
}

TEST(GgufLayersTest, ScalingOfSlidingLayersIsTheArchitectures) {
  const std::string keys = R"("A.attention.sliding_window":4096,"A.rope.freq_base":500000,
      "A.rope.scaling.type":"linear","A.rope.scaling.factor":8)";
  const auto olmo = Resolve("olmo2", 4, keys);
  ASSERT_EQ(olmo->tables.size(), 2u);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(RopeAt(olmo, 1).scaling));
  const auto gpt_oss = Resolve("gpt-oss", 4, keys);
  ASSERT_EQ(gpt_oss->tables.size(), 1u);
  EXPECT_EQ(std::get<LinearScaling>(RopeAt(gpt_oss, 0).scaling).factor, 8);
}

TEST(GgufLayersTest, FullLayersWithoutRotationAreNamed) {
  const auto model = Resolve("cohere2", 8, R"("A.attention.sliding_window":4096,"A.rope.freq_base":50000)");
  EXPECT_THAT(model->tables.at(0).layers, ElementsAre(0, 1, 2, 4, 5, 6));
  EXPECT_THAT(model->layers_without_table, ElementsAre(3, 7));
  EXPECT_TRUE(Resolve("exaone4", 4, R"("A.rope.freq_base":1000000)")->layers_without_table.empty());
}

TEST(GgufLayersTest, LayersWithoutAttentionDoNotRotate) {
  const auto lfm2 = Resolve("lfm2", 4, R"("A.attention.head_count_kv":[0,0,8,0],"A.rope.freq_base":1000000)");
  EXPECT_THAT(lfm2->tables.at(0).layers, ElementsAre(2));
  const auto next = Resolve("qwen3next", 4, R"("A.rope.freq_base":1000000)");
  EXPECT_THAT(next->tables.at(0).layers, ElementsAre(3));
  EXPECT_THAT(next->layers_without_table, ElementsAre(0, 1, 2));
}

TEST(GgufLayersTest, FilesThatRotateNothingHaveNoTable) {
  EXPECT_THAT(Resolve("granite", 2, R"("A.rope.scaling.finetuned":false)")->tables, IsEmpty());
  EXPECT_THAT(Resolve("granite", 2, "")->tables, ::testing::SizeIs(1));
  EXPECT_THAT(Resolve("llama", 2, R"("A.rope.dimension_count":0)")->tables, IsEmpty());
}

TEST(GgufLayersTest, IndexersHaveATable) {
  const auto model = Resolve("deepseek32", 2, R"("A.rope.dimension_count":64,"A.rope.freq_base":10000)");
  ASSERT_EQ(model->tables.size(), 2u);
  EXPECT_EQ(model->tables[0].pairing, Pairing::kInterleaved);
  EXPECT_EQ(model->tables[1].name, "indexer");
  EXPECT_EQ(model->tables[1].pairing, Pairing::kHalfSplit);
  EXPECT_EQ(RopeAt(model, 1).head_dim, 128);
}

TEST(GgufLayersTest, CompressedLayersHaveTheirOwnBase) {
  const auto model = Resolve("deepseek4", 4, R"("A.attention.key_length":512,"A.rope.dimension_count":64,
      "A.rope.freq_base":10000,"A.attention.compress_rope_freq_base":160000,"A.attention.compress_ratios":[0,0,4,128],
      "A.rope.scaling.type":"linear","A.rope.scaling.factor":16)");
  ASSERT_OK(model);
  EXPECT_EQ(RopeAt(model, 0).base, 160000);
  EXPECT_THAT(model->tables[0].layers, ElementsAre(2, 3));
  EXPECT_EQ(RopeAt(model, 1).base, 1e4);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(RopeAt(model, 1).scaling));
  EXPECT_EQ(model->tables[1].rotary_begin, 448);
}

TEST(GgufLayersTest, FullLayersOfStepRotateHalfOfTheWidth) {
  const auto model = Resolve("step35", 2, R"("A.attention.sliding_window":512,"A.rope.freq_base":5000000,
      "A.rope.dimension_count":128,"A.attention.sliding_window_pattern":[0,1])");
  EXPECT_EQ(RopeAt(model, 0).rotary_dim, 64);
  EXPECT_EQ(RopeAt(model, 1).rotary_dim, 128);
  EXPECT_EQ(RopeAt(model, 1).base, 1e4);
}

TEST(GgufLayersTest, KeysOfRotationThatNobodyReadsAreTold) {
  EXPECT_TRUE(HasNote(Resolve("llama", 2, R"("A.rope.odd":3)"), "llama.rope.odd is not used"));
  EXPECT_TRUE(HasNote(Resolve("llama", 2, R"("A.rope.freq_base_swa":7)"), "llama.rope.freq_base_swa is not used"));
}

TEST(GgufLayersTest, UnknownArchitecturesAssumeTheirPairing) {
  const auto model = Resolve("brand-new", 2, R"("A.rope.freq_base":7)");
  EXPECT_TRUE(OriginOf(model, "pairing").assumed);
  EXPECT_FALSE(OriginOf(Resolve("llama", 2, ""), "pairing").assumed);
}

}  // namespace
}  // namespace posenc
