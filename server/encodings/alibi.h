// The ALiBi family (Press et al. 2022): slopes, and the bias [heads, queries, keys].
//
// Slope of head h is 2^-x with x rational, held to 126 bits, or exactly where it is a double. A
// bias cell is −slope · distance, rounded once. The cells of one head depend on the distance alone,
// so a call computes each distance of a head once and copies shifted runs of it into the rows.
// Threads: immutable.

#ifndef POSENC_SERVER_ENCODINGS_ALIBI_H_
#define POSENC_SERVER_ENCODINGS_ALIBI_H_

#include <cstdint>
#include <vector>

#include "server/core/alibi_spec.h"
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
  // Rows of one head, from query `first_query` on.
  void WriteHead(int64_t head, int64_t first_query, int64_t query_count, std::byte* out) const;
  // The elements −slope · distance, begin ≤ distance < end, counted down when `falling`.
  std::vector<std::byte> Distances(int64_t head, int64_t begin, int64_t end, bool falling) const;
  uint64_t Cell(int64_t head, int64_t factor) const;
  Real SlopeAt(int64_t head, int64_t precision_bits) const;

  AlibiSpec spec_;
  ElementType type_;
  TableShape shape_;
  TableFacts facts_;
  std::vector<Multiplier> slopes_;
};

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_ALIBI_H_
