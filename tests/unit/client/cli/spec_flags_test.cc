// Flags that are made from the fields of specs: each family, scaling and nested record is reached.

#include <string>

#include "nlohmann/json.hpp"
#include "tests/support/matchers.h"
#include "tests/unit/client/cli/fixture.h"

namespace posenc {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class CliSpecFlagsTest : public CliTest {
 protected:
  // The command that asks for what a description says it is.
  std::string SpecOf(const std::string& flags) const {
    const Result result = Run("describe " + flags + " --local --format json");
    EXPECT_EQ(result.exit_code, 0) << flags << result.err;
    if (result.exit_code != 0) return "";
    return nlohmann::json::parse(result.out)["spec"].get<std::string>();
  }
};

TEST_F(CliSpecFlagsTest, SpecIsTheCommandThatAsksForIt) {
  for (const char* spec :
       {"sinusoidal --d-model 8 --odd-width reject --first-position 7 --descending",
        "sinusoidal --d-model 4 --odd-width reject --full-turns --inverse-frequencies 1,0.25",
        "rope --head-dim 8 --rotary-dim 8 --scaling linear --factor 4",
        "rope --head-dim 8 --rotary-dim 8 --scaling ntk --factor 2 --rule mixed --mixed-b 0.5",
        "rope --head-dim 8 --rotary-dim 8 --scaling ntk-alpha --alpha 1000",
        "rope --head-dim 8 --rotary-dim 8 --scaling yarn --factor 4 --original-max-len 32 --truncate=false",
        "rope --head-dim 4 --rotary-dim 4 --axes-map interleaved --axes-sections 1,1,0",
        "rope --head-dim 8 --rotary-dim 8 --xpos-scale-base 256 --xpos-centre 16",
        "alibi --heads 4 --form key-index --score-divisor 8",
        "grid-sinusoidal --d-model 8 --grid-sizes 2,3 --axis-order 1,0 --axis-widths 4,4",
        "relative-bias --rule sandwich --head-dim 32 --heads 2",
        "query-temperature --scale 0.5 --position-offset 1"}) {
    EXPECT_EQ(SpecOf(spec), std::string(spec)) << spec;
  }
}

TEST_F(CliSpecFlagsTest, NamesTakeUnderscoresAndCapitals) {
  EXPECT_EQ(SpecOf("rope --head-dim 8 --scaling NTK_alpha --alpha 2"),
            "rope --head-dim 8 --rotary-dim 8 --scaling ntk-alpha --alpha 2");
}

TEST_F(CliSpecFlagsTest, FlagThatIsAllOfAnAlternativeChoosesIt) {
  EXPECT_EQ(SpecOf("rope --head-dim 4 --divisors 1,2"),
            "rope --head-dim 4 --rotary-dim 4 --scaling divisors --divisors 1,2");
}

TEST_F(CliSpecFlagsTest, FlagOfAnotherScalingSaysWhichHaveIt) {
  const Result result = Run("rope --head-dim 8 --scaling linear --factor 2 --beta-fast 3 --local");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err, "posenc: --beta-fast needs --scaling yarn\n");
  EXPECT_THAT(Run("rope --head-dim 8 --factor 2 --local").err,
              AllOf(HasSubstr("--factor needs --scaling linear or llama3 or"), HasSubstr("yarn")));
}

TEST_F(CliSpecFlagsTest, MissingFlagsAreNamed) {
  EXPECT_EQ(Run("rope --local").err, "posenc: --head-dim is missing\n");
  EXPECT_EQ(Run("rope --head-dim 8 --scaling yarn --local").err,
            "posenc: --scaling yarn needs --factor, which is missing\n");
  EXPECT_EQ(Run("rope --head-dim 8 --xpos-scale-base 2 --local").err, "posenc: --xpos-centre is missing\n");
  EXPECT_EQ(Run("learned --local").exit_code, 2);
}

TEST_F(CliSpecFlagsTest, HelpHasDefaultsNamesAndAlternatives) {
  const std::string help = Run("rope --help").out;
  EXPECT_THAT(help, AllOf(HasSubstr("Base of the frequencies, rope_theta (default 10000)"),
                          HasSubstr("none (default), linear, llama3"), HasSubstr("split-half (default), split-dup"),
                          HasSubstr("--head-dim N"), HasSubstr("Dimensions of a head (required)"),
                          HasSubstr("linear (required), llama3 (default 8)"), HasSubstr("--dual-chunk-role")));
}

TEST_F(CliSpecFlagsTest, EveryFamilyHasItsCommands) {
  for (const char* family : {"sinusoidal", "rope", "alibi", "learned", "grid-sinusoidal", "relative-bucket",
                             "relative-bias", "query-temperature"}) {
    for (const char* command : {"", "describe ", "warm ", "check ", "plot heatmap "}) {
      const Result result = Run(std::string(command) + family + " --help");
      EXPECT_EQ(result.exit_code, 0) << command << family;
      EXPECT_THAT(result.out, AllOf(HasSubstr("Example"), HasSubstr("--dtype"))) << command << family;
    }
  }
}

TEST_F(CliSpecFlagsTest, ModelsValuesStayUnlessOverridden) {
  const std::string config = Write("config.json", R"({"model_type":"llama","hidden_size":256,)"
                                                  R"("num_attention_heads":4,"rope_theta":500000.0,)"
                                                  R"("rope_scaling":{"rope_type":"llama3","factor":8.0,)"
                                                  R"("low_freq_factor":1.0,"high_freq_factor":4.0,)"
                                                  R"("original_max_position_embeddings":8192},)"
                                                  R"("max_position_embeddings":131072})");
  EXPECT_THAT(SpecOf("rope --low-freq-factor 2 --model " + config),
              AllOf(HasSubstr("--base 500000 --scaling llama3"), HasSubstr("--low-freq-factor 2")));
  EXPECT_THAT(SpecOf("rope --scaling none --model " + config), Not(HasSubstr("--scaling")));
}

TEST_F(CliSpecFlagsTest, ArithmeticAndElementTypeReachTheSpec) {
  EXPECT_EQ(SpecOf("rope --head-dim 4 --arithmetic float32 --dtype f64"),
            "rope --head-dim 4 --rotary-dim 4 --dtype F64 --arithmetic float32");
}

}  // namespace
}  // namespace posenc
