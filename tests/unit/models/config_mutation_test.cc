// Real configs with keys dropped and values replaced: whatever comes, the answer is a table, a refusal of
// the input or "not served", and a refusal names a key. Deterministic, so that a failure can be repeated.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/core/limits.h"
#include "server/core/normalize.h"
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

void ExpectAnswered(const Json& config) {
  const std::string text = config.dump();
  const auto model = ResolveModelConfig(text);
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
