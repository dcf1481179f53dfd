// The xPos tables (Sun et al. 2022): cosines and sines of queries times g_i^z, of keys times g_i^(−z).
//
// g_i = (10i + 2d) / 7d and z = (p − centre) / scale_base, core/rope_variants.h. Cells are products of
// enclosures: a phasor, the magnitude, and the scale, whose power is taken anew every 16 rows and
// multiplied on between; cells that stay undecided are redone by Ziv's method. About 0.3 µs a cell.
// Scales grow and shrink without bound: what leaves the element type is ±inf or ±0, as rounding once gives.
//
// Threads: immutable.

#ifndef POSENC_SERVER_ENCODINGS_ROPE_XPOS_GENERATOR_H_
#define POSENC_SERVER_ENCODINGS_ROPE_XPOS_GENERATOR_H_

#include <cstdint>

#include "server/encodings/exact/phasor_cells.h"
#include "server/encodings/phasors/phasor_table.h"
#include "server/encodings/table_generator.h"

namespace posenc {

class XPosGenerator final : public TableGenerator {
 public:
  // Requires: the table's tensors are q_cos, q_sin, k_cos, k_sin (rope_form.h).
  XPosGenerator(const PhasorTable& table, const XPos& xpos, int64_t rotary_dim);

  const TableShape& shape() const override { return form_.shape; }
  const TableFacts& facts() const override { return facts_; }
  size_t footprint_bytes() const override { return sizeof(*this) + cells_.footprint_bytes(); }
  void Generate(int64_t first_row, int64_t row_count,
                std::span<std::byte* const> out) const override;
  void GenerateAt(std::span<const double> positions,
                  std::span<std::byte* const> out) const override;

 private:
  // g_k^z and g_k^(−z).
  struct Scales {
    Enclosure query;
    Enclosure key;
  };
  // ln(g_k) / scale_base, the logarithm of the scale's step from row to row.
  Real LogStep(int64_t k, int64_t bits) const;
  // position − centre, or the farthest distance that makes a difference.
  Real DistanceOf(double position, int64_t bits) const;
  Scales ScalesAt(const Real& log_step, double position) const;
  void WritePair(int64_t position, int64_t k, const Scales& scales, int64_t row,
                 std::span<std::byte* const> out) const;
  uint64_t Round(const Enclosure& unit, const Enclosure& scale, int64_t position, int64_t k, bool sine,
                 bool key) const;
  uint64_t Ziv(int64_t position, int64_t k, bool sine, bool key) const;

  PhasorForm form_;
  Frequencies source_;
  XPos xpos_;
  int64_t rotary_dim_;
  PhasorCells cells_;
  TableFacts facts_;
};

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_ROPE_XPOS_GENERATOR_H_
