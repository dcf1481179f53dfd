#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/golden/golden_file.h"
#include "tests/golden/golden_number.h"
#include "tests/golden/golden_row.h"
#include "tests/golden/golden_specs.h"

namespace posenc {
namespace {

using nlohmann::json;

// Files and probes (a cosine and a sine each) in data/.
constexpr size_t kFiles = 3;
constexpr int kProbes = 7 * (15 + 15 + 16);

double Expected(const json& probe, const std::string& name, ElementType type) {
  if (type == ElementType::kF32) return ParseHexFloat(probe[name + "_f32"]);
  return RoundDecimal(type, probe[name]);
}

int CheckFile(const GoldenFile& file, ElementType type) {
  const GoldenTable table({.family = GoldenRopeSpec(file, RopeLayout::kSplitHalf), .element_type = type});
  if (!table.valid()) return 0;
  int checked = 0;
  for (const json& entry : file.json["rows"]) {
    const std::vector<double> row = table.RowAt(entry["pos_t_h_w"]);
    for (const json& probe : entry["probes"]) {
      const size_t pair = probe["pair"];
      EXPECT_PRED2(SameBits, row[pair], Expected(probe, "cos_exact", type)) << file.name << " " << probe;
      EXPECT_PRED2(SameBits, row[row.size() / 2 + pair], Expected(probe, "sin_exact", type))
          << file.name << " " << probe;
      ++checked;
    }
  }
  return checked;
}

TEST(GoldenMropeTest, EveryProbeIsCorrectlyRoundedInEveryElementType) {
  const std::vector<GoldenFile> files = LoadGoldenFiles("mrope_");
  EXPECT_EQ(files.size(), kFiles);
  for (ElementType type : kRealTypes) {
    int checked = 0;
    for (const GoldenFile& file : files) checked += CheckFile(file, type);
    EXPECT_EQ(checked, kProbes) << ElementTypeName(type);
  }
}

TEST(GoldenMropeTest, PairsTakeTheAxesOfTheirSystems) {
  for (const GoldenFile& file : LoadGoldenFiles("mrope_")) {
    const GoldenTable table({.family = GoldenRopeSpec(file, RopeLayout::kSplitHalf)});
    ASSERT_TRUE(table.valid());
    EXPECT_EQ(table.facts().axis_of_pair, file.json["axis_of_pair"].get<std::vector<int32_t>>()) << file.name;
  }
}

}  // namespace
}  // namespace posenc
