// Kinds of layers by the lists and numbers that files have for them: one claim each.

#include "server/models/rotary/layer_plan.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/models/config/config_json.h"
#include "server/models/model_config.h"
#include "tests/support/matchers.h"
#include "tests/unit/models/config_files.h"

namespace posenc {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

absl::StatusOr<ModelTables> Resolve(const std::string& type, const std::string& keys) {
  return ResolveModelConfig(
      absl::StrCat(R"({"model_type":")", type, R"(","head_dim":64,"rope_theta":10000,)", keys, "}"));
}

std::vector<int64_t> LayersOf(const std::string& type, const std::string& keys) {
  const auto model = Resolve(type, keys);
  EXPECT_OK(model);
  return model.ok() && !model->tables.empty() ? model->tables[0].layers : std::vector<int64_t>();
}

TEST(LayerPlanTest, ListsOfAllSpellingsAreRead) {
  EXPECT_THAT(LayersOf("lfm2", R"("num_hidden_layers":4,"full_attn_idxs":[1,3])"), ElementsAre(1, 3));
  EXPECT_THAT(LayersOf("bamba", R"("num_hidden_layers":3,"attn_layer_indices":[0])"), ElementsAre(0));
  EXPECT_THAT(LayersOf("minimax", R"("rotary_dim":32,"attn_type_list":[0,1,0])"), ElementsAre(1));
  EXPECT_THAT(LayersOf("x", R"("layers_block_type":["mamba","attention"])"), ElementsAre(1));
  EXPECT_THAT(LayersOf("x", R"("hybrid_override_pattern":"M-*E*")"), ElementsAre(2, 4));
  EXPECT_THAT(LayersOf("recurrent_gemma",
                       R"("num_hidden_layers":6,"block_types":["recurrent","recurrent","attention"])"),
              ElementsAre(2, 5));
  EXPECT_THAT(LayersOf("nemotron-nas", R"("block_configs":[{"attention":{"no_op":true}},{"attention":{}}])"),
              ElementsAre(1));
  EXPECT_THAT(LayersOf("x", R"("num_hidden_layers":4,"linear_attn_config":{"full_attn_layers":[2]})"),
              ElementsAre(1));
}

TEST(LayerPlanTest, MarksAndIndicesOfLayersWithoutRotation) {
  EXPECT_THAT(LayersOf("x", R"("no_rope_layers":[1,0,1])"), ElementsAre(0, 2));
  EXPECT_THAT(LayersOf("x", R"("num_hidden_layers":4,"no_rope_layers":[1,3])"), ElementsAre(0, 2));
  EXPECT_THAT(LayersOf("smallthinker", R"("rope_layout":[0,1,1])"), ElementsAre(1, 2));
  EXPECT_THAT(LayersOf("x", R"("num_hidden_layers":4,"no_rope_layer_interval":2)"), ElementsAre(0, 2));
  EXPECT_THAT(LayersOf("smollm3", R"("num_hidden_layers":5)"), ElementsAre(0, 1, 2, 4));
}

TEST(LayerPlanTest, PatternsOfFamiliesFillWhatTheFileLeavesOut) {
  EXPECT_THAT(LayersOf("cohere2", R"("num_hidden_layers":4)"), ElementsAre(0, 1, 2));
  EXPECT_THAT(LayersOf("exaone4", R"("num_hidden_layers":4,"sliding_window_pattern":"LG")"), ElementsAre(0, 2));
  EXPECT_THAT(LayersOf("exaone4", R"("num_hidden_layers":4,"sliding_window":null)"), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(LayersOf("gemma3", R"("num_hidden_layers":6)"), ElementsAre(5));
  EXPECT_THAT(LayersOf("modernbert", R"("num_hidden_layers":4)"), ElementsAre(0, 3));
  EXPECT_THAT(LayersOf("qwen3_next", R"("num_hidden_layers":4)"), ElementsAre(3));
  EXPECT_THAT(LayersOf("muse_glimmer", R"("num_hidden_layers":5)"), ElementsAre(1, 2, 3));
}

TEST(LayerPlanTest, LongerListsAreCutAtTheModelsLayers) {
  EXPECT_THAT(LayersOf("olmo3", R"("num_hidden_layers":2,"layer_types":["full_attention","full_attention",
      "full_attention"])"), ElementsAre(0, 1));
}

TEST(LayerPlanTest, WhatIsNoListOfLayersIsLeftOut) {
  for (const char* keys : {R"("layer_types":7)", R"("layer_types":[1,2])", R"("num_hidden_layers":-1)",
                           R"("num_hidden_layers":1e9)", R"("hybrid_override_pattern":"MX")"}) {
    EXPECT_THAT(LayersOf("llama", keys), IsEmpty()) << keys;
  }
}

TEST(LayerPlanTest, BasesByLayerMakeATableEach) {
  const auto model = Resolve("granite_swa", R"("num_hidden_layers":4,"layer_rope_theta":[0,10000,10000,500000])");
  ASSERT_OK(model);
  ASSERT_EQ(model->tables.size(), 2u);
  EXPECT_THAT(model->tables[0].layers, ElementsAre(1, 2));
  EXPECT_THAT(model->tables[1].layers, ElementsAre(3));
  EXPECT_THAT(model->layers_without_table, ElementsAre(0));
}

TEST(LayerPlanTest, ParametersByTypeHaveTheirLayers) {
  const auto model = Resolve("laguna", R"("layer_types":["full_attention","sliding_attention"])");
  ASSERT_OK(model);
  EXPECT_EQ(RopeOf(model).rotary_dim, 32);
  EXPECT_THAT(model->tables.at(1).layers, ElementsAre(1));
}

TEST(LayerPlanTest, RunsOfLayersAreShort) {
  EXPECT_EQ(LayersText({}), "");
  EXPECT_EQ(LayersText({0, 1}), "0, 1");
  EXPECT_EQ(LayersText({0, 1, 2, 5, 7, 8, 9}), "0 to 2, 5, 7 to 9");
}

}  // namespace
}  // namespace posenc
