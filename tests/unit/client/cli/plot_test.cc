// posenc plot: pictures of every kind, and what keeps one from being drawn.

#include <filesystem>
#include <string>

#include "tests/support/matchers.h"
#include "tests/unit/client/cli/fixture.h"

namespace posenc {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class CliPlotTest : public CliTest {
 protected:
  // The script of a picture, which has its data.
  std::string Script(const std::string& flags) const {
    const Result result = Run("plot " + flags + " --local -o " + Path("x.gp"));
    EXPECT_EQ(result.exit_code, 0) << flags << result.err;
    return Read(Path("x.gp"));
  }
};

TEST_F(CliPlotTest, EveryKindIsDrawn) {
  for (const char* flags :
       {"heatmap sinusoidal --d-model 32", "heatmap rope --head-dim 32", "heatmap alibi --heads 2 --max-len 9",
        "waveforms sinusoidal --d-model 64", "waveforms rope --head-dim 64 --dims 0,3", "decay rope --head-dim 64",
        "heatmap query-temperature", "heatmap alibi --heads 3 --form slopes", "heatmap alibi --heads 3 --form row",
        "decay sinusoidal --d-model 64 --rows 0:50", "frequencies rope --head-dim 64 --scaling llama3",
        "alibi --heads 4"}) {
    const Result png = Run(std::string("plot ") + flags + " --local -o " + Path("x.png"));
    EXPECT_EQ(png.exit_code, 0) << flags << png.err;
    EXPECT_EQ(png.err, "") << flags;
    EXPECT_THAT(Read(Path("x.png")), StartsWith("\x89PNG")) << flags;
  }
}

TEST_F(CliPlotTest, VectorPicturesAreSvg) {
  EXPECT_EQ(Run("plot heatmap sinusoidal --d-model 8 --local -o " + Path("x.svg")).exit_code, 0);
  EXPECT_THAT(Read(Path("x.svg")), AllOf(HasSubstr("<svg"), HasSubstr("dimension"), HasSubstr("</svg>")));
}

TEST_F(CliPlotTest, HeatMapHasTheTablesNumbers) {
  const std::string script = Script("heatmap sinusoidal --d-model 4 --rows 1:3");
  EXPECT_THAT(script, AllOf(HasSubstr("0.841470957 0.540302277 0.00999983307 0.999949992"),
                            HasSubstr("set cbrange [-1:1]"), HasSubstr("'position'"), HasSubstr("'dimension'")));
}

// gnuplot draws nothing for an image of one column, and says nothing.
TEST_F(CliPlotTest, SingleColumnIsDrawnAsOne) {
  const std::string script = Script("heatmap sinusoidal --d-model 8 --cols 0:1 --rows 1:3");
  EXPECT_THAT(script, AllOf(HasSubstr("0.841470957 0.841470957"), HasSubstr("set xrange [0-0.5:1-0.5]")));
}

TEST_F(CliPlotTest, WaveformsHaveAPanelForEachDimension) {
  const std::string script = Script("waveforms sinusoidal --d-model 512");
  for (const char* label : {"'dimension 0'", "'dimension 31'", "'dimension 301'"}) {
    EXPECT_THAT(script, HasSubstr(label));
  }
  EXPECT_THAT(script, HasSubstr("set yrange [-1.1:1.1]"));
}

TEST_F(CliPlotTest, WhatCannotBeDrawnIsAUsageError) {
  for (const char* flags : {"heatmap sinusoidal --d-model 8", "heatmap sinusoidal --d-model 8 -o x.gif",
                            "waveforms sinusoidal --d-model 8 --dims 8 -o x.png", "decay alibi --heads 2 -o x.png",
                            "alibi --heads 2 --form row -o x.png",
                            "heatmap sinusoidal --d-model 65536 --rows 0:500 -o x.png",
                            "heatmap sinusoidal --d-model 8 --rows 0:0 -o x.png"}) {
    EXPECT_EQ(Run(std::string("plot --local ") + flags).exit_code, 2) << flags;
  }
}

TEST_F(CliPlotTest, MissingGnuplotIsNamedWithItsPackage) {
  const Result result = Run("plot heatmap sinusoidal --d-model 8 --local -o " + Path("x.png"), "PATH=/nowhere");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("apt install gnuplot-nox"));
  EXPECT_FALSE(std::filesystem::exists(Path("x.png")));
}

}  // namespace
}  // namespace posenc
