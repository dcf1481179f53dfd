#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/golden/golden_file.h"
#include "tests/golden/golden_float32.h"
#include "tests/golden/golden_number.h"
#include "tests/golden/golden_row.h"

namespace posenc {
namespace {

using nlohmann::json;

// Files of float32 code. Marian, DistilBERT, MAE, DiT and diffusers' grids compute in double: their tables
// are those of exact arithmetic (golden_sinusoidal_test.cc).
constexpr size_t kFiles = 27;

bool Has(const std::string& name, const std::string& part) { return name.find(part) != std::string::npos; }

SinusoidalSpec Timestep(const json& params) {
  return {.d_model = params["embedding_dim"],
          .base = params["max_period"],
          .order = params["flip_sin_to_cos"] ? SinusoidalOrder::kCosSin : SinusoidalOrder::kSinCos,
          .frequency_shift = params["downscale_freq_shift"],
          .odd_width = OddWidth::kZeroColumn,
          .position_scale = params["scale"]};
}

SinusoidalSpec TimingSignal(const json& params) {
  return {.d_model = params["d_model"],
          .base = params["max_timescale"].get<double>() / params["min_timescale"].get<double>(),
          .order = SinusoidalOrder::kSinCos,
          .frequency_shift = 1,
          .clamp_denominator = true,
          .first_position = params["start_index"],
          .position_scale = params["min_timescale"]};
}

SinusoidalSpec LineSpec(const std::string& name, const json& params) {
  if (Has(name, "diffusers")) return Timestep(params);
  if (Has(name, "tensor2tensor")) return TimingSignal(params);
  SinusoidalSpec spec{.d_model = params["d_model"],
                      .base = params.value("base", params.value("max_timescale", 10000.0))};
  if (Has(name, "seed")) return spec;
  spec.order = SinusoidalOrder::kSinCos;
  spec.frequency_shift = 1;
  if (params.contains("padding_idx")) spec.zero_row = params["padding_idx"];
  return spec;
}

GridSinusoidalSpec TimmSpec(const json& params) {
  std::vector<int64_t> sizes = params["feat_shape"];
  if (params["reverse_coord"]) std::swap(sizes[0], sizes[1]);
  return {.d_model = params["embed_dim"],
          .grid = {.sizes = sizes},
          .base = params["temperature"],
          .order = params["interleave_sin_cos"] ? GridOrder::kSinCos : GridOrder::kSinThenCos};
}

// positional-encodings; its tables of one axis too are made as grids are, by powers.
GridSinusoidalSpec PositionalEncodingsSpec(const json& params) {
  if (params.contains("frequency_width")) {
    return {.d_model = params["d_model"],
            .grid = {.sizes = {int64_t{1} << 16}},
            .base = params["base"],
            .order = GridOrder::kInterleaved,
            .axis_widths = {params["frequency_width"].get<int64_t>()}};
  }
  const std::vector<int64_t> sizes = params["shape"];
  return {.d_model = params["channels"],
          .grid = {.sizes = sizes},
          .order = GridOrder::kInterleaved,
          .axis_widths = std::vector<int64_t>(sizes.size(), params["channels_per_axis"].get<int64_t>())};
}

bool IsGrid(const std::string& name) { return Has(name, "posenc") || Has(name, "timm"); }

FamilySpec SpecOf(const GoldenFile& file) {
  const json& params = file.json["params"];
  if (Has(file.name, "timm")) return TimmSpec(params);
  if (Has(file.name, "posenc")) return PositionalEncodingsSpec(params);
  return LineSpec(file.name, params);
}

std::vector<GoldenFile> Float32Files() {
  std::vector<GoldenFile> chosen;
  for (GoldenFile& file : LoadGoldenFiles("sinusoidal_")) {
    const bool in_double = Has(file.name, "marian") || Has(file.name, "distilbert");
    if (!in_double && file.json["real_output_dtype"] == "float32") chosen.push_back(std::move(file));
  }
  return chosen;
}

// The row of a probe's position: a number, or one for each axis.
std::vector<double> RowOf(const GoldenTable& table, const GoldenFile& file, const json& position) {
  if (!IsGrid(file.name)) {
    return table.RowAt({position.get<double>() + file.json["params"].value("start_index", 0)});
  }
  if (position.is_number()) return table.Row(position);
  const FamilySpec spec = SpecOf(file);
  const std::vector<int64_t>& sizes = std::get<GridSinusoidalSpec>(spec).grid.sizes;
  int64_t row = 0;
  for (size_t axis = 0; axis < sizes.size(); ++axis) row = row * sizes[axis] + position[axis].get<int64_t>();
  return table.Row(row);
}

// The greatest distance in each column of a file: columns of one frequency stand or fall together.
std::map<size_t, int64_t> WorstOfColumns(const GoldenFile& file) {
  const GoldenTable table({.family = SpecOf(file),
                           .element_type = ElementType::kF32,
                           .arithmetic = Arithmetic::kFloat32});
  std::map<size_t, int64_t> worst;
  if (!table.valid()) return worst;
  std::map<json, std::vector<double>> rows;
  for (const json& probe : file.json["probes"]) {
    std::vector<double>& row = rows[probe["pos"]];
    if (row.empty()) row = RowOf(table, file, probe["pos"]);
    const size_t column = probe["col"];
    int64_t& distance = worst[column];
    distance = std::max(distance, FloatDistance(row.at(column), ParseHexFloat(probe["real_f32"])));
  }
  return worst;
}

// Columns whose frequency differs by a bit are off by as much as their positions are large. The steps of
// tensor2tensor ran on torch for its file, which divides a scalar by a tensor by way of the reciprocal;
// TensorFlow does not, so some of that file's frequencies are nobody's.
TEST(GoldenFloat32SinusoidalTest, ColumnsAreTheFrameworksButForFrequenciesRoundedOtherwise) {
  const std::vector<GoldenFile> files = Float32Files();
  EXPECT_EQ(files.size(), kFiles);
  int columns = 0, equal = 0;
  for (const GoldenFile& file : files) {
    Agreement agreement(file.name);
    for (const auto& [column, distance] : WorstOfColumns(file)) agreement.Add(distance);
    if (Has(file.name, "tensor2tensor")) continue;
    columns += agreement.total();
    equal += static_cast<int>(std::lround(agreement.Share(2) * agreement.total()));
  }
  std::cout << equal << " of " << columns << " columns within 2 ulp\n";
  EXPECT_GE(equal, 0.95 * columns);
}

}  // namespace
}  // namespace posenc
