// Every golden config file: what transformers' own classes make of it is what the resolver says, or the
// resolver says what of it is not served. No file is left out.

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/models/model_config.h"
#include "tests/support/matchers.h"
#include "tests/unit/models/config_files.h"

namespace posenc {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Json = nlohmann::json;

// The files that ask for what is not served, with the key and the word that the answer must name.
struct Reason {
  std::string key;
  std::string word;
};
const std::map<std::string, Reason>& Unserved() {
  static const auto* const kReasons = new std::map<std::string, Reason>{
      {"ipex_deepseekv2", {"rope_scaling.type", "yarn"}},
      {"ipex_deepseekv3", {"rope_scaling.type", "yarn"}},
      {"ipex_maira2", {"text_config.rope_scaling.type", "longrope"}},
      {"ipex_opt", {"model_type", "learned"}},
      {"ipex_t5", {"model_type", "t5_relative"}},
      {"phi3_vision_128k_su", {"rope_scaling.type", "su"}},
      {"sophgo_GLM4V", {"rope_scaling.mrope_section", "one position axis"}},
      {"sophgo_Gemma4", {"text_config.rope_parameters.full_attention.rope_type", "proportional"}},
      {"sophgo_MiniCPM3_MiniCPM3-4B", {"rope_scaling.type", "longrope"}},
      {"sophgo_Qwen2_5_VL", {"rope_scaling.type", "mrope"}},
      {"sophgo_Qwen2_VL", {"rope_scaling.type", "mrope"}},
      {"sophgo_Qwen3_5", {"text_config.rope_parameters.mrope_section", "one position axis"}},
      {"sophgo_Qwen3_VL", {"text_config.rope_scaling.mrope_section", "one position axis"}},
      {"sophgo_WizardCoder_WizardCoder-15B-V1.0", {"model_type", "learned"}},
  };
  return *kReasons;
}

// The inverse frequency of pair i by the formula, in double.
double InverseFrequency(const RopeSpec& spec, int64_t i) {
  const double exponent = -2.0 * static_cast<double>(i) / static_cast<double>(spec.rotary_dim);
  const double plain = std::pow(spec.base, exponent);
  if (const auto* linear = std::get_if<LinearScaling>(&spec.scaling)) return plain / linear->factor;
  const auto* llama3 = std::get_if<Llama3Scaling>(&spec.scaling);
  if (llama3 == nullptr) return plain;
  const double turns = static_cast<double>(llama3->original_max_len) * plain / (2 * M_PI);
  const double band = llama3->high_freq_factor - llama3->low_freq_factor;
  const double kept = std::clamp((turns - llama3->low_freq_factor) / band, 0.0, 1.0);
  return plain * ((1 - kept) / llama3->factor + kept);
}

std::string ScalingName(const RopeSpec& spec) {
  static constexpr const char* kNames[] = {"none", "linear", "llama3", "frequencies"};
  return kNames[spec.scaling.index()];
}

void ExpectFrequencies(const RopeSpec& spec, const Json& want) {
  ASSERT_EQ(spec.rotary_dim / 2, want["count"].get<int64_t>());
  const std::map<std::string, int64_t> places = {
      {"first", 0}, {"middle", want["middle_index"]}, {"last", want["count"].get<int64_t>() - 1}};
  for (const auto& [name, index] : places) {
    EXPECT_NEAR(InverseFrequency(spec, index) / want[name].get<double>(), 1.0, 1e-6) << name;
  }
}

void ExpectRope(const ModelTable& table, const Json& want) {
  const auto& spec = std::get<RopeSpec>(table.spec.family);
  EXPECT_EQ(table.name, want["table"]);
  EXPECT_EQ(spec.head_dim, want["head_dim"]);
  EXPECT_EQ(spec.rotary_dim, want["rotary_dim"]);
  EXPECT_EQ(spec.base, want["base"]);
  EXPECT_EQ(spec.max_len, want["max_len"]);
  EXPECT_EQ(table.pairing == Pairing::kInterleaved ? "interleaved" : "half", want["layout"]);
  EXPECT_EQ(ScalingName(spec), want["scaling"].is_null() ? "none" : want["scaling"]["rope_type"]);
  EXPECT_EQ(want["attention_factor"], 1.0);
  ExpectFrequencies(spec, want["inv_freq"]);
}

void ExpectAlibi(const ModelTable& table, const Json& want) {
  const auto& spec = std::get<AlibiSpec>(table.spec.family);
  EXPECT_EQ(spec.heads, want["num_heads"]);
  EXPECT_EQ(spec.bias_max, want["alibi_bias_max"]);
  EXPECT_EQ(table.pairing, Pairing::kNone);
  const auto heads = static_cast<double>(spec.heads);
  EXPECT_NEAR(std::exp2(-spec.bias_max / heads), want["slopes"]["first"], 1e-6);
}

void ExpectSinusoidal(const ModelTable& table, const Json& want) {
  const auto& spec = std::get<SinusoidalSpec>(table.spec.family);
  EXPECT_EQ(spec.max_len, want["max_len"]);
  EXPECT_EQ(spec.order, SinusoidalOrder::kSinCos);
  EXPECT_EQ(spec.frequency_shift, 1.0);
}

void ExpectTable(const ModelTable& table, const Json& want) {
  if (want["kind"] == "rope") return ExpectRope(table, want);
  if (want["kind"] == "alibi") return ExpectAlibi(table, want);
  if (want["kind"] == "sinusoidal") return ExpectSinusoidal(table, want);
  FAIL() << "no comparison for the kind " << want["kind"];
}

class GoldenConfigsTest : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenConfigsTest, AgreesWithTransformersOrSaysWhatIsNotServed) {
  const auto model = ResolveModelConfig(ReadGolden(GetParam(), "config.json"));
  const auto reason = Unserved().find(GetParam());
  if (reason != Unserved().end()) {
    EXPECT_THAT(model, AllOf(StatusIs(absl::StatusCode::kUnimplemented, HasSubstr(reason->second.word)),
                             ViolatesField(reason->second.key)));
    return;
  }
  ASSERT_OK(model);
  EXPECT_TRUE(model->known_family);
  Json want = GoldenExpectation(GetParam())["tables"];
  if (want[0]["kind"] == "none") want.clear();
  ASSERT_EQ(model->tables.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) ExpectTable(model->tables[i], want[i]);
}

INSTANTIATE_TEST_SUITE_P(All, GoldenConfigsTest, ::testing::ValuesIn(GoldenConfigIds()), GoldenTestName);

TEST(GoldenConfigSetTest, AllFilesAreThere) {
  EXPECT_EQ(GoldenConfigIds().size(), 57u);
  for (const auto& [id, reason] : Unserved()) EXPECT_FALSE(ReadGolden(id, "config.json").empty()) << id;
}

}  // namespace
}  // namespace posenc
