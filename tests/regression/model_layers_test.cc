// Files of models whose layers, widths or parts were answered wrongly or left out. README.md lists them.

#include <cmath>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posenc/client.h"
#include "tests/regression/regression.h"

namespace posenc {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

ModelTables Resolve(const std::string& config, Runtime runtime = Runtime::kTransformers) {
  const auto model = LocalClient().ResolveModel({.config_json = config, .runtime = runtime});
  EXPECT_OK(model);
  return model.ok() ? *model : ModelTables();
}

ModelTables ResolveGgufText(const std::string& metadata) {
  const auto model = LocalClient().ResolveModel(
      {.gguf_json = absl::StrCat(R"({"metadata":{)", metadata, "}}"), .runtime = Runtime::kLlamaCpp});
  EXPECT_OK(model);
  return model.ok() ? *model : ModelTables();
}

// The table of that name; a failed test and an empty one where there is none.
ModelTable TableOf(const ModelTables& model, const std::string& name) {
  for (const ModelTable& table : model.tables) {
    if (table.name == name) return table;
  }
  ADD_FAILURE() << "no table " << name;
  return {};
}

Rope RopeOf(const ModelTable& table) {
  const auto* rope = std::get_if<Rope>(&table.spec.family);
  EXPECT_NE(rope, nullptr) << table.name;
  return rope == nullptr ? Rope() : *rope;
}

bool IsPlain(const ModelTable& table) { return std::holds_alternative<std::monostate>(RopeOf(table).scaling); }

constexpr char kKimi[] =
    R"({"model_type":"kimi_linear","hidden_size":2304,"num_attention_heads":32,"num_hidden_layers":27,
        "rope_theta":10000.0,"qk_rope_head_dim":64,"mla_use_nope":)";

// vLLM, models/kimi_linear.py: KimiMLAAttention asserts use_nope and makes no rotary embedding.
TEST(DecidingKeyTest, WhatDecidedIsNotCalledUnused) {
  const ModelTables model = Resolve(absl::StrCat(kKimi, "true}"));
  EXPECT_THAT(model.tables, IsEmpty());
  EXPECT_THAT(model.notes, Contains("the model has no positional table (mla_use_nope)"));
  EXPECT_THAT(model.notes, Not(Contains(HasSubstr("mla_use_nope is not used"))));
}

TEST(DecidingKeyTest, AValueThatTheCodeAssertsAgainstIsRefused) {
  EXPECT_THAT(LocalClient().ResolveModel({.config_json = absl::StrCat(kKimi, "false}")}),
              AllOf(StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("false")), ViolatesField("mla_use_nope")));
}

TEST(OneOriginTest, ARuntimesValueReplacesTheOriginToo) {
  const ModelTables model = Resolve(
      R"({"model_type":"qwen3_vl","rope_scaling":{"mrope_section":[24,20,20],"rope_type":"default"},"head_dim":128})",
      Runtime::kLlamaCpp);
  const ModelTables nas = Resolve(R"({"model_type":"nemotron-nas","head_dim":128})", Runtime::kLlamaCpp);
  for (const ModelTable& table : {TableOf(model, "main"), TableOf(nas, "main")}) {
    std::set<std::string> seen;
    for (const ValueOrigin& origin : table.origins) EXPECT_TRUE(seen.insert(origin.field).second) << origin.field;
  }
  for (const ValueOrigin& origin : TableOf(nas, "main").origins) {
    if (origin.field == "pairing") {
      EXPECT_EQ(origin.value, "interleaved");
    }
  }
}

// transformers, zamba2/configuration_zamba2.py: layers_block_type, hybrid_layer_ids, attention_head_dim.
TEST(Zamba2LayersTest, OnlyHybridLayersRotate) {
  const std::string head = R"({"model_type":"zamba2","use_mem_rope":true,"num_attention_heads":32,)";
  const ModelTables listed =
      Resolve(absl::StrCat(head, R"("hidden_size":3584,"num_hidden_layers":81,"hybrid_layer_ids":[6,11,17]})"));
  EXPECT_THAT(TableOf(listed, "main").layers, ElementsAre(6, 11, 17));
  const ModelTables usual = Resolve(absl::StrCat(head, R"("hidden_size":2560,"num_hidden_layers":54})"));
  EXPECT_THAT(TableOf(usual, "main").layers, ElementsAre(6, 12, 18, 24, 30, 36, 42, 47, 51));
  EXPECT_EQ(RopeOf(TableOf(usual, "main")).head_dim, 160);
}

TEST(Zamba2LayersTest, ALongContextRaisesBaseAndLength) {
  const ModelTables model = Resolve(
      R"({"model_type":"zamba2","use_mem_rope":true,"use_long_context":true,"hidden_size":2560,
          "num_attention_heads":32})");
  const Rope rope = RopeOf(TableOf(model, "main"));
  // 10000 * 8^(160 / 158)
  EXPECT_NEAR(rope.base, 82133.72, 0.01);
  EXPECT_EQ(rope.max_len, 16384);
}

// The classes' own defaults: bamba, granitemoehybrid: mamba alone; minimax: every second; recurrent_gemma: every third.
TEST(HybridDefaultsTest, LayersOfAFileWithoutAListAreTheClasss) {
  EXPECT_THAT(Resolve(R"({"model_type":"bamba","num_hidden_layers":4})").tables, IsEmpty());
  EXPECT_THAT(
      Resolve(R"({"model_type":"granitemoehybrid","num_hidden_layers":4,"position_embedding_type":"rope"})").tables,
      IsEmpty());
  const ModelTables minimax = Resolve(R"({"model_type":"minimax","num_hidden_layers":4,"head_dim":128})");
  EXPECT_THAT(TableOf(minimax, "main").layers, ElementsAre(0, 2));
  const ModelTables gemma = Resolve(R"({"model_type":"recurrent_gemma","num_hidden_layers":7})");
  EXPECT_THAT(TableOf(gemma, "main").layers, ElementsAre(2, 5));
}

// mlx-lm, models/plamo2.py: layer i has attention where i % mamba_step is mamba_step // 2.
TEST(HybridDefaultsTest, Plamo2CountsBySteps) {
  const ModelTables model =
      Resolve(R"({"model_type":"plamo2","num_hidden_layers":6,"mamba_step":2,"mamba_enabled":true})");
  EXPECT_THAT(TableOf(model, "main").layers, ElementsAre(1, 3, 5));
  const ModelTables plain = Resolve(R"({"model_type":"plamo2","num_hidden_layers":2,"mamba_enabled":false})");
  EXPECT_THAT(TableOf(plain, "main").layers, ElementsAre(0, 1));
}

// vLLM, models/molmo2.py: layers outside of rope_scaling_layers have the plain base.
TEST(ScaledLayersTest, ScalingIsForTheListedLayersAlone) {
  const ModelTables model = Resolve(
      R"({"model_type":"molmo2","text_config":{"model_type":"molmo2_text","head_dim":128,"num_hidden_layers":4,
          "rope_theta":1000000.0,"rope_scaling_layers":[1,3],"rope_scaling":{"rope_type":"yarn","factor":8.0,
          "original_max_position_embeddings":8192}},"vit_config":{"model_type":"molmo2","num_attention_heads":16}})");
  ASSERT_EQ(model.tables.size(), 3u);
  EXPECT_THAT(model.tables[0].layers, ElementsAre(0, 2));
  EXPECT_TRUE(IsPlain(model.tables[0]));
  EXPECT_THAT(model.tables[1].layers, ElementsAre(1, 3));
  EXPECT_FALSE(IsPlain(model.tables[1]));
  EXPECT_TRUE(std::holds_alternative<Learned>(TableOf(model, "vit_vision").spec.family));
}

// mlx-lm, models/baichuan_m1.py: head_dim is hidden_size // num_swa_attention_heads in sliding layers.
TEST(SlidingHeadsTest, FewerHeadsAreWider) {
  const ModelTables model = Resolve(
      R"({"model_type":"baichuan_m1","hidden_size":5120,"num_attention_heads":40,"num_swa_attention_heads":20,
          "head_dim":128,"num_hidden_layers":4,"sliding_window_layers":[1,3],"rope_theta":1000000.0})");
  const ModelTable sliding = TableOf(model, "sliding_attention");
  EXPECT_EQ(RopeOf(sliding).head_dim, 256);
  EXPECT_EQ(RopeOf(sliding).base, 1e6);
  EXPECT_THAT(sliding.layers, ElementsAre(1, 3));
  EXPECT_EQ(RopeOf(TableOf(model, "full_attention")).head_dim, 128);
}

// vLLM, models/openpangu.py: latent attention rotates a slice of its own, by neighbours.
TEST(LatentSliceTest, PanguNamesItsSliceDifferently) {
  const ModelTables model = Resolve(
      R"({"model_type":"pangu_ultra_moe","attention_qk_rope_dim":64,"hidden_size":7680,"num_attention_heads":128,
          "rope_theta":25600000})");
  EXPECT_EQ(RopeOf(TableOf(model, "main")).head_dim, 64);
  EXPECT_EQ(TableOf(model, "main").pairing, Pairing::kInterleaved);
}

TEST(BaseSpellingTest, OpenElmWritesAFrequencyConstant) {
  const ModelTables model = Resolve(R"({"model_type":"openelm","head_dim":64,"rope_freq_constant":20000})");
  EXPECT_EQ(RopeOf(TableOf(model, "main")).base, 20000);
}

TEST(NamedPartsTest, PartsInWordsOfTheirOwnAreTold) {
  const auto notes = [](const std::string& keys) {
    return Resolve(absl::StrCat(R"({"hidden_size":4096,"num_attention_heads":32,)", keys, "}")).notes;
  };
  EXPECT_THAT(notes(R"("model_type":"llava","mm_vision_tower":"openai/clip-vit-large-patch14-336")"),
              Contains(HasSubstr("mm_vision_tower")));
  EXPECT_THAT(notes(R"("model_type":"qwen","visual":{"heads":16,"width":1664})"), Contains(HasSubstr("visual")));
  EXPECT_THAT(notes(R"("model_type":"molmo")"), Contains(HasSubstr("vision model")));
  EXPECT_THAT(notes(R"("model_type":"phi4mm")"), Contains(HasSubstr("speech encoder")));
  EXPECT_THAT(notes(R"("model_type":"qwen2","dual_chunk_attention_config":{"chunk_size":262144})"),
              Contains(HasSubstr("chunks")));
}

// transformers, phi3/modeling_phi3.py: the class reads partial_rotary_factor, with longrope too.
TEST(NamedPartsTest, Phi3ReadsItsFraction) {
  const ModelTables model =
      Resolve(R"({"model_type":"phi3","hidden_size":3072,"num_attention_heads":24,"partial_rotary_factor":0.75})");
  EXPECT_EQ(RopeOf(TableOf(model, "main")).rotary_dim, 96);
  EXPECT_THAT(model.notes, Not(Contains(HasSubstr("partial_rotary_factor"))));
}

// llama.cpp, src/models/deci.cpp: a layer without heads has no attention, one without key heads does not rotate.
TEST(GgufLayersTest, LayersWithoutHeadsDoNotRotate) {
  const ModelTables model = ResolveGgufText(
      R"("general.architecture":"deci","deci.block_count":4,"deci.embedding_length":8192,
         "deci.attention.key_length":128,"deci.attention.head_count":[64,0,64,64],
         "deci.attention.head_count_kv":[8,0,8,0],"deci.rope.freq_base":500000.0)");
  EXPECT_THAT(TableOf(model, "main").layers, ElementsAre(0, 2));
  EXPECT_THAT(model.layers_without_table, ElementsAre(1, 3));
}

// llama.cpp, src/models/dots3note.cpp: the indexer is of layers with full attention.
TEST(GgufLayersTest, SlidingLayersHaveNoIndexer) {
  const ModelTables model = ResolveGgufText(
      R"("general.architecture":"dots3note","dots3note.block_count":4,"dots3note.rope.dimension_count":64,
         "dots3note.rope.freq_base":8000000.0,"dots3note.rope.freq_base_swa":10000.0,
         "dots3note.attention.sliding_window":512,
         "dots3note.attention.sliding_window_pattern":[false,true,true,true])");
  int indexers = 0;
  for (const ModelTable& table : model.tables) indexers += table.name == "indexer" ? 1 : 0;
  EXPECT_EQ(indexers, 1);
  EXPECT_THAT(TableOf(model, "indexer").layers, ElementsAre(0));
  EXPECT_EQ(RopeOf(TableOf(model, "indexer")).base, 8e6);
}

// llama.cpp, src/models/{bert,gpt2,starcoder}.cpp add position_embd.weight.
TEST(GgufLayersTest, AHeadWithoutTensorsStillHasLearnedPositions) {
  for (const std::string name : {"bert", "gpt2", "starcoder"}) {
    const ModelTables model = ResolveGgufText(absl::StrCat(
        R"("general.architecture":")", name, R"(",")", name, R"(.context_length":512,")", name, R"(.block_count":2)"));
    EXPECT_TRUE(std::holds_alternative<Learned>(TableOf(model, "learned").spec.family)) << name;
    EXPECT_THAT(model.notes, Not(Contains(HasSubstr("no positional table")))) << name;
  }
}

}  // namespace
}  // namespace posenc
