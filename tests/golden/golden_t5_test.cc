#include <string>

#include "gtest/gtest.h"
#include "tests/golden/golden_file.h"
#include "tests/golden/golden_row.h"

namespace posenc {
namespace {

using nlohmann::json;

// Files in data/, and the relative positions of all their lines.
constexpr size_t kFiles = 5;

RelativeBucketSpec SpecOf(const json& params, int64_t max_len) {
  return {.rule = T5Buckets{.buckets = params["num_buckets"],
                            .max_distance = params["max_distance"],
                            .bidirectional = params["bidirectional"]},
          .max_len = max_len};
}

// The matrices have other heights than widths: both are corners of one square map.
void CheckMatrix(const json& file) {
  const json& matrix = file["matrix"];
  const size_t queries = matrix.size(), keys = matrix[0].size();
  const GoldenTable table({.family = SpecOf(file["params"], static_cast<int64_t>(std::max(queries, keys)))});
  ASSERT_TRUE(table.valid());
  for (size_t query = 0; query < queries; ++query) {
    const std::vector<double> row = table.Row(static_cast<int64_t>(query));
    for (size_t key = 0; key < keys; ++key) EXPECT_EQ(row[key], matrix[query][key]) << query << " " << key;
  }
}

// The line begins at −n: the last query of n + 1 has the keys at or before it, the first those after it.
int CheckLine(const json& file) {
  const json& line = file["line"]["exact"];
  const int64_t before = -file["line"]["relative_position_from"].get<int64_t>();
  const auto count = static_cast<int64_t>(line.size());
  const int64_t size = std::max(before, count - before - 1) + 1;
  const GoldenTable table({.family = SpecOf(file["params"], size)});
  if (!table.valid()) return 0;
  const std::vector<double> first = table.Row(0), last = table.Row(size - 1);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t delta = i - before;
    EXPECT_EQ(delta < 0 ? last[size - 1 + delta] : first[delta], line[i]) << delta;
  }
  return static_cast<int>(count);
}

void CheckFar(const json& file) {
  constexpr int64_t kSize = 100001;
  const GoldenTable table({.family = SpecOf(file["params"], kSize)});
  ASSERT_TRUE(table.valid());
  const std::vector<double> first = table.Row(0), last = table.Row(kSize - 1);
  for (const auto& [text, bucket] : file["far"].items()) {
    const int64_t delta = std::stoll(text);
    EXPECT_EQ(delta < 0 ? last[kSize - 1 + delta] : first[delta], bucket) << delta;
  }
}

TEST(GoldenT5Test, BucketsAreThoseOfTheModels) {
  const std::vector<GoldenFile> files = LoadGoldenFiles("t5_");
  EXPECT_EQ(files.size(), kFiles);
  for (const GoldenFile& file : files) {
    SCOPED_TRACE(file.name);
    CheckMatrix(file.json);
    EXPECT_EQ(CheckLine(file.json), static_cast<int>(file.json["line"]["real"].size()));
    EXPECT_EQ(file.json["line"]["exact"], file.json["line"]["real"]);
    CheckFar(file.json);
  }
}

}  // namespace
}  // namespace posenc
