// The generator of tables over grids: every row is a cell, whose pairs take one coordinate for each axis.
//
// A call computes the cells of each axis' indices once, H + W evaluations for H · W rows, correctly
// rounded at exact coordinates (grid_rows.h), and copies them into the rows. Works for phasors and for
// angles, in whatever arithmetic fills the cells.
//
// Threads: immutable. Memory: 16 bytes for each pair and index while a call lasts.

#ifndef POSENC_SERVER_ENCODINGS_SINUSOIDAL_GRID_GENERATOR_H_
#define POSENC_SERVER_ENCODINGS_SINUSOIDAL_GRID_GENERATOR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "server/encodings/phasors/phasor_table.h"
#include "server/encodings/table_generator.h"

namespace posenc {

// The elements of one pair as bits; an angle is the first.
struct CellBits {
  uint64_t cos = 0;
  uint64_t sin = 0;
};

// Returns the cell of pair k at index j of its axis; index −1 is a class token, angle 0.
using CellFunction = std::function<CellBits(int64_t k, int64_t j)>;

class GridGenerator final : public TableGenerator {
 public:
  // `start` makes the function of one call, with what its cells share. `shared_bytes`: what `start` owns.
  // Requires: the form has a grid.
  GridGenerator(PhasorForm form, TableFacts facts, std::function<CellFunction()> start,
                size_t shared_bytes);

  const TableShape& shape() const override { return form_.shape; }
  const TableFacts& facts() const override { return facts_; }
  size_t footprint_bytes() const override { return sizeof(*this) + shared_bytes_; }
  void Generate(int64_t first_row, int64_t row_count,
                std::span<std::byte* const> out) const override;
  // Writes nothing: rows of a grid have no position.
  void GenerateAt(std::span<const double>, std::span<std::byte* const>) const override {}

 private:
  PhasorForm form_;
  TableFacts facts_;
  std::function<CellFunction()> start_;
  size_t shared_bytes_;
};

// Grids in exact arithmetic. Requires: the form has a grid.
std::shared_ptr<const TableGenerator> MakePhasorGrid(const PhasorTable& table);
std::shared_ptr<const TableGenerator> MakeAngleGrid(const PhasorTable& table);

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_SINUSOIDAL_GRID_GENERATOR_H_
