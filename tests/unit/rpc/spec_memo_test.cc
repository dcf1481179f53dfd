#include "server/rpc/requests/spec_memo.h"

#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace posenc {
namespace {

class SpecMemoTest : public ::testing::Test {
 protected:
  // Keeps a spec that is told from others by its d_model.
  void Keep(const std::string& bytes, int64_t d_model = 2) {
    memo_.Keep(bytes, std::make_shared<KeyedSpec>(KeyedSpec{{.family = SinusoidalSpec{.d_model = d_model}}, {}}));
  }
  // The d_model kept under the bytes; 0 for none.
  int64_t Found(const std::string& bytes) {
    const KeyedSpecPtr found = memo_.Find(bytes);
    return found == nullptr ? 0 : std::get<SinusoidalSpec>(found->spec.family).d_model;
  }

  SpecMemo memo_;
};

TEST_F(SpecMemoTest, FindsWhatWasKeptUnderTheVeryBytes) {
  Keep("one", 8);
  Keep(std::string("one\0", 4), 16);
  EXPECT_EQ(Found("one"), 8);
  EXPECT_EQ(Found(std::string("one\0", 4)), 16);
  EXPECT_EQ(Found("on"), 0);
  EXPECT_EQ(Found(""), 0);
}

TEST_F(SpecMemoTest, KeepsTheFirstOfTwo) {
  Keep("same", 8);
  Keep("same", 16);
  EXPECT_EQ(Found("same"), 8);
}

TEST_F(SpecMemoTest, LetsGoOfTheLeastRecentlyUsedBeyondItsNumber) {
  for (size_t i = 0; i < SpecMemo::kMaxSpecs; ++i) Keep(absl::StrCat(i));
  EXPECT_EQ(Found("0"), 2);  // and with that 1 is the oldest
  Keep("another");
  EXPECT_EQ(Found("1"), 0);
  EXPECT_EQ(Found("0"), 2);
  EXPECT_EQ(Found("another"), 2);
}

TEST_F(SpecMemoTest, LetsGoOfTheLeastRecentlyUsedBeyondItsBytes) {
  const size_t fitting = SpecMemo::kMaxBytes / SpecMemo::kMaxSpecBytes;
  const auto long_bytes = [](char c) { return std::string(SpecMemo::kMaxSpecBytes, c); };
  for (size_t i = 0; i <= fitting; ++i) Keep(long_bytes(static_cast<char>(i)));
  EXPECT_EQ(Found(long_bytes(0)), 0);
  for (size_t i = 1; i <= fitting; ++i) EXPECT_EQ(Found(long_bytes(static_cast<char>(i))), 2) << i;
}

TEST_F(SpecMemoTest, KeepsNoLongSpecs) {
  Keep("short");
  const std::string too_long(SpecMemo::kMaxSpecBytes + 1, 'x');
  Keep(too_long);
  EXPECT_EQ(Found(too_long), 0);
  EXPECT_EQ(Found("short"), 2);
}

TEST_F(SpecMemoTest, ServesManyThreads) {
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int64_t i = 1; i <= 2000; ++i) {
        Keep(absl::StrCat(i), i);
        const int64_t found = Found(absl::StrCat(i));
        EXPECT_TRUE(found == i || found == 0) << t;
      }
    });
  }
}

}  // namespace
}  // namespace posenc
