#include "server/models/families/model_families.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/models/model_config.h"
#include "tests/support/matchers.h"

namespace posenc {
namespace {

std::string MinimalConfig(const ModelFamily& family) {
  return absl::StrCat("{\"model_type\":\"", family.model_type, "\"}");
}

TEST(ModelFamiliesTest, RowsAreUniqueAndNamed) {
  std::set<std::string> types;
  for (const ModelFamily* family : AllFamilies()) {
    EXPECT_TRUE(types.insert(std::string(family->model_type)).second) << family->model_type;
    EXPECT_FALSE(family->class_name.empty()) << family->model_type;
  }
}

TEST(ModelFamiliesTest, EveryRowIsFoundByItsName) {
  for (const ModelFamily* family : AllFamilies()) {
    EXPECT_EQ(FindFamily(family->model_type), family);
  }
  EXPECT_EQ(FindFamily("no_such_family"), nullptr);
  EXPECT_EQ(FindFamily(""), nullptr);
}

// The classes whose base is not 10000, as their configuration code has it.
TEST(ModelFamiliesTest, BasesAreTheClasses) {
  const std::pair<const char*, double> kBases[] = {
      {"nomic_bert", 1000},    {"jina_v3", 20000},     {"fuyu", 25000},         {"helium", 1e5},
      {"gpt_oss", 150000},     {"cohere", 5e5},        {"llama4", 5e5},         {"mllama", 5e5},
      {"olmo3", 5e5},          {"flex_olmo", 5e5},     {"bitnet", 5e5},         {"blt", 5e5},
      {"csm", 5e5},            {"ernie4_5", 5e5},      {"ernie4_5_moe", 5e5},   {"qwen3_vl", 5e5},
      {"qwen3_vl_moe", 5e5},   {"paddleocr_vl", 5e5},  {"evolla", 5e5},         {"cwm", 1e6},
      {"emu3", 1e6},           {"lfm2", 1e6},          {"mixtral", 1e6},        {"minimax", 1e6},
      {"phimoe", 1e6},         {"qwen2_vl", 1e6},      {"qwen2_5_vl", 1e6},     {"qwen2_5_omni", 1e6},
      {"qwen3_omni_moe", 1e6}, {"solar_open", 1e6},    {"smollm3", 2e6},        {"minimax_m2", 5e6},
      {"minimax_m3", 5e6},     {"longcat_flash", 1e7}, {"apertus", 1.2e7},      {"hy_v3", 11158840},
      {"cosmos3", 1e8},        {"gemma3", 1e6},        {"gemma3n", 1e6},        {"modernbert", 160000},
      {"llama", 1e4},          {"qwen2", 1e4},         {"qwen3", 1e4},          {"mistral", 1e4},
      {"cohere2", 1e4},        {"gemma2", 1e4},        {"phi3", 1e4},           {"glm4", 1e4}};
  for (const auto& [name, base] : kBases) {
    const ModelFamily* family = FindFamily(name);
    ASSERT_NE(family, nullptr) << name;
    EXPECT_EQ(family->base, base) << name;
  }
}

TEST(ModelFamiliesTest, FractionsAreTheClasses) {
  const std::pair<const char*, double> kFractions[] = {
      {"gpt_neox", .25}, {"stablelm", .25}, {"qwen3_next", .25}, {"qwen3_5", .25}, {"phi", .5},
      {"persimmon", .5}, {"fuyu", .5},      {"nemotron", .5},    {"glm", .5},      {"glm4", .5},
      {"glm4_moe", .5},  {"glm4v_moe", .5}, {"glm4v", .5},       {"moonshine", .9}, {"recurrent_gemma", .5},
      {"llama", 1}};
  for (const auto& [name, fraction] : kFractions)
    EXPECT_EQ(FindFamily(name)->rotary_fraction, fraction) << name;
}

// Families whose rotation takes neighbouring channels for a pair; all other rotary ones are half-split.
TEST(ModelFamiliesTest, InterleavedFamiliesAreTheseAlone) {
  const std::set<absl::string_view> kInterleaved = {
      "axk1",        "blt",         "chatglm",   "codegen",         "cohere",          "cohere2",
      "deepseek_v2", "deepseek_v3", "deepseek_v32", "deepseek_v4",  "ernie4_5",        "ernie4_5_moe",
      "ernie4_5_moe_vl", "ernie4_5_vl_moe", "glm", "glm4",          "glm4_moe_lite",   "glm4v",
      "gptj",        "helium",      "kimi_k2",   "llama4",          "longcat_flash",   "mistral4",
      "moonshine",   "roformer",    "youtu",     "axk2",            "blt_global_transformer",
      "blt_local_decoder", "blt_local_encoder", "blt_patcher",      "cohere2_moe",     "glm_moe_dsa",
      "glm_ocr",     "lille-130m",  "moonshine_streaming", "openai_privacy_filter", "pe_audio_encoder",
      "pe_audio_video_encoder", "pe_video_encoder", "afm7", "bailing_moe_v3", "qwen2_5_omni_dit", "sarvam_mla",
      "pangu_ultra_moe"};
  for (const ModelFamily* family : AllFamilies()) {
    const bool interleaved = family->pairing == Pairing::kInterleaved;
    EXPECT_EQ(interleaved, kInterleaved.contains(family->model_type)) << family->model_type;
  }
}

TEST(ModelFamiliesTest, TextModelsShareTheRowOfTheirName) {
  EXPECT_EQ(FindFamily("gemma3_text"), FindFamily("gemma3"));
  EXPECT_EQ(FindFamily("mllama_text_model"), FindFamily("mllama"));
}

// The field that an answer to a file with the model_type alone would name; empty for a table. Some classes
// have no default widths.
std::string FieldThatHinders(const ModelFamily& family) {
  const bool no_width = family.head_dim == 0 && family.hidden_size == 0;
  if (family.rule == PositionRule::kRope && no_width) return "hidden_size";
  if (family.rule == PositionRule::kAlibi && family.heads == 0) return "num_attention_heads";
  if (family.hidden_size % std::max<int64_t>(family.heads, 1) != 0 && family.head_dim == 0)
    return "hidden_size";
  return "";
}

// A row with wrong defaults would fail here: a class's own defaults make a valid model.
TEST(ModelFamiliesTest, EveryRowAnswersAFileWithoutKeys) {
  for (const ModelFamily* family : AllFamilies()) {
    SCOPED_TRACE(family->model_type);
    const auto model = ResolveModelConfig(MinimalConfig(*family));
    const std::string field = FieldThatHinders(*family);
    if (field.empty()) {
      EXPECT_OK(model);
    } else {
      EXPECT_THAT(model, ViolatesField(field));
    }
  }
}

}  // namespace
}  // namespace posenc
