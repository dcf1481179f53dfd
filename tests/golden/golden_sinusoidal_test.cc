#include <cmath>
#include <map>
#include <string>

#include "gtest/gtest.h"
#include "tests/golden/golden_file.h"
#include "tests/golden/golden_number.h"
#include "tests/golden/golden_row.h"

namespace posenc {
namespace {

using nlohmann::json;

// Files and probes in data/; a change of the data changes these numbers.
constexpr size_t kFiles = 23;
constexpr int kProbes = 2046;

bool Starts(const std::string& name, const std::string& prefix) { return name.rfind(prefix, 0) == 0; }

SinusoidalSpec DiffusersSpec(const json& params) {
  return {.d_model = params["embedding_dim"],
          .base = params["max_period"],
          .order = params["flip_sin_to_cos"] ? SinusoidalOrder::kCosSin : SinusoidalOrder::kSinCos,
          .frequency_shift = params["downscale_freq_shift"],
          .odd_width = OddWidth::kZeroColumn,
          .position_scale = params["scale"]};
}

// max_timescale / min_timescale is the base; the scale stands before the angle.
SinusoidalSpec TensorFlowSpec(const json& params) {
  const double min_timescale = params["min_timescale"];
  return {.d_model = params["d_model"],
          .base = params["max_timescale"].get<double>() / min_timescale,
          .order = SinusoidalOrder::kSinCos,
          .frequency_shift = 1,
          .clamp_denominator = true,
          .first_position = params["start_index"],
          .position_scale = min_timescale};
}

SinusoidalSpec SpecOf(const GoldenFile& file) {
  const json& params = file.json["params"];
  if (Starts(file.name, "sinusoidal_diffusers")) return DiffusersSpec(params);
  if (Starts(file.name, "sinusoidal_tensor2tensor")) return TensorFlowSpec(params);
  SinusoidalSpec spec{.d_model = params["d_model"],
                      .base = params.value("base", params.value("max_timescale", 10000.0))};
  if (Starts(file.name, "sinusoidal_fairseq") || Starts(file.name, "sinusoidal_whisper")) {
    spec.order = SinusoidalOrder::kSinCos;
    spec.frequency_shift = 1;
    if (params.contains("padding_idx")) spec.zero_row = params["padding_idx"];
  } else if (Starts(file.name, "sinusoidal_marian")) {
    spec.order = SinusoidalOrder::kSinCos;
  } else if (Starts(file.name, "sinusoidal_distilbert")) {
    spec.odd_width = OddWidth::kExtraSine;
  } else if (Starts(file.name, "sinusoidal_posenc1d")) {
    spec.odd_width = OddWidth::kDropCosine;
  }
  return spec;
}

// The row of a position as a row where there is one, otherwise as a real position.
std::vector<double> RowOf(const SinusoidalSpec& spec, ElementType type, double position) {
  const GoldenTable table({.family = spec, .element_type = type});
  if (!table.valid()) return {};
  if (position != std::floor(position)) return table.RowAt({position});
  return table.Row(static_cast<int64_t>(position));
}

double Expected(const json& probe, ElementType type) {
  if (type == ElementType::kF32) return ParseHexFloat(probe["exact_f32"]);
  return RoundDecimal(type, probe["exact"]);
}

// Checks every probe of a file in one element type and returns how many there were.
int CheckFile(const GoldenFile& file, ElementType type) {
  const SinusoidalSpec spec = SpecOf(file);
  std::map<double, std::vector<double>> rows;
  int checked = 0;
  for (const json& probe : file.json["probes"]) {
    const double position = probe["pos"];
    if (!rows.contains(position)) rows[position] = RowOf(spec, type, position);
    const size_t column = probe["col"];
    if (column >= rows[position].size()) {
      ADD_FAILURE() << file.name << " has no column " << column;
      return checked;
    }
    EXPECT_PRED2(SameBits, rows[position][column], Expected(probe, type))
        << file.name << " " << ElementTypeName(type) << " " << probe;
    ++checked;
  }
  return checked;
}

TEST(GoldenSinusoidalTest, EveryProbeIsCorrectlyRoundedInEveryElementType) {
  std::vector<GoldenFile> files;
  for (GoldenFile& file : LoadGoldenFiles("sinusoidal_")) {
    const bool grid = Starts(file.name, "sinusoidal_2d") || Starts(file.name, "sinusoidal_3d");
    if (!grid) files.push_back(std::move(file));
  }
  EXPECT_EQ(files.size(), kFiles);
  for (ElementType type : kRealTypes) {
    int checked = 0;
    for (const GoldenFile& file : files) checked += CheckFile(file, type);
    EXPECT_EQ(checked, kProbes) << ElementTypeName(type);
  }
}

TEST(GoldenSinusoidalTest, Float32DecimalsAndHexFloatsAgree) {
  for (const GoldenFile& file : LoadGoldenFiles("sinusoidal_")) {
    for (const json& probe : file.json["probes"]) {
      EXPECT_EQ(RoundDecimal(ElementType::kF32, probe["exact"]), ParseHexFloat(probe["exact_f32"]))
          << file.name << " " << probe;
    }
  }
}

}  // namespace
}  // namespace posenc
