#include <cmath>
#include <map>
#include <string>

#include "gtest/gtest.h"
#include "tests/golden/golden_file.h"
#include "tests/golden/golden_number.h"
#include "tests/golden/golden_row.h"
#include "tests/golden/golden_specs.h"

namespace posenc {
namespace {

using nlohmann::json;

// Files, probes (a cosine and a sine each) and hard cells in data/.
constexpr size_t kFiles = 43;
constexpr int kProbes = 42 * 66 + 11;
constexpr size_t kHardFiles = 2;
constexpr int kHardCells = 2 * 80;

std::vector<GoldenFile> RopeFiles(bool hard) {
  std::vector<GoldenFile> chosen;
  for (GoldenFile& file : LoadGoldenFiles("rope_")) {
    if ((file.name.rfind("rope_hard_", 0) == 0) == hard) chosen.push_back(std::move(file));
  }
  return chosen;
}

// Rows of one table by position, each generated once.
class Rows {
 public:
  Rows(const RopeSpec& spec, ElementType type) : table_({.family = spec, .element_type = type}) {}

  bool valid() const { return table_.valid(); }
  const std::vector<double>& At(int64_t position) {
    auto [at, is_new] = rows_.try_emplace(position);
    if (is_new) at->second = table_.Row(position);
    return at->second;
  }

 private:
  GoldenTable table_;
  std::map<int64_t, std::vector<double>> rows_;
};

double Expected(const json& values, const std::string& name, ElementType type) {
  if (type == ElementType::kF32) return ParseHexFloat(values[name + "_f32"]);
  return RoundDecimal(type, values[name]);
}

int CheckProbes(const GoldenFile& file, ElementType type) {
  Rows rows(GoldenRopeSpec(file, RopeLayout::kSplitHalf), type);
  if (!rows.valid()) return 0;
  const size_t pairs = file.json["inv_freq_exact"].size();
  for (const json& probe : file.json["probes"]) {
    const std::vector<double>& row = rows.At(probe["pos"]);
    const size_t pair = probe["pair"];
    EXPECT_PRED2(SameBits, row[pair], Expected(probe, "cos_exact", type))
        << file.name << " " << ElementTypeName(type) << " " << probe;
    EXPECT_PRED2(SameBits, row[pairs + pair], Expected(probe, "sin_exact", type))
        << file.name << " " << ElementTypeName(type) << " " << probe;
  }
  return static_cast<int>(file.json["probes"].size());
}

int CheckHardCells(const GoldenFile& file, ElementType type) {
  Rows rows(GoldenRopeSpec(file, RopeLayout::kSplitHalf), type);
  if (!rows.valid()) return 0;
  const size_t pairs = file.json["inv_freq_exact"].size();
  int checked = 0;
  for (const char* kind : {"near_zero", "near_midpoint"}) {
    for (const json& cell : file.json[kind]) {
      const size_t column = cell["pair"].get<size_t>() + (cell["fn"] == "sin" ? pairs : 0);
      EXPECT_PRED2(SameBits, rows.At(cell["pos"])[column], Expected(cell, "exact", type))
          << file.name << " " << ElementTypeName(type) << " " << cell;
      ++checked;
    }
  }
  return checked;
}

TEST(GoldenRopeTest, EveryProbeIsCorrectlyRoundedInEveryElementType) {
  const std::vector<GoldenFile> files = RopeFiles(false);
  EXPECT_EQ(files.size(), kFiles);
  for (ElementType type : kRealTypes) {
    int checked = 0;
    for (const GoldenFile& file : files) checked += CheckProbes(file, type);
    EXPECT_EQ(checked, kProbes) << ElementTypeName(type);
  }
}

TEST(GoldenRopeTest, EveryHardCellIsCorrectlyRoundedInEveryElementType) {
  const std::vector<GoldenFile> files = RopeFiles(true);
  EXPECT_EQ(files.size(), kHardFiles);
  for (ElementType type : kRealTypes) {
    int checked = 0;
    for (const GoldenFile& file : files) checked += CheckHardCells(file, type);
    EXPECT_EQ(checked, kHardCells) << ElementTypeName(type);
  }
}

TEST(GoldenRopeTest, InverseFrequenciesAreCorrectlyRounded) {
  for (const GoldenFile& file : LoadGoldenFiles("rope_")) {
    for (ElementType type : {ElementType::kF64, ElementType::kF32}) {
      const GoldenTable table({.family = GoldenRopeSpec(file, RopeLayout::kFrequencies),
                               .element_type = type});
      ASSERT_TRUE(table.valid());
      const std::vector<double> row = table.Row(0);
      const json& exact = file.json["inv_freq_exact"];
      ASSERT_EQ(row.size(), exact.size()) << file.name;
      for (size_t i = 0; i < row.size(); ++i) {
        EXPECT_EQ(row[i], RoundDecimal(type, exact[i])) << file.name << " pair " << i;
      }
    }
  }
}

TEST(GoldenRopeTest, MagnitudesAreCorrectlyRounded) {
  for (const GoldenFile& file : RopeFiles(false)) {
    const GoldenTable table({.family = GoldenRopeSpec(file, RopeLayout::kSplitHalf)});
    ASSERT_TRUE(table.valid());
    EXPECT_EQ(table.facts().magnitude,
              RoundDecimal(ElementType::kF64, file.json["attention_factor_exact"]))
        << file.name;
  }
}

// The layout of the full row that the file's own system returns.
RopeLayout LayoutOfRow(const GoldenFile& file) {
  const json& row = file.json["row_at_7"];
  if (row["cos"].size() == file.json["inv_freq_exact"].size()) return RopeLayout::kSplitHalf;
  const bool repeated = row["description"].get<std::string>().rfind("interleaved", 0) == 0;
  return repeated ? RopeLayout::kSplitRepeated : RopeLayout::kSplitDuplicated;
}

// The distance that float32 angles explain, for one cell of row 7.
double FloatError(const GoldenFile& file, RopeLayout layout, size_t column) {
  const json& frequencies = file.json["inv_freq_exact"];
  const size_t pairs = frequencies.size();
  const size_t pair = layout == RopeLayout::kSplitRepeated ? column / 2 : column % pairs;
  const double angle = 7 * std::stod(frequencies[pair].get<std::string>());
  const double ulps = file.json["inv_freq_real_max_ulp_error"].get<double>() + 0.5;
  return file.json["attention_factor"].get<double>() * std::ldexp(ulps * angle + 1, -23);
}

TEST(GoldenRopeTest, RowsAreLaidOutAsTheirSystemsDo) {
  for (const GoldenFile& file : RopeFiles(false)) {
    const RopeLayout layout = LayoutOfRow(file);
    Rows rows(GoldenRopeSpec(file, layout), ElementType::kF32);
    ASSERT_TRUE(rows.valid());
    const std::vector<double>& row = rows.At(7);
    const json& real = file.json["row_at_7"];
    const size_t width = real["cos"].size();
    ASSERT_EQ(row.size(), 2 * width) << file.name;
    for (size_t i = 0; i < width; ++i) {
      const double bound = FloatError(file, layout, i);
      EXPECT_NEAR(row[i], ParseHexFloat(real["cos"][i]), bound) << file.name << " cos " << i;
      EXPECT_NEAR(row[width + i], ParseHexFloat(real["sin"][i]), bound) << file.name << " sin " << i;
    }
  }
}

}  // namespace
}  // namespace posenc
