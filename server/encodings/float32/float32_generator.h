// The generator of sinusoidal and rotary tables as float32 pipelines make them, rows by position.
//
// A row: its positions are rounded to float, become angles (float32_angles.h), their cosines and sines are
// the nearest floats (kernels/cos_sin.h), times the magnitude, times xPos's scale, rounded to the element
// type. A table of angles stops before the cosine; one of frequencies is the angles at position 1, and one
// of periods their reciprocals. Same bytes on every CPU.
//
// Threads: immutable. Memory: a few floats for each pair, and while a call lasts.

#ifndef POSENC_SERVER_ENCODINGS_FLOAT32_FLOAT32_GENERATOR_H_
#define POSENC_SERVER_ENCODINGS_FLOAT32_FLOAT32_GENERATOR_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "server/core/specs/rope_variants.h"
#include "server/encodings/float32/float32_angles.h"
#include "server/encodings/phasors/phasor_table.h"
#include "server/encodings/table_generator.h"

namespace posenc {

// What the cells of a table hold.
enum class Float32Cells : uint8_t { kPhasors, kAngles, kPeriods };

struct Float32Table {
  PhasorForm form;
  Float32Angles angles;
  Float32Cells cells = Float32Cells::kPhasors;
  float magnitude = 1;
  double softmax_scale = 1;
  std::optional<XPos> xpos = std::nullopt;  // tensors q_cos, q_sin, k_cos, k_sin
};

TableFacts FactsOf(const Float32Table& table);

// Returns the generator of a table over a grid (grid_generator.h). Requires: the form has a grid, no xpos.
std::shared_ptr<const TableGenerator> MakeFloat32Grid(Float32Table table);

class Float32Generator final : public TableGenerator {
 public:
  // Requires: the form has no grid.
  explicit Float32Generator(Float32Table table);

  const TableShape& shape() const override { return table_.form.shape; }
  const TableFacts& facts() const override { return facts_; }
  size_t footprint_bytes() const override;
  void Generate(int64_t first_row, int64_t row_count,
                std::span<std::byte* const> out) const override;
  void GenerateAt(std::span<const double> positions,
                  std::span<std::byte* const> out) const override;

 private:
  struct Scratch;  // of one call

  void WriteRow(std::span<const float> coordinates, int64_t row, std::span<std::byte* const> out,
                Scratch& scratch) const;
  void WriteXPos(float position, int64_t row, std::span<std::byte* const> out, Scratch& scratch) const;
  // Writes the row's cosines and sines at the form's places, `first_tensor` tensors further on.
  void Store(Scratch& scratch, int64_t row, int first_tensor, std::span<std::byte* const> out) const;
  void ClearRow(int64_t row, std::span<std::byte* const> out) const;

  Float32Table table_;
  TableFacts facts_;
  std::vector<float> growth_;  // g_i of xPos
};

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_FLOAT32_FLOAT32_GENERATOR_H_
