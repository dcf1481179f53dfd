#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/golden/golden_file.h"
#include "tests/golden/golden_number.h"
#include "tests/golden/golden_row.h"

namespace posenc {
namespace {

using nlohmann::json;

// Files and probes in data/; a change of the data changes these numbers.
constexpr size_t kFiles = 12;
constexpr int kProbes = 5 * 98 + 64 + 112 + 42 + 77 + 84 + 168 + 72;

bool Has(const std::string& name, const std::string& part) { return name.find(part) != std::string::npos; }

// positional-encodings: blocks x, y, z of one width, cut after `channels`.
GridSinusoidalSpec PositionalEncodingsSpec(const json& params) {
  const std::vector<int64_t> shape = params["shape"];
  return {.d_model = params["channels"],
          .grid = {.sizes = shape},
          .order = GridOrder::kInterleaved,
          .axis_widths = std::vector<int64_t>(shape.size(), params["channels_per_axis"])};
}

GridSinusoidalSpec TimmSpec(const json& params) {
  std::vector<int64_t> shape = params["feat_shape"];
  if (params["reverse_coord"]) shape = {shape[1], shape[0]};
  return {.d_model = params["embed_dim"],
          .grid = {.sizes = shape},
          .base = params["temperature"],
          .order = params["interleave_sin_cos"] ? GridOrder::kSinCos : GridOrder::kSinThenCos};
}

// MAE, DiT and diffusers: the column first.
GridSinusoidalSpec ColumnFirstSpec(const json& params) {
  GridSinusoidalSpec spec{.d_model = params["embed_dim"],
                          .grid = {.sizes = {params["grid_height"], params["grid_width"]}},
                          .axis_order = {1, 0}};
  if (!params.contains("base_size")) return spec;
  spec.grid.coordinates = GridCoordinates::kScaled;
  spec.grid.references = {params["base_size"], params["base_size"]};
  spec.grid.interpolation_scale = params["interpolation_scale"];
  return spec;
}

GridSinusoidalSpec VideoSpec(const json& params) {
  const int64_t width = params["embed_dim"];
  const std::vector<int64_t> space = params["spatial_size_width_height"];
  return {.d_model = width,
          .grid = {.sizes = {params["temporal_size"], space[1], space[0]}},
          .axis_order = {0, 2, 1},
          .axis_widths = {width / 4, 3 * width / 8, 3 * width / 8}};
}

GridSinusoidalSpec SpecOf(const GoldenFile& file) {
  const json& params = file.json["params"];
  if (Has(file.name, "posenc")) return PositionalEncodingsSpec(params);
  if (Has(file.name, "timm")) return TimmSpec(params);
  return Has(file.name, "3d") ? VideoSpec(params) : ColumnFirstSpec(params);
}

// The last axis is the fastest.
int64_t RowOf(const Grid& grid, const std::vector<int64_t>& position) {
  int64_t row = 0;
  for (size_t axis = 0; axis < position.size(); ++axis) row = row * grid.sizes[axis] + position[axis];
  return row;
}

int CheckFile(const GoldenFile& file, ElementType type) {
  const GridSinusoidalSpec spec = SpecOf(file);
  const GoldenTable table({.family = spec, .element_type = type});
  if (!table.valid()) return 0;
  for (const json& probe : file.json["probes"]) {
    const std::vector<double> row = table.Row(RowOf(spec.grid, probe["pos"]));
    const double expected = type == ElementType::kF32 ? ParseHexFloat(probe["exact_f32"])
                                                      : RoundDecimal(type, probe["exact"]);
    EXPECT_PRED2(SameBits, row.at(probe["col"]), expected)
        << file.name << " " << ElementTypeName(type) << " " << probe;
  }
  return static_cast<int>(file.json["probes"].size());
}

TEST(GoldenGridTest, EveryProbeIsCorrectlyRoundedInEveryElementType) {
  std::vector<GoldenFile> files = LoadGoldenFiles("sinusoidal_2d");
  for (GoldenFile& file : LoadGoldenFiles("sinusoidal_3d")) files.push_back(std::move(file));
  EXPECT_EQ(files.size(), kFiles);
  for (ElementType type : kRealTypes) {
    int checked = 0;
    for (const GoldenFile& file : files) checked += CheckFile(file, type);
    EXPECT_EQ(checked, kProbes) << ElementTypeName(type);
  }
}

}  // namespace
}  // namespace posenc
