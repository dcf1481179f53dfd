// Rows by index of tables whose last axis text tokens leave at 0 (llama.cpp's interleaved M-RoPE).
//
// The pairs of that axis hold the same cells in every row, those of coordinate 0, which are written over
// the cells that the inner generator gives them. Positions with coordinates of their own pass unchanged.
//
// Threads: immutable. Owns a share of the inner generator.

#ifndef POSENC_SERVER_ENCODINGS_ROPE_STILL_AXIS_H_
#define POSENC_SERVER_ENCODINGS_ROPE_STILL_AXIS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "server/encodings/phasors/phasor_table.h"
#include "server/encodings/table_generator.h"

namespace posenc {

class StillAxisGenerator final : public TableGenerator {
 public:
  // `form` is that of `rows`. Requires: form.shape.last_axis_still.
  StillAxisGenerator(std::shared_ptr<const TableGenerator> rows, const PhasorForm& form);

  const TableShape& shape() const override { return rows_->shape(); }
  const TableFacts& facts() const override { return facts_; }
  size_t footprint_bytes() const override;
  void Generate(int64_t first_row, int64_t row_count,
                std::span<std::byte* const> out) const override;
  void GenerateAt(std::span<const double> positions,
                  std::span<std::byte* const> out) const override;

 private:
  struct Cell {
    int tensor;
    int64_t offset;  // in the row, in bytes
  };

  std::shared_ptr<const TableGenerator> rows_;
  TableFacts facts_;
  size_t element_bytes_;
  std::vector<Cell> still_;                      // cells of the last axis' pairs
  std::vector<std::vector<std::byte>> at_zero_;  // the row at coordinate 0, of each tensor
};

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_ROPE_STILL_AXIS_H_
