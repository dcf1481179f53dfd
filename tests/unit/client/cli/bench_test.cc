// posenc bench: what it counts is what was asked.

#include <string>

#include "nlohmann/json.hpp"
#include "tests/support/matchers.h"
#include "tests/unit/client/cli/fixture.h"

namespace posenc {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CliBenchTest : public CliTest {
 protected:
  nlohmann::json Json(const std::string& flags) const {
    return nlohmann::json::parse(Run("bench " + flags + " --duration 20ms --format json --local").out);
  }
};

TEST_F(CliBenchTest, BytesAreThoseOfTheCalls) {
  const auto json = Json("rope --head-dim 8 --max-len 100 --rows 2:5");
  const double calls = json["calls"], seconds = json["elapsed_seconds"];
  EXPECT_GE(calls, 1);
  EXPECT_DOUBLE_EQ(json["bytes_per_second"], calls * 3 * 8 * 4 / seconds);
  EXPECT_DOUBLE_EQ(json["calls_per_second"], calls / seconds);
}

TEST_F(CliBenchTest, QuantilesAscend) {
  const auto latency = Json("sinusoidal --d-model 16 --max-len 10 --clients 3")["latency_seconds"];
  EXPECT_GT(latency["min"], 0);
  EXPECT_GE(latency["p50"], latency["min"]);
  EXPECT_GE(latency["p99"], latency["p50"]);
  EXPECT_GE(latency["max"], latency["p99"]);
}

TEST_F(CliBenchTest, EveryClientAsksAtLeastOnce) {
  const auto json = Json("alibi --heads 2 --max-len 8 --clients 5");
  EXPECT_EQ(json["clients"], 5);
  EXPECT_GE(json["calls"], 5);
}

TEST_F(CliBenchTest, LargeTablesPassInChunks) {
  const auto json = Json("rope --head-dim 128 --max-len 140000");
  EXPECT_DOUBLE_EQ(json["bytes_per_second"].get<double>() * json["elapsed_seconds"].get<double>(),
                   json["calls"].get<double>() * 140000 * 128 * 4);
}

TEST_F(CliBenchTest, TableSaysCallsBytesAndLatency) {
  const Result result = Run("bench rope --head-dim 8 --rows 0:2 --duration 1ms --local");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("by 1 client in"), HasSubstr("64 bytes a call"), HasSubstr(" p99 ")));
  EXPECT_THAT(result.err, IsEmpty());
}

TEST_F(CliBenchTest, ServerThatIsNotThereIsAnError) {
  const Result result = Run("bench rope --head-dim 8 --server 127.0.0.1:1 --timeout 2");
  EXPECT_EQ(result.exit_code, 64 + 14);
  EXPECT_THAT(result.err, HasSubstr("UNAVAILABLE"));
  EXPECT_THAT(result.out, IsEmpty());
}

}  // namespace
}  // namespace posenc
