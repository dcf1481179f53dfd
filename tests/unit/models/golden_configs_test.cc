// Every golden config file: what transformers' own classes make of it is what the resolver says. No file is
// left out, and none is refused.

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/models/model_config.h"
#include "tests/support/matchers.h"
#include "tests/unit/models/config_files.h"

namespace posenc {
namespace {

using Json = nlohmann::json;

double Blend(const Llama3Scaling& llama3, double plain) {
  const double turns = static_cast<double>(llama3.original_max_len) * plain / (2 * M_PI);
  const double band = llama3.high_freq_factor - llama3.low_freq_factor;
  const double kept = std::clamp((turns - llama3.low_freq_factor) / band, 0.0, 1.0);
  return plain * ((1 - kept) / llama3.factor + kept);
}

double Ramp(const YarnScaling& yarn, const RopeSpec& spec, int64_t i, double plain) {
  const auto width = static_cast<double>(spec.rotary_dim);
  const auto pair_of = [&](double turns) {
    return width * std::log(static_cast<double>(yarn.original_max_len) / (2 * M_PI * turns)) /
           (2 * std::log(spec.base));
  };
  const double low = std::max(std::floor(pair_of(yarn.beta_fast)), 0.0);
  const double high = std::min(std::ceil(pair_of(yarn.beta_slow)), width - 1);
  const double ramp = std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
  return plain * (1 - ramp) + plain / yarn.factor * ramp;
}

// The inverse frequency of pair i by the formula, in double.
double InverseFrequency(const RopeSpec& spec, int64_t i) {
  const double exponent = -2.0 * static_cast<double>(i) / static_cast<double>(spec.rotary_dim);
  const double plain = std::pow(spec.base, exponent);
  if (const auto* linear = std::get_if<LinearScaling>(&spec.scaling)) return plain / linear->factor;
  if (const auto* llama3 = std::get_if<Llama3Scaling>(&spec.scaling)) return Blend(*llama3, plain);
  if (const auto* yarn = std::get_if<YarnScaling>(&spec.scaling)) return Ramp(*yarn, spec, i, plain);
  if (const auto* part = std::get_if<ProportionalScaling>(&spec.scaling)) {
    const auto rotating = static_cast<int64_t>(part->fraction * static_cast<double>(spec.rotary_dim / 2));
    return i < rotating ? plain / part->factor : 0.0;
  }
  if (const auto* longrope = std::get_if<LongRopeScaling>(&spec.scaling)) {
    const auto& list = longrope->long_factor.empty() ? longrope->short_factor : longrope->long_factor;
    return plain / list.at(static_cast<size_t>(i));
  }
  return plain;
}

std::string ScalingName(const Json& scaling) {
  if (scaling.is_null()) return "none";
  return scaling.value("rope_type", scaling.value("type", ""));
}

void ExpectFrequencies(const RopeSpec& spec, const Json& want) {
  ASSERT_EQ(spec.rotary_dim / 2, want["count"].get<int64_t>());
  const std::map<std::string, int64_t> places = {
      {"first", 0}, {"middle", want["middle_index"]}, {"last", want["count"].get<int64_t>() - 1}};
  for (const auto& [name, index] : places) {
    const auto expected = want[name].get<double>();
    EXPECT_NEAR(InverseFrequency(spec, index), expected, 1e-6 * expected) << name;
  }
}

// The files have one section for each axis; where the pairs alternate is another question.
void ExpectAxes(const RopeSpec& spec, const Json& want) {
  EXPECT_EQ(spec.axes.has_value(), want.contains("mrope_section"));
  if (!spec.axes || !want.contains("mrope_section")) return;
  EXPECT_EQ(spec.axes->sections, want["mrope_section"].get<std::vector<int64_t>>());
  EXPECT_EQ(spec.axes->map == AxisMap::kInterleaved, want["mrope_interleaved"].get<bool>());
}

void ExpectRope(const ModelTable& table, const Json& want) {
  const auto& spec = std::get<RopeSpec>(table.spec.family);
  EXPECT_EQ(table.name, want["table"]);
  EXPECT_EQ(spec.head_dim, want["head_dim"]);
  EXPECT_EQ(spec.rotary_dim, want["rotary_dim"]);
  EXPECT_EQ(spec.base, want["base"]);
  EXPECT_EQ(spec.max_len, want["max_len"]);
  EXPECT_EQ(table.pairing == Pairing::kInterleaved ? "interleaved" : "half", want["layout"]);
  EXPECT_EQ(AlternativeName(spec.scaling), ScalingName(want["scaling"]));
  EXPECT_DOUBLE_EQ(table.magnitude, want["attention_factor"]);
  ExpectFrequencies(spec, want["inv_freq"]);
  ExpectAxes(spec, want);
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

void ExpectLearned(const ModelTable& table, const Json& want) {
  const auto& spec = std::get<LearnedSpec>(table.spec.family);
  EXPECT_EQ(spec.position_offset, want.value("offset", 0));
}

// The encoder's map; the decoder's is a table of its own.
void ExpectBuckets(const ModelTable& table, const Json& want) {
  const auto& spec = std::get<RelativeBucketSpec>(table.spec.family);
  const auto& rule = std::get<T5Buckets>(spec.rule);
  EXPECT_EQ(rule.buckets, want["num_buckets"]);
  EXPECT_EQ(rule.max_distance, want["max_distance"]);
  EXPECT_TRUE(rule.bidirectional);
}

void ExpectTable(const ModelTable& table, const Json& want) {
  if (want["kind"] == "rope") return ExpectRope(table, want);
  if (want["kind"] == "alibi") return ExpectAlibi(table, want);
  if (want["kind"] == "sinusoidal") return ExpectSinusoidal(table, want);
  if (want["kind"] == "learned") return ExpectLearned(table, want);
  if (want["kind"] == "t5_relative") return ExpectBuckets(table, want);
  FAIL() << "no comparison for the kind " << want["kind"];
}

// The tables that the golden files speak of: those of the text model, decoders of encoders left out.
std::vector<ModelTable> TextTables(const ModelTables& model) {
  std::vector<ModelTable> tables;
  for (const ModelTable& table : model.tables) {
    const bool other = absl::StartsWith(table.name, "vision") || table.name == "audio" ||
                       table.name == "decoder" || table.name == "query_temperature";
    if (!other) tables.push_back(table);
  }
  return tables;
}

class GoldenConfigsTest : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenConfigsTest, AgreesWithTransformers) {
  const auto model = ResolveModelConfig(ReadGolden(GetParam(), "config.json"));
  ASSERT_OK(model);
  EXPECT_TRUE(model->known_family);
  Json want = GoldenExpectation(GetParam())["tables"];
  if (want[0]["kind"] == "none") want.clear();
  const std::vector<ModelTable> tables = TextTables(*model);
  ASSERT_EQ(tables.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) ExpectTable(tables[i], want[i]);
}

TEST_P(GoldenConfigsTest, EveryValueHasItsOrigin) {
  const auto model = ResolveModelConfig(ReadGolden(GetParam(), "config.json"));
  ASSERT_OK(model);
  for (const ModelTable& table : model->tables) {
    EXPECT_FALSE(table.origins.empty()) << table.name;
    for (const ValueOrigin& origin : table.origins) {
      EXPECT_FALSE(origin.source.empty()) << origin.field;
      EXPECT_FALSE(origin.value.empty()) << origin.field;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, GoldenConfigsTest, ::testing::ValuesIn(GoldenConfigIds()), GoldenTestName);

TEST(GoldenConfigSetTest, AllFilesAreThere) { EXPECT_EQ(GoldenConfigIds().size(), 57u); }

}  // namespace
}  // namespace posenc
