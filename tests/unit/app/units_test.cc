#include "server/app/config/units.h"

#include <string>

#include "gmock/gmock.h"
#include "tests/support/matchers.h"

namespace posenc {
namespace {

using ::testing::HasSubstr;

TEST(ByteSizeTest, TakesPlainNumbersAndEveryUnitInAnyCase) {
  const std::pair<const char*, size_t> cases[] = {
      {"0", 0},          {"1000000", 1000000},      {"5B", 5},           {"3kB", 3000},
      {"2MB", 2000000},  {"1GB", 1000000000},       {"1TB", 1000000000000}, {"4KiB", 4096},
      {"512MiB", 512u << 20}, {"1gib", 1u << 30},   {"1TIB", size_t{1} << 40}, {"1.5KiB", 1536},
      {" 2 MiB ", 2u << 20}, {"9007199254740993", 9007199254740993u}};
  for (const auto& [text, bytes] : cases) {
    EXPECT_THAT(ParseByteSize(text), IsOk()) << text;
    EXPECT_EQ(ParseByteSize(text).value_or(1), bytes) << text;
  }
}

TEST(ByteSizeTest, RefusesEverythingElseAndSaysWhatIsAllowed) {
  for (const char* text : {"", "MiB", "-1", "12XB", "1e3", "0x10", "1.5", "0.3B", "1 2", "9999999TiB", "1..5"}) {
    EXPECT_THAT(ParseByteSize(text), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("512MiB")))
        << text;
  }
}

TEST(ByteSizeTest, FormatsExactlyAndReadsItselfBack) {
  EXPECT_EQ(FormatByteSize(size_t{1} << 30), "1GiB");
  EXPECT_EQ(FormatByteSize(1536), "1536");  // 1.5KiB is not shorter to read
  EXPECT_EQ(FormatByteSize(3 * 1024), "3KiB");
  for (size_t bytes : {size_t{0}, size_t{1}, size_t{1000001}, size_t{5} << 40, (size_t{1} << 62) + 1}) {
    EXPECT_EQ(*ParseByteSize(FormatByteSize(bytes)), bytes);
  }
}

TEST(DurationTest, TakesTimesWithUnits) {
  EXPECT_EQ(*ParseDuration("500ms"), absl::Milliseconds(500));
  EXPECT_EQ(*ParseDuration("1m30s"), absl::Seconds(90));
  EXPECT_EQ(*ParseDuration("0"), absl::ZeroDuration());
}

TEST(DurationTest, RefusesEverythingElseAndSaysWhatIsAllowed) {
  for (const char* text : {"", "5", "-1s", "inf", "soon", "5 s"}) {
    EXPECT_THAT(ParseDuration(text), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("30s"))) << text;
  }
}

}  // namespace
}  // namespace posenc
