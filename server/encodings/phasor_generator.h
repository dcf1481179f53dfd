// The generator behind sinusoidal and rotary tables: rows of m·cos(p·w_k) and m·sin(p·w_k).
//
// Generate walks tiles of rows through the vector kernels (kernels/tile.h) and redoes undecided
// cells by the accurate path (exact/phasor_cells.h); GenerateAt uses the accurate path alone.
// Anchors of a call's first tile come from fixed-point turns, at the same cost and error for every
// position.
//
// Threads: immutable. Memory: phasors of one tile of rows, 16 bytes for each row and pair (32 for
// F64).

#ifndef POSENC_SERVER_ENCODINGS_PHASOR_GENERATOR_H_
#define POSENC_SERVER_ENCODINGS_PHASOR_GENERATOR_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "server/encodings/exact/phasor_cells.h"
#include "server/encodings/row_layout.h"
#include "server/encodings/table_generator.h"
#include "server/encodings/tile_phasors.h"

namespace posenc {

// What a family makes of its spec.
struct PhasorTable {
  FrequencyRule rule;
  double magnitude = 1.0;
  ElementType element_type =
      ElementType::kF32;  // of the numbers; a complex tensor holds pairs of them
  RowLayout layout;
  TableShape shape;
  std::optional<int64_t> zero_row;
};

class PhasorGenerator final : public TableGenerator {
 public:
  explicit PhasorGenerator(const PhasorTable& table);

  const TableShape& shape() const override { return shape_; }
  const TableFacts& facts() const override { return facts_; }
  size_t footprint_bytes() const override;
  void Generate(int64_t first_row, int64_t row_count,
                std::span<std::byte* const> out) const override;
  void GenerateAt(std::span<const int64_t> positions,
                  std::span<std::byte* const> out) const override;

 private:
  // Rows as bytes: where they start and how they follow each other.
  struct Rows {
    std::span<std::byte* const> out;
    int64_t first_position;
    int64_t count;
  };

  void WriteChunk(const Rows& rows, int64_t first_pair, int64_t pairs) const;
  // Sets the anchors of a tile whose first row is at `position`: F64 accurately, the others by a
  // shorter way.
  void StartAnchors(int64_t position, int64_t first_pair, int64_t pairs, Anchors& anchors) const;
  void SetAccurateAnchor(int64_t position, int64_t k, int64_t i, Anchors& anchors) const;
  TileArgs ChunkArgs(int64_t first_pair, int64_t pairs) const;
  // Points `args` at the places of pair `first_pair` in row `row` of `out`.
  void PlaceTile(std::span<std::byte* const> out, int64_t row, int64_t first_pair,
                 TileArgs& args) const;
  // Writes pair k of a row through the accurate path.
  void WritePair(std::span<std::byte* const> out, int64_t row, int64_t position, int64_t k) const;
  void ClearZeroColumn(std::span<std::byte* const> out, int64_t row_count) const;
  void ClearRow(std::span<std::byte* const> out, int64_t row) const;

  PhasorCells cells_;
  RowLayout layout_;
  TableShape shape_;
  TableFacts facts_;
  std::optional<int64_t> zero_row_;
  size_t element_bytes_;
  TilePhasors tile_;
};

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_PHASOR_GENERATOR_H_
