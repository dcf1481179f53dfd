#include "server/telemetry/log.h"

#include <sstream>
#include <string>

#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/support/matchers.h"

namespace posenc {
namespace {

using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::HasSubstr;

class LoggerTest : public testing::Test {
 protected:
  Logger& Json(LogLevel least = LogLevel::kInfo) {
    logger_ = std::make_unique<Logger>(LogFormat::kJson, least, &stream_);
    return *logger_;
  }
  Logger& Text() {
    logger_ = std::make_unique<Logger>(LogFormat::kText, LogLevel::kInfo, &stream_);
    return *logger_;
  }
  std::string Written() const { return stream_.str(); }
  nlohmann::json WrittenJson() const { return nlohmann::json::parse(Written()); }

 private:
  std::ostringstream stream_;
  std::unique_ptr<Logger> logger_;
};

TEST_F(LoggerTest, JsonLineHasTimeLevelMessageAndTypedFields) {
  Json().Info("listening", {{"port", 50051}, {"address", "0.0.0.0"}, {"ready", false}});
  const nlohmann::json line = WrittenJson();
  EXPECT_EQ(line["level"], "info");
  EXPECT_EQ(line["msg"], "listening");
  EXPECT_EQ(line["port"], 50051);
  EXPECT_EQ(line["address"], "0.0.0.0");
  EXPECT_EQ(line["ready"], false);
  EXPECT_THAT(line["ts"].get<std::string>(), ContainsRegex("^20..-..-..T..:..:..\\....Z$"));
}

TEST_F(LoggerTest, HostileTextStaysOneParsableLine) {
  const std::string hostile = "a\"b\\c\nd\x01 \xff {}";
  Json().Error(hostile, {{"field", hostile}});
  EXPECT_EQ(WrittenJson()["msg"], "a\"b\\c\nd\x01 \xEF\xBF\xBD {}");
  EXPECT_EQ(WrittenJson()["field"], WrittenJson()["msg"]);
  const std::string written = Written();
  EXPECT_EQ(std::count(written.begin(), written.end(), '\n'), 1);
}

TEST_F(LoggerTest, TextLineQuotesOnlyWhatNeedsIt) {
  Text().Warning("two\nlines", {{"plain", "a/b:1"}, {"spaced", "a b"}, {"empty", ""}});
  EXPECT_THAT(Written(), EndsWith(" warning two\\nlines plain=a/b:1 spaced=\"a b\" empty=\"\"\n"));
}

TEST_F(LoggerTest, LeavesOutAndDoesNotCountWhatIsBelowTheLeastLevel) {
  Logger& log = Json(LogLevel::kWarning);
  log.Info("not this");
  log.Error("this");
  EXPECT_THAT(Written(), HasSubstr("this"));
  EXPECT_EQ(WrittenJson()["msg"], "this");
  EXPECT_EQ(log.count(LogLevel::kInfo), 0u);
  EXPECT_EQ(log.count(LogLevel::kError), 1u);
}

TEST(LogLevelTest, EveryNameParsesBackAndOthersListTheNames) {
  for (LogLevel level : kAllLogLevels) EXPECT_EQ(*ParseLogLevel(LogLevelName(level)), level);
  EXPECT_THAT(ParseLogLevel("loud"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("debug, info, warning, error")));
}

}  // namespace
}  // namespace posenc
