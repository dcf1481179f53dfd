// Factors on queries, 1 + scale · ln(1 + ⌊(p + position_offset) / floor_len⌋): Llama 4's layers without
// rotation (Meta 2025), Ministral 3. Correctly rounded: double with a bound, then MPFR. Threads: immutable.

#ifndef POSENC_SERVER_ENCODINGS_QUERY_TEMPERATURE_H_
#define POSENC_SERVER_ENCODINGS_QUERY_TEMPERATURE_H_

#include "server/core/specs/query_temperature_spec.h"
#include "server/encodings/table_generator.h"

namespace posenc {

class QueryTemperatureGenerator final : public TableGenerator {
 public:
  // Requires: the spec is normalised.
  QueryTemperatureGenerator(const QueryTemperatureSpec& spec, ElementType type);

  const TableShape& shape() const override { return shape_; }
  const TableFacts& facts() const override { return facts_; }
  size_t footprint_bytes() const override { return sizeof(*this); }
  void Generate(int64_t first_row, int64_t row_count,
                std::span<std::byte* const> out) const override;
  void GenerateAt(std::span<const double> positions,
                  std::span<std::byte* const> out) const override;

 private:
  int64_t StepOf(int64_t position) const {
    return (position + spec_.position_offset) / spec_.floor_len;
  }
  uint64_t Cell(int64_t step) const;

  QueryTemperatureSpec spec_;
  ElementType type_;
  TableShape shape_;
  TableFacts facts_;
};

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_QUERY_TEMPERATURE_H_
