// Real configs with keys dropped and values replaced: whatever comes, the answer is a table, a refusal of
// the input or "not served", and a refusal names a key. Deterministic, so that a failure can be repeated.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/core/limits.h"
#include "server/core/specs/normalize.h"
#include "server/models/model_config.h"
#include "tests/support/matchers.h"
#include "tests/unit/models/config_files.h"

namespace posenc {
namespace {

using Json = nlohmann::json;

const std::vector<Json>& Replacements() {
  static const auto* const kValues = new std::vector<Json>{
      nullptr, true, false, 0, 1, -1, 2, 3, 7.5, -0.0, 1e-300, 1e300, -1e300, INT64_MAX, INT64_MIN,
      UINT64_MAX, int64_t{1} << 53, "", "40", "linear", "llama3", "yarn", "gemma3", std::string(4000, 'x'),
      std::string("\x00\x1e\x1f\n", 4), Json::array(), Json::object(), Json::array({1, "a", nullptr}),
      Json{{"rope_type", "linear"}, {"factor", 2}}, Json{{"full_attention", Json::object()}}};
  return *kValues;
}

void ExpectQueryAnswered(const ModelQuery& query) {
  const std::string& text = query.gguf_json.empty() ? query.config_json : query.gguf_json;
  const auto model = ResolveModel(query);
  if (model.ok()) {
    for (const ModelTable& table : model->tables) EXPECT_OK(Normalize(table.spec)) << text;
    return;
  }
  const absl::StatusCode code = model.status().code();
  EXPECT_TRUE(code == absl::StatusCode::kInvalidArgument || code == absl::StatusCode::kUnimplemented)
      << model.status() << text;
  EXPECT_FALSE(FieldViolationsOf(model.status()).empty()) << model.status() << text;
  EXPECT_LT(model.status().message().size(), 2 * limits::kMaxErrorDetailBytes) << text;
}

void ExpectAnswered(const Json& config) {
  const std::string text = config.dump();
  ExpectQueryAnswered({.config_json = text});
  for (const Runtime runtime : {Runtime::kVllm, Runtime::kLlamaCpp, Runtime::kTensorRtLlm, Runtime::kMlxLm}) {
    ExpectQueryAnswered({.config_json = text, .runtime = runtime, .effective_length = 5000});
  }
}

// Drops and replaces every key of `object`, a part of `config`, and of the objects in it.
void MutateKeys(const Json& config, const Json::json_pointer& place) {
  for (const auto& item : config.at(place).items()) {
    Json dropped = config;
    dropped.at(place).erase(item.key());
    ExpectAnswered(dropped);
    for (const Json& value : Replacements()) {
      Json replaced = config;
      replaced.at(place)[item.key()] = value;
      ExpectAnswered(replaced);
    }
    if (item.value().is_object()) MutateKeys(config, place / item.key());
  }
}

bool IsRead(const std::string& key) {
  for (const char* part : {"rope", "head", "hidden_size", "max_pos", "config", "rotary", "alibi", "model",
                           "n_", "seq", "layer_types", "kv_channels"}) {
    if (absl::StrContains(key, part)) return true;
  }
  return false;
}

// The keys that matter here, so that the sweep stays short; the others are never read.
Json WithoutBystanders(Json config) {
  for (auto item = config.begin(); item != config.end();) {
    const std::string& key = item.key();
    const bool matters = IsRead(key);
    if (item->is_object() && matters) *item = WithoutBystanders(*item);
    item = matters ? std::next(item) : config.erase(item);
  }
  return config;
}

class ConfigMutationTest : public ::testing::TestWithParam<std::string> {};

TEST_P(ConfigMutationTest, AnyKeyMayBeMissingOrWrong) {
  MutateKeys(WithoutBystanders(GoldenConfig(GetParam())), Json::json_pointer());
}

INSTANTIATE_TEST_SUITE_P(All, ConfigMutationTest, ::testing::ValuesIn(GoldenConfigIds()), GoldenTestName);

TEST(GgufMutationTest, AnyKeyMayBeMissingOrWrong) {
  const Json file =
      Json::parse(R"({"metadata":{"general.architecture":"deepseek2","deepseek2.context_length":8192,
      "deepseek2.rope.dimension_count":4,"deepseek2.rope.scaling.type":"yarn","deepseek2.rope.scaling.factor":40,
      "deepseek2.rope.scaling.original_context_length":4096,"deepseek2.attention.head_count":[2,3],
      "deepseek2.rope.scaling.yarn_log_multiplier":0.1,"deepseek2.rope.freq_base_swa":7,
      "deepseek2.rope.dimension_sections":[1,1,0,0],"deepseek2.attention.relative_buckets_count":32},
      "tensors":{"rope_factors_long.weight":{"shape":[2],"values":[2,3]},
      "rope_factors_short.weight":{"shape":[2],"values":[1,1]},"position_embd.weight":{"shape":[4,3]}}})");
  for (const char* place : {"/metadata", "/tensors", "/tensors/rope_factors_long.weight"}) {
    for (const auto& item : file.at(Json::json_pointer(place)).items()) {
      for (const Json& value : Replacements()) {
        for (const char* name : {"deepseek2", "gemma3", "qwen3vl", "baichuan", "brand-new"}) {
          Json changed = file;
          changed.at(Json::json_pointer(place))[item.key()] = value;
          std::string text = changed.dump();
          absl::StrReplaceAll({{"deepseek2", name}}, &text);
          ExpectQueryAnswered({.gguf_json = text, .runtime = Runtime::kLlamaCpp});
        }
      }
    }
  }
}

// Diffusers' files have no golden ones.
TEST(DiffusersMutationTest, AnyKeyMayBeMissingOrWrong) {
  for (const char* name : {"FluxTransformer2DModel", "WanTransformer3DModel", "CosmosTransformer3DModel",
                           "LTXVideoTransformer3DModel", "SD3Transformer2DModel", "PixArtTransformer2DModel",
                           "UNet2DConditionModel", "CogVideoXTransformer3DModel", "NewModel"}) {
    const Json config = {{"_class_name", name}, {"axes_dims_rope", {16, 56, 56}}, {"rope_theta", 10000},
                         {"attention_head_dim", 64}, {"num_attention_heads", 24}, {"patch_size", 2},
                         {"sample_size", 128}, {"pos_embed_max_size", 96}, {"rope_scale", {2, 1, 1}},
                         {"interpolation_scale", 1}, {"block_out_channels", {320, 640}}, {"freq_shift", 0},
                         {"flip_sin_to_cos", true}, {"use_rotary_positional_embeddings", true}};
    MutateKeys(config, Json::json_pointer());
  }
}

TEST(ConfigTextMutationTest, EveryPrefixOfAFileIsRefused) {
  const std::string text = GoldenConfig("nxdi_integration_tp64_gemma3").dump();
  for (size_t length = 0; length < text.size(); ++length) {
    EXPECT_THAT(ResolveModelConfig(text.substr(0, length)),
                StatusIs(absl::StatusCode::kInvalidArgument, ::testing::HasSubstr("is not JSON")));
  }
}

TEST(ConfigTextMutationTest, EveryByteMayBeWrong) {
  const std::string text = GoldenConfig("nxd_llama_70B_config_llama3.1").dump();
  for (size_t i = 0; i < text.size(); ++i) {
    for (const char byte : {'\0', '"', '{', ']', ',', '-', '9', '\xff'}) {
      std::string changed = text;
      changed[i] = byte;
      const absl::StatusCode code = ResolveModelConfig(changed).status().code();
      EXPECT_TRUE(code == absl::StatusCode::kOk || code == absl::StatusCode::kInvalidArgument ||
                  code == absl::StatusCode::kUnimplemented)
          << changed;
    }
  }
}

}  // namespace
}  // namespace posenc
