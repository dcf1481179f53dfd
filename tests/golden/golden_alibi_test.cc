#include <cmath>
#include <string>

#include "gtest/gtest.h"
#include "tests/golden/golden_file.h"
#include "tests/golden/golden_number.h"
#include "tests/golden/golden_row.h"

namespace posenc {
namespace {

using nlohmann::json;

// Files, slopes (one for each head and rule) and bias cells in data/.
constexpr size_t kSlopeFiles = 9;
constexpr int kSlopes = 3 * (1 + 112 + 16 + 24 + 3 + 32 + 48 + 64 + 8);
constexpr size_t kBiasFiles = 3;
constexpr int kBiasCells = 3 * (12 * 4 * 4 + 3 * 6 * 6 + 8 * 5 * 5);

int CheckSlopes(const json& slopes, AlibiSpec spec, ElementType type) {
  spec.form = AlibiForm::kSlopes;
  const GoldenTable table({.family = spec, .element_type = type});
  if (!table.valid()) return 0;
  const std::vector<double> row = table.Row(0);
  EXPECT_EQ(row.size(), slopes["exact"].size());
  for (size_t head = 0; head < row.size(); ++head) {
    const double expected = type == ElementType::kF32 ? ParseHexFloat(slopes["exact_f32"][head])
                                                      : RoundDecimal(type, slopes["exact"][head]);
    EXPECT_PRED2(SameBits, row[head], expected) << spec.heads << " heads, head " << head;
  }
  return static_cast<int>(row.size());
}

TEST(GoldenAlibiTest, EverySlopeIsCorrectlyRoundedInEveryElementType) {
  const std::vector<GoldenFile> files = LoadGoldenFiles("alibi_slopes_");
  EXPECT_EQ(files.size(), kSlopeFiles);
  for (ElementType type : kRealTypes) {
    int checked = 0;
    for (const GoldenFile& file : files) {
      const int64_t heads = file.json["num_heads"];
      const json& mpt = file.json["mpt_alibi_bias_max"];
      checked += CheckSlopes(file.json["original"], {.heads = heads}, type);
      checked += CheckSlopes(mpt["8"], {.heads = heads}, type);
      checked += CheckSlopes(mpt["16"], {.heads = heads, .bias_max = 16}, type);
    }
    EXPECT_EQ(checked, kSlopes) << ElementTypeName(type);
  }
}

// The matrices are float32 products of float32 slopes: a cell is one rounding of the slope away from the
// truth and one of the product. Zeros and infinities are exact.
int CheckBias(const json& matrices, const AlibiSpec& spec) {
  const GoldenTable table({.family = spec});
  if (!table.valid()) return 0;
  int checked = 0;
  for (int64_t head = 0; head < spec.heads; ++head) {
    for (int64_t query = 0; query < spec.max_len; ++query) {
      const std::vector<double> row = table.Row(head * spec.max_len + query);
      for (int64_t key = 0; key < spec.max_len; ++key) {
        const double real = ParseHexFloat(matrices["bias"][head][query][key]);
        const bool close = row[key] == real || std::abs(row[key] - real) <= std::ldexp(-real, -23);
        EXPECT_TRUE(close) << head << " " << query << " " << key << ": " << row[key] << " " << real;
        ++checked;
      }
    }
  }
  return checked;
}

// One row for all queries. BLOOM's row with its first token padded is its row one key later, from 0 again.
int CheckRows(const json& rows, const AlibiSpec& spec, int64_t padded = 0) {
  const GoldenTable table({.family = spec});
  if (!table.valid()) return 0;
  int checked = 0;
  for (int64_t head = 0; head < spec.heads; ++head) {
    const std::vector<double> row = table.Row(head);
    for (int64_t key = padded; key < spec.max_len; ++key, ++checked) {
      const double real = ParseHexFloat(rows["bias"][head][0][key]), ours = row[key - padded];
      EXPECT_LE(std::abs(ours - real), std::ldexp(std::abs(real), -23)) << head << " " << key;
    }
  }
  return checked;
}

TEST(GoldenAlibiTest, RowsAreThoseOfTheSystems) {
  int checked = 0;
  for (const GoldenFile& file : LoadGoldenFiles("alibi_bias_")) {
    AlibiSpec spec{.heads = file.json["num_heads"], .max_len = file.json["length"], .form = AlibiForm::kRow};
    checked += CheckRows(file.json["mpt_row"], spec);
    spec.form = AlibiForm::kKeyIndex;
    checked += CheckRows(file.json["bloom_row"], spec);
    checked += CheckRows(file.json["bloom_row_first_token_padded"], spec, 1);
  }
  EXPECT_EQ(checked, 12 * (4 + 4 + 3) + 3 * (6 + 6 + 5) + 8 * (5 + 5 + 4));
}

TEST(GoldenAlibiTest, BiasesAreThoseOfTheSystems) {
  const std::vector<GoldenFile> files = LoadGoldenFiles("alibi_bias_");
  EXPECT_EQ(files.size(), kBiasFiles);
  int checked = 0;
  for (const GoldenFile& file : files) {
    AlibiSpec spec{.heads = file.json["num_heads"], .max_len = file.json["length"], .masked = true};
    checked += CheckBias(file.json["causal"], spec);
    spec.masked = false;
    spec.form = AlibiForm::kSymmetric;
    checked += CheckBias(file.json["symmetric"], spec);
    spec.bias_max = 16;
    checked += CheckBias(file.json["symmetric_bias_max_16"], spec);
  }
  EXPECT_EQ(checked, kBiasCells);
}

}  // namespace
}  // namespace posenc
