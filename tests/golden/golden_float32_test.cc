#include <cmath>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/golden/golden_float32.h"
#include "tests/golden/golden_number.h"
#include "tests/golden/golden_row.h"
#include "tests/golden/golden_specs.h"

namespace posenc {
namespace {

using nlohmann::json;

// Files, frequencies and compared cells in data/; few frequencies differ, so few cells are left out.
constexpr size_t kFiles = 43, kAxesFiles = 3;
constexpr int kFrequencies = 2639, kLeastCells = 14500, kLeastAxesCells = 600;

std::vector<GoldenFile> Files(const std::string& prefix) {
  std::vector<GoldenFile> chosen;
  for (GoldenFile& file : LoadGoldenFiles(prefix)) {
    if (file.name.rfind("rope_hard_", 0) != 0) chosen.push_back(std::move(file));
  }
  return chosen;
}

GoldenTable Table(const GoldenFile& file, RopeLayout layout) {
  return GoldenTable({.family = GoldenRopeSpec(file, layout),
                      .element_type = ElementType::kF32,
                      .arithmetic = Arithmetic::kFloat32});
}

// Which frequencies have the bits that the real code's tensor has.
std::vector<bool> SameFrequencies(const GoldenFile& file) {
  const std::vector<double> ours = Table(file, RopeLayout::kFrequencies).Row(0);
  std::vector<bool> same;
  for (size_t i = 0; i < ours.size(); ++i) same.push_back(ours[i] == file.json["inv_freq"][i].get<double>());
  return same;
}

// The distances of the cells of pairs whose frequency is the framework's.
class Cells {
 public:
  explicit Cells(const GoldenFile& file) : file_(file.name), same_(SameFrequencies(file)) {}

  void Compare(size_t pair, double ours, const json& real) {
    if (!same_[pair]) return;
    const int64_t ulps = FloatDistance(ours, ParseHexFloat(real));
    EXPECT_LE(ulps, 2) << file_ << " pair " << pair;
    ++counts_[ulps];
  }
  const std::map<int64_t, int>& counts() const { return counts_; }

 private:
  std::string file_;
  std::vector<bool> same_;
  std::map<int64_t, int> counts_;
};

void CompareProbes(const GoldenFile& file, Cells& cells) {
  const GoldenTable table = Table(file, RopeLayout::kSplitHalf);
  ASSERT_TRUE(table.valid());
  const size_t pairs = file.json["inv_freq"].size();
  for (const json& probe : file.json["probes"]) {
    const std::vector<double> row = table.RowAt({probe["pos"].get<double>()});
    const size_t pair = probe["pair"];
    cells.Compare(pair, row[pair], probe["cos_real_f32"]);
    cells.Compare(pair, row[pairs + pair], probe["sin_real_f32"]);
  }
}

void CompareRow(const GoldenFile& file, Cells& cells) {
  const json& real = file.json["row_at_7"];
  const size_t pairs = file.json["inv_freq"].size(), width = real["cos"].size();
  const bool repeated = real["description"].get<std::string>().rfind("interleaved", 0) == 0;
  const RopeLayout layout = width == pairs ? RopeLayout::kSplitHalf
                            : repeated     ? RopeLayout::kSplitRepeated
                                           : RopeLayout::kSplitDuplicated;
  const std::vector<double> row = Table(file, layout).Row(7);
  ASSERT_EQ(row.size(), 2 * width);
  for (size_t i = 0; i < width; ++i) {
    const size_t pair = repeated ? i / 2 : i % pairs;
    cells.Compare(pair, row[i], real["cos"][i]);
    cells.Compare(pair, row[width + i], real["sin"][i]);
  }
}

void CompareAxes(const GoldenFile& file, Cells& cells) {
  const GoldenTable table = Table(file, RopeLayout::kSplitHalf);
  ASSERT_TRUE(table.valid());
  const size_t pairs = file.json["inv_freq"].size();
  for (const json& at : file.json["rows"]) {
    const std::vector<double> row = table.RowAt(at["pos_t_h_w"]);
    for (const json& probe : at["probes"]) {
      const size_t pair = probe["pair"];
      cells.Compare(pair, row[pair], probe["cos_real_f32"]);
      cells.Compare(pair, row[pairs + pair], probe["sin_real_f32"]);
    }
  }
}

TEST(GoldenFloat32Test, RotaryFrequenciesHaveTheFrameworksBits) {
  Agreement agreement("rotary frequencies");
  for (const char* prefix : {"rope_", "mrope_"}) {
    for (const GoldenFile& file : Files(prefix)) {
      const std::vector<double> ours = Table(file, RopeLayout::kFrequencies).Row(0);
      const json& real = file.json["inv_freq"];
      ASSERT_EQ(ours.size(), real.size()) << file.name;
      for (size_t i = 0; i < ours.size(); ++i) agreement.Add(FloatDistance(ours[i], real[i].get<double>()));
    }
  }
  EXPECT_EQ(agreement.total(), kFrequencies);
  EXPECT_GE(agreement.Share(0), 0.95) << agreement;
  EXPECT_LE(agreement.worst(), 2) << agreement;
}

TEST(GoldenFloat32Test, RotaryCellsAreTheFrameworksWhereFrequenciesAre) {
  const std::vector<GoldenFile> files = Files("rope_");
  EXPECT_EQ(files.size(), kFiles);
  Agreement agreement("rotary cells");
  for (const GoldenFile& file : files) {
    Cells cells(file);
    CompareProbes(file, cells);
    CompareRow(file, cells);
    agreement.Add(cells.counts());
  }
  EXPECT_GE(agreement.total(), kLeastCells);
  EXPECT_LE(agreement.worst(), 2) << agreement;
}

TEST(GoldenFloat32Test, CellsOfSeveralAxesAreTheFrameworksWhereFrequenciesAre) {
  const std::vector<GoldenFile> files = Files("mrope_");
  EXPECT_EQ(files.size(), kAxesFiles);
  Agreement agreement("rotary cells of three axes");
  for (const GoldenFile& file : files) {
    Cells cells(file);
    CompareAxes(file, cells);
    agreement.Add(cells.counts());
  }
  EXPECT_GE(agreement.total(), kLeastAxesCells);
  EXPECT_LE(agreement.worst(), 2) << agreement;
}

}  // namespace
}  // namespace posenc
