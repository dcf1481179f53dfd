// The program itself, as its users call it. Needs no server: --local, or a port where nobody listens.

#include <cstdlib>
#include <string>

#include "nlohmann/json.hpp"
#include "tests/support/matchers.h"
#include "tests/unit/client/cli/fixture.h"

namespace posenc {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

TEST_F(CliTest, PrintsATable) {
  const Result result = Run("sinusoidal --d-model 4 --rows 1:2 --local");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, AllOf(StartsWith("table [1, 4] F32  range [0.00999983, 0.99995]"),
                                HasSubstr("0.8415  0.5403  0.0100  0.9999")));
  EXPECT_THAT(result.err, IsEmpty());
}

TEST_F(CliTest, SpecFlagsReachTheSpec) {
  const Result result = Run(
      "--local describe rope --head-dim 64 --rotary-dim 32 --max-len 99 --base 5e5 --scaling llama3 "
      "--factor 4 --low-freq-factor 2 --high-freq-factor 5 --original-max-len 77 --layout cos_sin "
      "--first-position -3 --dtype half --format json");
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["canonical_text"],
            "posenc.table/1\nfamily=rope\nelement_type=F16\narithmetic=exact\nhead_dim=64\nrotary_dim=32\n"
            "max_len=99\nbase=0x1.e848p+18\nscaling=llama3\nfactor=0x1p+2\nlow_freq_factor=0x1p+1\n"
            "high_freq_factor=0x1.4p+2\noriginal_max_len=77\nlayout=cos-sin\nfirst_position=-3\n");
}

TEST_F(CliTest, SinusoidalFlagsReachTheSpec) {
  const Result result = Run(
      "describe sinusoidal --d-model 3 --max-len 9 --base 100 --order sin-cos --frequency-shift 1 "
      "--odd-width zero-column --clamp-denominator --first-position 2 --zero-row 1 --position-scale 0.5 "
      "--row-scale 2 --format json --local");
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_THAT(json["canonical_text"].get<std::string>(),
              HasSubstr("d_model=3\nmax_len=9\nbase=0x1.9p+6\norder=sin-cos\nfrequency_shift=0x1p+0\n"
                        "odd_width=zero-column\nclamp_denominator=1\nfirst_position=2\nzero_row=1\n"
                        "position_scale=0x1p-1\nrow_scale=0x1p+1\n"));
}

TEST_F(CliTest, AlibiFlagsReachTheSpec) {
  const Result result = Run(
      "describe alibi --heads 12 --max-len 30 --bias-max 4 --slope-rule geometric --form causal --masked "
      "--format json --local");
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_THAT(json["canonical_text"].get<std::string>(),
              HasSubstr("heads=12\nmax_len=30\nbias_max=0x1p+2\nslope_rule=geometric\nform=causal\nmasked=1\n"));
}

TEST_F(CliTest, UsageErrorsExitWithTwo) {
  for (const char* arguments :
       {"", "nonsense", "rope --no-such-flag", "rope --head-dim x", "rope --head-dim 8 --rows 1-2 --local",
        "rope --head-dim 8 --rows 1 --positions 2 --local", "rope --head-dim 8 --layout twisted",
        "rope --head-dim 8 --dtype int8", "rope --head-dim 8 --factor 2 --local",
        "rope --head-dim 8 --scaling linear --local", "rope --head-dim 8 --table main", "model",
        "rope --model /no/such/file --local", "describe", "warm --local", "evict --local",
        "rope --head-dim 8 --timeout never", "rope --head-dim 8 --timeout nan",
        "rope --head-dim 0x10 --rows 0 --local",
        "rope --head-dim 99999999999999999999 --local", "sinusoidal --d-model 4 --zero-row x", "health --server ''",
        "model --local /dev/null",
        "rope --head-dim 8 --format npy --local", "stats --format xml"}) {
    const Result result = Run(arguments);
    EXPECT_EQ(result.exit_code, 2) << arguments << '\n' << result.err;
    EXPECT_THAT(result.err, StartsWith("posenc: ")) << arguments;
    EXPECT_THAT(result.out, IsEmpty()) << arguments;
  }
}

TEST_F(CliTest, PortAloneIsNoAddress) {
  const Result result = Run("tables --server 50051");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("allowed: HOST:PORT, unix:PATH; is it localhost:50051?"));
}

TEST_F(CliTest, UsageErrorsSayWhatIsWrong) {
  EXPECT_THAT(Run("nonsense").err, StartsWith("posenc: unknown: nonsense\n"));
  EXPECT_THAT(Run("rope --head-dim 0x10").err, HasSubstr("--head-dim: '0x10'; allowed: a whole number"));
  EXPECT_THAT(Run("model --local /no/file").err, HasSubstr("cannot read /no/file: No such file or directory"));
  EXPECT_THAT(Run("model --local /dev/null").err, HasSubstr("/dev/null is empty"));
}

TEST_F(CliTest, BytesThatCannotTravelAreErrors) {
  const std::string token = Write("token", "to\nken");
  EXPECT_THAT(Run("health --token-file " + token).err, HasSubstr("printable ASCII"));
  EXPECT_THAT(Run("model " + Write("latin1.json", "{\"model_type\": \"\xe9\"}")).err,
              HasSubstr("INVALID_ARGUMENT: config_json is not UTF-8"));
  const Result evict = Run("evict $(printf '\\377')");
  EXPECT_EQ(evict.exit_code, 64 + 3);
  EXPECT_THAT(evict.err, HasSubstr("allowed: 64 hex digits"));
}

TEST_F(CliTest, ViewOfACausalBiasWithoutEarlierKeysIsExplained) {
  for (const auto& [flags, explained] : {std::pair{"--q 0:1 --k 0:20", true},
                                         {"--q 2:4 --k 3:9", true},
                                         {"--q 2:4 --k 2:9", false},
                                         {"--q 5 --k 5", false},
                                         {"--q 0:1 --k 0:20 --masked", false},
                                         {"--q 0:1 --k 0:20 --form symmetric", false},
                                         {"--q 0:1 --k 0:20 --quiet", false},
                                         {"--q 0:1 --k 0:0", false}}) {
    const Result result = Run(std::string("alibi --heads 2 --max-len 30 --local ") + flags);
    EXPECT_EQ(result.err.find("--form symmetric") != std::string::npos, explained) << flags << result.err;
    EXPECT_EQ(result.exit_code, 0) << flags;
  }
}

TEST_F(CliTest, CallErrorsExitWithTheirCode) {
  Result result = Run("rope --head-dim 7 --local");
  EXPECT_EQ(result.exit_code, 64 + 3);
  EXPECT_EQ(result.err,
            "posenc: INVALID_ARGUMENT: spec.rope.head_dim is 7; allowed: an even number, or an even rotary_dim "
            "beside it\n");
  EXPECT_EQ(Run("rope --head-dim 8 --rows 0:9999 --local").exit_code, 64 + 11);
  EXPECT_EQ(Run("tables --local").exit_code, 64 + 12);
}

TEST_F(CliTest, PositionsAreReportedAsTheyWereTyped) {
  for (const std::string position : {"9007199254740993", "-9007199254740993", "9223372036854775807"}) {
    const Result result = Run("rope --head-dim 8 --max-len 9007199254740992 --local --positions " + position);
    EXPECT_EQ(result.exit_code, 64 + 11);
    EXPECT_THAT(result.err,
                HasSubstr("positions[0] is " + position + "; allowed: -9007199254740991 to 9007199254740991"));
  }
}

TEST_F(CliTest, NumbersAreReportedAsTheyWereTyped) {
  EXPECT_THAT(Run("rope --head-dim 8 --base 0.9999999999999999 --local").err,
              HasSubstr("base is 0.9999999999999999; allowed: 1 to 1e+30"));
}

TEST_F(CliTest, OddHeadsRotateAnEvenPart) {
  EXPECT_THAT(Run("rope --head-dim 81 --rotary-dim 32 --rows 0:1 --local").out, HasSubstr("cos [1, 16] F32"));
}

TEST_F(CliTest, SectionsOfTheInterleavedMapAreAllPairs) {
  const std::string command = "rope --head-dim 16 --axes-map interleaved --rows 0:1 --local --axes-sections ";
  EXPECT_EQ(Run(command + "4,2,2").exit_code, 0);
  const Result result = Run(command + "2,2,2");
  EXPECT_EQ(result.exit_code, 64 + 3);
  EXPECT_THAT(result.err, HasSubstr("rope.axes.sections are 6 pairs in sum; allowed: the 8 rotated pairs, or "
                                    "leftovers_on_first"));
  EXPECT_EQ(Run(command + "2,2,2 --axes-leftovers-on-first").exit_code, 0);
}

TEST_F(CliTest, RowsPastTheTrainedLengthAreTold) {
  const std::string longrope = "rope --head-dim 4 --scaling longrope --factor 4 --original-max-len 4096 "
                               "--short-factor 1,1 --long-factor 4,4 --local ";
  const std::string dynamic = "rope --head-dim 4 --scaling dynamic --factor 4 --original-max-len 4096 --local ";
  for (const auto& [flags, told] : {std::pair{longrope + "--rows 4096", true},
                                    {longrope + "--positions 0,4096,3", true},
                                    {longrope + "--cols 0", true},
                                    {dynamic + "--rows 4096", true},
                                    {longrope + "--rows 0:4096", false},
                                    {longrope + "--rows 4096 --quiet", false},
                                    {longrope + "--rows 4096 --effective-length 4097", false}}) {
    const Result result = Run(flags);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.err.find("not past the trained length 4096") != std::string::npos, told) << flags << result.err;
  }
  EXPECT_THAT(Run("describe " + longrope).out,
              HasSubstr("note                 longrope: effective_length is not past"));
}

TEST_F(CliTest, DescribeTellsWhereHalfPrecisionEnds) {
  EXPECT_THAT(Run("describe rope --head-dim 8 --layout angles --max-len 70000 --dtype f16 --local").out,
              HasSubstr("note                 F16 ends at 65504: angles are infinite from position 65520 on"));
}

TEST_F(CliTest, UnreachableServerIsNamedWithAHint) {
  for (const char* command : {"health", "rope --head-dim 8", "stats"}) {
    const Result result = Run(std::string(command) + " --server 127.0.0.1:1 --timeout 5");
    EXPECT_EQ(result.exit_code, 64 + 14) << command;
    EXPECT_THAT(result.err, AllOf(HasSubstr("127.0.0.1:1"), HasSubstr("attempts"), HasSubstr("--local")));
  }
}

TEST_F(CliTest, ProxyOfTheEnvironmentIsNotForLoopback) {
  // Through the proxy the message would name port 9.
  setenv("http_proxy", "http://127.0.0.1:9", 1);
  EXPECT_THAT(Run("health --server 127.0.0.1:1 --timeout 5").err, HasSubstr("127.0.0.1:1"));
  EXPECT_THAT(Run("health --server 127.0.0.1:1 --timeout 5").err, ::testing::Not(HasSubstr(":9")));
  unsetenv("http_proxy");
}

TEST_F(CliTest, ServerComesFromTheEnvironment) {
  const std::string command = "POSENC_SERVER=127.0.0.1:2 " POSENC_BINARY_DIR "/posenc health 2>" + Path("e");
  EXPECT_NE(std::system(command.c_str()), 0);
  EXPECT_THAT(Read(Path("e")), HasSubstr("127.0.0.1:2"));
}

TEST_F(CliTest, ModelGivesSpecsThatFlagsOverride) {
  const std::string config = Write("config.json", R"({"model_type":"llama","hidden_size":256,)"
                                                  R"("num_attention_heads":4,"rope_theta":500000.0,)"
                                                  R"("max_position_embeddings":4096})");
  const Result model = Run("model --local " + config);
  EXPECT_THAT(model.out, AllOf(HasSubstr("rope.base"), HasSubstr("from rope_theta"), HasSubstr("half-split")));
  const auto json = nlohmann::json::parse(
      Run("describe rope --local --format json --max-len 100 --model " + config).out);
  EXPECT_THAT(json["canonical_text"].get<std::string>(),
              AllOf(HasSubstr("head_dim=64\n"), HasSubstr("max_len=100\n"), HasSubstr("base=0x1.e848p+18")));
  EXPECT_THAT(Run("alibi --local --model " + config).err, HasSubstr("has no alibi table"));
}

TEST_F(CliTest, EveryCommandTeachesWithAnExample) {
  for (const char* command :
       {"", "sinusoidal", "rope", "alibi", "describe", "describe rope", "describe sinusoidal",
        "describe alibi", "model", "tables", "warm", "warm rope", "evict", "stats", "health", "version",
        "completion"}) {
    const Result result = Run(std::string(command) + " --help");
    EXPECT_EQ(result.exit_code, 0) << command;
    EXPECT_THAT(result.out, AllOf(HasSubstr("Example"), HasSubstr("posenc "))) << command;
  }
}

TEST_F(CliTest, CompletionKnowsCommandsAndFlags) {
  const std::string script = Write("completion.bash", Run("completion").out);
  const std::string ask = "bash -c 'source " + script + "; COMP_WORDS=(posenc rope --head); COMP_CWORD=2; "
                          "_posenc; echo \"${COMPREPLY[@]}\"' > " + Path("reply");
  ASSERT_EQ(std::system(ask.c_str()), 0);
  EXPECT_EQ(Read(Path("reply")), "--head-dim\n");
}

TEST_F(CliTest, VersionIsOneLine) { EXPECT_EQ(Run("version").out, "posenc 0.1.0\n"); }

}  // namespace
}  // namespace posenc
