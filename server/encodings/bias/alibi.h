// The ALiBi family (Press et al. 2022): slopes, the bias [heads, queries, keys], and the one row for all
// queries [heads, keys] that MPT, BLOOM and Falcon add instead.
//
// Slope of head h is 2^-x / score_divisor with x rational, held to 126 bits, or exactly where it is a
// double. A cell is slope times a whole number, rounded once (toeplitz.h says how rows are shared).
// Threads: immutable.

#ifndef POSENC_SERVER_ENCODINGS_BIAS_ALIBI_H_
#define POSENC_SERVER_ENCODINGS_BIAS_ALIBI_H_

#include <cstdint>
#include <vector>

#include "server/core/specs/alibi_spec.h"
#include "server/encodings/exact/multiplier.h"
#include "server/encodings/table_generator.h"

namespace posenc {

class AlibiGenerator final : public TableGenerator {
 public:
  // Requires: the spec is normalised.
  AlibiGenerator(const AlibiSpec& spec, ElementType type);

  const TableShape& shape() const override { return shape_; }
  const TableFacts& facts() const override { return facts_; }
  size_t footprint_bytes() const override;
  void Generate(int64_t first_row, int64_t row_count,
                std::span<std::byte* const> out) const override;
  // Writes nothing: rows of a bias have no position.
  void GenerateAt(std::span<const double>, std::span<std::byte* const>) const override {}

 private:
  // The element nearest to slope · factor.
  uint64_t Cell(int64_t head, int64_t factor) const;
  // Sets value to slope · factor / score_divisor, and returns whether no bit was lost.
  bool Product(int64_t head, int64_t factor, Real& value) const;
  // Writes `count` elements of slope · factor, for factors `step` apart.
  void WriteRun(int64_t head, int64_t factor, int64_t step, int64_t count, std::byte* out) const;
  // Writes the elements for key − query = delta and those after it.
  void WriteBand(int64_t head, int64_t delta, int64_t count, std::byte* out) const;
  void WriteKeyRow(int64_t head, std::byte* out) const;  // of the forms that have one row for a head
  void WriteSlopes(std::byte* out) const;

  AlibiSpec spec_;
  ElementType type_;
  TableShape shape_;
  TableFacts facts_;
  std::vector<Multiplier> slopes_;
};

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_BIAS_ALIBI_H_
