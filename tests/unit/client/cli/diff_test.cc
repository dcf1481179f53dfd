// posenc diff: specs, models and files against each other.

#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "client/cli/diff/element_diff.h"
#include "nlohmann/json.hpp"
#include "posenc/elements.h"
#include "tests/support/matchers.h"
#include "tests/unit/client/cli/fixture.h"

namespace posenc {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

template <typename A, typename B>
uint64_t Ulps(A a, B b) {
  return cli::UlpsBetween({ElementTypeOf<A>, reinterpret_cast<const std::byte*>(&a)},
                          {ElementTypeOf<B>, reinterpret_cast<const std::byte*>(&b)});
}

TEST(UlpsBetweenTest, NeighboursAreOneApart) {
  EXPECT_EQ(Ulps(1.0f, std::nextafter(1.0f, 2.0f)), 1);
  EXPECT_EQ(Ulps(1.0, std::nextafter(1.0, 0.0)), 1);
  EXPECT_EQ(Ulps(BFloat16{0x3f80}, BFloat16{0x3f83}), 3);
  EXPECT_EQ(Ulps(Half{0x3c00}, Half{0x3bff}), 1);
  EXPECT_EQ(Ulps(int32_t{-3}, int32_t{4}), 7);
}

TEST(UlpsBetweenTest, ZerosAreOneNumber) {
  EXPECT_EQ(Ulps(0.0f, -0.0f), 0);
  EXPECT_EQ(Ulps(std::numeric_limits<float>::denorm_min(), -std::numeric_limits<float>::denorm_min()), 2);
}

TEST(UlpsBetweenTest, WhatIsNoNumberIsAtNoDistanceFromItselfAlone) {
  const float nan = std::nanf("");
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(Ulps(nan, nan), 0);
  EXPECT_EQ(Ulps(infinity, infinity), 0);
  EXPECT_EQ(Ulps(nan, 1.0f), cli::kUnmeasurable);
  EXPECT_EQ(Ulps(infinity, -infinity), cli::kUnmeasurable);
}

TEST(UlpsBetweenTest, OfTwoTypesTheCoarserCounts) {
  EXPECT_EQ(Ulps(1.0, std::nextafter(1.0f, 2.0f)), 1);
  EXPECT_EQ(Ulps(1.0f, BFloat16{0x3f80}), 0);
  EXPECT_EQ(Ulps(1.001f, BFloat16{0x3f80}), 1);  // a BF16 near 1 is 1/128 from the next
}

class CliDiffTest : public CliTest {
 protected:
  Result Diff(const std::string& a, const std::string& b, const std::string& flags = "") const {
    return Run("diff --local '" + a + "' '" + b + "' " + flags);
  }
  nlohmann::json Json(const std::string& a, const std::string& b, const std::string& flags = "") const {
    return nlohmann::json::parse(Diff(a, b, flags + " --format json").out);
  }
  std::string Save(const std::string& name, const std::string& command) const {
    EXPECT_EQ(Run(command + " --local --quiet -o " + Path(name)).exit_code, 0) << command;
    return Path(name);
  }
};

TEST_F(CliDiffTest, EqualTablesExitWithZero) {
  const Result result = Diff("rope --head-dim 8 --max-len 9", "rope --max-len 9 --head-dim 8 --rotary-dim 8");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("compared    cos, sin: 9 rows, 72 numbers"), HasSubstr("\nequal\n")));
}

TEST_F(CliDiffTest, DifferenceIsFoundCountedAndExplained) {
  const auto json = Json("rope --head-dim 4 --max-len 3", "rope --head-dim 4 --max-len 3 --base 100");
  EXPECT_EQ(json["equal"], false);
  EXPECT_EQ(json["parameters"],
            nlohmann::json::parse(R"([{"field":"rope.base","a":"10000","b":"100"}])"));
  // Pair 1 of positions 1 and 2 alone turns by another frequency.
  EXPECT_EQ(json["different"], 4);
  EXPECT_EQ(json["first"]["tensor"], "cos");
  EXPECT_EQ(json["first"]["row"], "1");
  EXPECT_EQ(json["first"]["pair"], 1);
  EXPECT_EQ(json["first"]["a"], "0.99995");
  EXPECT_EQ(json["first"]["b"], "0.9950042");
}

TEST_F(CliDiffTest, DifferentTablesExitWithOne) {
  const Result result = Diff("sinusoidal --d-model 4", "sinusoidal --d-model 4 --row-scale 2", "--positions 3");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, AllOf(HasSubstr("position 3, column 0 (pair 0)"), HasSubstr("sinusoidal.row_scale")));
}

TEST_F(CliDiffTest, OtherShapesAreADifference) {
  EXPECT_THAT(Diff("rope --head-dim 8 --max-len 2", "rope --head-dim 8 --max-len 3").out,
              HasSubstr("A has 2 rows, B has 3"));
  const Result result = Diff("rope --head-dim 8", "rope --head-dim 8 --layout cos-sin");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, AllOf(HasSubstr("only A has cos [5000, 4] F32"), HasSubstr("rope.layout")));
}

TEST_F(CliDiffTest, FilesOfEveryFormatAreTheTable) {
  const std::string spec = "rope --head-dim 8 --max-len 20";
  for (const char* name : {"x.safetensors", "x.bin"}) {
    const Result result = Diff(spec, Save(name, spec));
    EXPECT_EQ(result.exit_code, 0) << name << result.out << result.err;
  }
  const std::string npy = Save("x.npy", "rope --head-dim 8 --max-len 20 --layout cos-sin");
  EXPECT_EQ(Diff(npy, "rope --head-dim 8 --max-len 20 --layout cos-sin").exit_code, 0);
  Save("y.npy", spec);
  EXPECT_EQ(Diff(spec, Path("y.sin.npy") + ":sin").exit_code, 0);
  EXPECT_EQ(Diff(spec, Path("y.sin.npy") + ":cos").exit_code, 1);
}

TEST_F(CliDiffTest, SelectionCutsFilesToo) {
  const std::string whole = Save("whole.npy", "alibi --heads 2 --max-len 6");
  const Result result = Diff("alibi --heads 2 --max-len 6", whole, "--head-range 1 --q 2:5 --k 1:3");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("3 rows, 6 numbers"));
  const std::string rows = Save("rows.npy", "sinusoidal --d-model 4 --rows 5:9");
  EXPECT_EQ(Diff(rows, "sinusoidal --d-model 4", "--rows 5:9").exit_code, 0);
}

TEST_F(CliDiffTest, FileOfAnotherShapeIsAUsageError) {
  const std::string file = Save("x.npy", "sinusoidal --d-model 4 --rows 0:3");
  const Result result = Diff("sinusoidal --d-model 6", file);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("[3, 4] where the other side has table [5000, 6]"));
  EXPECT_THAT(Diff("rope --head-dim 8", file).err, HasSubstr("the other side has cos, sin"));
}

TEST_F(CliDiffTest, OtherElementTypesAreComparedByValue) {
  const auto json = Json("rope --head-dim 64 --max-len 64", "rope --head-dim 64 --max-len 64 --dtype bf16");
  EXPECT_EQ(json["ulps"][0]["numbers"].get<int>() + json["ulps"][1]["numbers"].get<int>(), 64 * 64);
  EXPECT_EQ(json["parameters"][0]["field"], "element_type");
}

TEST_F(CliDiffTest, ModelsSayWhereAParameterComesFrom) {
  const std::string config = Write("config.json", R"({"model_type":"llama","hidden_size":256,)"
                                                  R"("num_attention_heads":4,"rope_theta":500000.0,)"
                                                  R"("max_position_embeddings":64})");
  const auto json = Json("rope --head-dim 64 --max-len 64", config);
  EXPECT_EQ(json["parameters"][0]["field"], "rope.base");
  EXPECT_EQ(json["parameters"][0]["b_source"], "from rope_theta");
  EXPECT_EQ(Diff(config, config + "@transformers").exit_code, 0);
  EXPECT_THAT(Diff(config, config + "@nobody").err, HasSubstr("'nobody' is unknown; allowed: transformers, vllm"));
}

TEST_F(CliDiffTest, RuntimesDisagreeAboutLeftOverPairs) {
  const std::string config =
      Write("config.json", R"({"model_type":"llama","hidden_size":1024,"num_attention_heads":8,)"
                           R"("max_position_embeddings":300000,"rope_scaling":{"rope_type":"default",)"
                           R"("mrope_section":[24,20,20],"mrope_interleaved":true}})");
  const auto diff = Json(config + "@transformers", config + "@llama.cpp", "--rows 262143:262144");
  EXPECT_EQ(diff["equal"], false) << diff;
  EXPECT_EQ(diff["first"]["pair"], 61) << diff;
}

TEST_F(CliDiffTest, LargeTablesPassInPieces) {
  const Result result = Diff("rope --head-dim 256 --max-len 30000", "rope --head-dim 256 --max-len 30000");
  EXPECT_THAT(result.out, HasSubstr("30000 rows, 7680000 numbers\nequal"));
}

TEST_F(CliDiffTest, WhatIsNoSideIsAUsageError) {
  for (const char* side : {"nonsense", "", "rope", "rope --head-dim x", "/no/such/file.npy", "rope --no-flag"}) {
    const Result result = Diff("rope --head-dim 8", side);
    EXPECT_EQ(result.exit_code, 2) << side << result.err;
  }
}

}  // namespace
}  // namespace posenc
