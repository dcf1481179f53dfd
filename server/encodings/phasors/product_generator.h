// The generator of angles p·w_k, of the frequencies w_k themselves, and of periods 1 / w_k.
//
// Each cell is a product of an integer and a real constant (exact/multiplier.h), first in double
// with a rounding test (kernels/products.h for rows of one position), then in 126 bits, then by Ziv's method.
// Where w_k is a double, the product is exact and ties go to even. Threads: immutable.

#ifndef POSENC_SERVER_ENCODINGS_PHASORS_PRODUCT_GENERATOR_H_
#define POSENC_SERVER_ENCODINGS_PHASORS_PRODUCT_GENERATOR_H_

#include <cstdint>
#include <vector>

#include "server/encodings/exact/multiplier.h"
#include "server/encodings/phasors/phasor_table.h"
#include "server/encodings/table_generator.h"

namespace posenc {

class ProductGenerator final : public TableGenerator {
 public:
  // Requires: the table has no grid, and its layout one segment of cosines, which are the angles. A row
  // of kind kSingle is the frequencies, or with `inverted` 1 / w_k.
  ProductGenerator(const PhasorTable& table, bool inverted);

  const TableShape& shape() const override { return form_.shape; }
  const TableFacts& facts() const override { return facts_; }
  size_t footprint_bytes() const override;
  void Generate(int64_t first_row, int64_t row_count,
                std::span<std::byte* const> out) const override;
  void GenerateAt(std::span<const double> positions,
                  std::span<std::byte* const> out) const override;

 private:
  struct Scratch;  // of one call

  // Writes a row of one position.
  void WriteRowAt(int64_t position, std::byte* row, Scratch& scratch) const;
  // Writes a row whose angle k is factor(k) · w_k.
  template <typename Factor>
  void WriteRow(const Factor& factor, std::byte* row) const;
  uint64_t Cell(int64_t factor, int64_t k) const;

  PhasorForm form_;
  Frequencies source_;
  bool inverted_;
  TableFacts facts_;
  std::vector<Multiplier> multipliers_;
  std::vector<double> high_, low_;  // of the multipliers, padded for vectors
};

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_PHASORS_PRODUCT_GENERATOR_H_
