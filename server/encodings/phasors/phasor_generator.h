// The generator behind sinusoidal and rotary tables: rows of m·cos(p·w_k) and m·sin(p·w_k).
//
// Generate walks tiles of rows through the vector kernels (kernels/tile.h) and redoes undecided
// cells by the accurate path (exact/phasor_cells.h); GenerateAt uses the accurate path alone, with a
// position for each axis. Anchors of a call's first tile come from fixed-point turns, at the same cost
// and error for every position.
//
// Threads: immutable. Memory: phasors of one tile of rows, 16 bytes for each of 17 rows and pair (32 for
// F64, 24 for BF16).

#ifndef POSENC_SERVER_ENCODINGS_PHASORS_PHASOR_GENERATOR_H_
#define POSENC_SERVER_ENCODINGS_PHASORS_PHASOR_GENERATOR_H_

#include <cstdint>

#include "server/encodings/exact/phasor_cells.h"
#include "server/encodings/phasors/phasor_table.h"
#include "server/encodings/phasors/tile_phasors.h"
#include "server/encodings/table_generator.h"

namespace posenc {

class PhasorGenerator final : public TableGenerator {
 public:
  // Requires: the table has no grid.
  explicit PhasorGenerator(const PhasorTable& table);

  const TableShape& shape() const override { return form_.shape; }
  const TableFacts& facts() const override { return facts_; }
  size_t footprint_bytes() const override;
  void Generate(int64_t first_row, int64_t row_count,
                std::span<std::byte* const> out) const override;
  void GenerateAt(std::span<const double> positions,
                  std::span<std::byte* const> out) const override;

 private:
  // Rows as bytes: where they start and how they follow each other.
  struct Rows {
    std::span<std::byte* const> out;
    int64_t first_row;
    int64_t count;
  };

  // Writes rows but for what is zero in them.
  void WriteRows(const Rows& rows) const;
  // Writes pairs first … first + pairs − 1 of a segment.
  void WriteChunk(const Rows& rows, const Segment& segment, int64_t first, int64_t pairs) const;
  // Sets the anchors of a tile whose first row is at `position`: F64 accurately, the others by a
  // shorter way.
  void StartAnchors(int64_t position, int64_t first_pair, int64_t pairs, Anchors& anchors) const;
  void SetAccurateAnchor(int64_t position, int64_t k, int64_t i, Anchors& anchors) const;
  TileArgs ChunkArgs(const Segment& segment, int64_t first, int64_t pairs) const;
  // Points `args` at the places of the segment's pair `first` in row `row` of `out`.
  void PlaceTile(std::span<std::byte* const> out, int64_t row, const Segment& segment, int64_t first,
                 TileArgs& args) const;
  void Store(std::span<std::byte* const> out, int64_t row, const Segment& segment, int64_t i,
             const PhasorCells::Bits& bits) const;
  // Writes one row, whose position on each axis is given.
  void WriteRowAt(std::span<const double> position, std::span<std::byte* const> out, int64_t row,
                  std::vector<Real>& real_turns) const;
  void ClearZeroColumns(std::span<std::byte* const> out, int64_t row_count) const;
  void ClearRow(std::span<std::byte* const> out, int64_t row) const;

  PhasorForm form_;
  PhasorCells cells_;
  TableFacts facts_;
  TilePhasors tile_;
};

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_PHASORS_PHASOR_GENERATOR_H_
