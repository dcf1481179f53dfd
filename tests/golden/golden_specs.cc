#include "tests/golden/golden_specs.h"

#include <vector>

#include "gtest/gtest.h"

namespace posenc {
namespace {

using nlohmann::json;

double Positive(const json& values, const char* name, double otherwise) {
  return values.contains(name) && !values[name].is_null() ? values[name].get<double>() : otherwise;
}

RopeScaling Yarn(const json& scaling) {
  return YarnScaling{.factor = scaling["factor"],
                     .original_max_len = scaling["original_max_position_embeddings"],
                     .beta_fast = Positive(scaling, "beta_fast", 32),
                     .beta_slow = Positive(scaling, "beta_slow", 1),
                     .truncate = scaling.value("truncate", true),
                     .mscale = Positive(scaling, "mscale", 0),
                     .mscale_all_dim = Positive(scaling, "mscale_all_dim", 0)};
}

RopeScaling LongRope(const json& scaling, const json& params) {
  const int64_t original = params["original_max_position_embeddings_top_level"];
  const double ratio = params["max_position_embeddings"].get<double>() / static_cast<double>(original);
  return LongRopeScaling{.factor = Positive(scaling, "factor", ratio),
                         .original_max_len = original,
                         .short_factor = scaling["short_factor"],
                         .long_factor = scaling["long_factor"]};
}

RopeScaling Llama3(const json& scaling) {
  return Llama3Scaling{.factor = scaling["factor"],
                       .low_freq_factor = scaling["low_freq_factor"],
                       .high_freq_factor = scaling["high_freq_factor"],
                       .original_max_len = scaling["original_max_position_embeddings"]};
}

RopeScaling ScalingOf(const json& params) {
  if (!params.contains("scaling") || params["scaling"].is_null()) return {};
  const json& scaling = params["scaling"];
  const auto type = scaling["rope_type"].get<std::string>();
  if (type == "default") return {};
  if (type == "linear") return LinearScaling{scaling["factor"]};
  if (type == "llama3") return Llama3(scaling);
  if (type == "yarn") return Yarn(scaling);
  if (type == "longrope") return LongRope(scaling, params);
  if (type == "ntk") return NtkScaling{.factor = scaling["factor"], .rule = NtkRule::kVllm};
  if (type == "proportional") {
    return ProportionalScaling{Positive(scaling, "factor", 1), scaling["partial_rotary_factor"]};
  }
  EXPECT_EQ(type, "dynamic");
  if (scaling.contains("alpha")) return NtkAlphaScaling{scaling["alpha"]};
  return DynamicScaling{scaling["factor"], params["max_position_embeddings"]};
}

// Sections in the order (t, h, w) and their map.
RopeAxes AxesOf(const std::string& name, const json& params) {
  std::vector<int64_t> sections = params["mrope_section"];
  if (name == "mrope_qwen2_vl") return {.map = AxisMap::kContiguous, .sections = sections};
  if (name == "mrope_qwen3_vl") return {.map = AxisMap::kInterleaved, .sections = sections};
  EXPECT_EQ(name, "mrope_ernie_like_64");  // height, width, time
  return {.map = AxisMap::kAlternating, .sections = {sections[2], sections[0], sections[1]}};
}

}  // namespace

RopeSpec GoldenRopeSpec(const GoldenFile& file, RopeLayout layout) {
  const json& params = file.json["params"];
  const int64_t rotary_dim = params["rotary_dim"];
  RopeSpec spec{.head_dim = params.value("head_dim", rotary_dim),
                .rotary_dim = rotary_dim,
                .max_len = int64_t{1} << 20,
                .base = params["base"],
                .scaling = ScalingOf(params),
                .layout = layout};
  if (params.contains("seq_len") && !params["seq_len"].is_null()) spec.effective_length = params["seq_len"];
  if (params.contains("scaling") && params["scaling"].contains("attention_factor")) {
    spec.attention_factor = params["scaling"]["attention_factor"];
  }
  if (params.contains("mrope_section")) spec.axes = AxesOf(file.name, params);
  return spec;
}

}  // namespace posenc
