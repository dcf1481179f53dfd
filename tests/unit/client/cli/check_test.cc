// posenc check: properties that hold, and tables for which they do not.

#include <string>

#include "nlohmann/json.hpp"
#include "tests/support/matchers.h"
#include "tests/unit/client/cli/fixture.h"

namespace posenc {
namespace {

using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;

class CliCheckTest : public CliTest {
 protected:
  // The properties that a table was found to have, or not.
  std::vector<std::string> Properties(const std::string& flags, bool passed) const {
    std::vector<std::string> names;
    const Result result = Run("check " + flags + " --local --format json");
    if (result.out.empty()) ADD_FAILURE() << flags << result.err;
    const auto json = nlohmann::json::parse(result.out);
    for (const auto& check : json["checks"]) {
      if (check["passed"] == passed) names.push_back(check["property"]);
    }
    return names;
  }
};

TEST_F(CliCheckTest, FamiliesHaveTheirProperties) {
  EXPECT_THAT(Properties("sinusoidal --d-model 64 --max-len 600", true),
              IsSupersetOf({"finite", "bounded", "unique", "distinguishable", "position 0", "cos2 + sin2",
                            "shift is linear"}));
  EXPECT_THAT(Properties("rope --head-dim 64 --max-len 600", true),
              IsSupersetOf({"unique", "position 0", "cos2 + sin2", "q·k by offset alone"}));
  EXPECT_THAT(Properties("alibi --heads 4 --form symmetric", true), IsSupersetOf({"finite", "bounded", "relative"}));
}

TEST_F(CliCheckTest, TablesThatHoldExitWithZero) {
  for (const char* flags :
       {"sinusoidal --d-model 512", "sinusoidal --d-model 8 --order cos-sin --dtype bf16 --max-len 99 --row-scale 3",
        "rope --head-dim 128 --max-len 131072 --base 500000 --rows 0:500", "rope --head-dim 8 --layout complex",
        "rope --head-dim 64 --scaling yarn --factor 4 --original-max-len 4096", "rope --head-dim 64 --xpos-centre 64",
        "alibi --heads 12 --masked", "alibi --heads 12 --form key-index", "relative-bias --rule sandwich --heads 2",
        "relative-bucket", "query-temperature", "grid-sinusoidal --d-model 64 --grid-sizes 7,7"}) {
    const Result result = Run(std::string("check --local ") + flags);
    EXPECT_EQ(result.exit_code, 0) << flags << '\n' << result.out << result.err;
    EXPECT_THAT(result.out, Not(HasSubstr("FAIL"))) << flags;
  }
}

TEST_F(CliCheckTest, WhatDoesNotHoldExitsWithOne) {
  // A float32 pipeline loses the angle far out, and a table without turning pairs has one row.
  EXPECT_THAT(Properties("rope --head-dim 128 --max-len 131072 --arithmetic float32 --rows 0:9", false),
              ::testing::ElementsAre("q·k by offset alone"));
  const Result result = Run("check rope --head-dim 4 --inverse-frequencies 0,0 --max-len 5 --local");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, HasSubstr("FAIL  unique                rows 0 and 1 are alike"));
}

}  // namespace
}  // namespace posenc
