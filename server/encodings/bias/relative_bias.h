// Biases [heads, queries, keys] that are functions of the distance (distance_rule.h), correctly rounded:
// in double or long double with a bound on the error, and with MPFR where the bound leaves a choice.
//
// A rule that knows the distance alone is evaluated once for each distance, head and call (toeplitz.h).
// Threads: immutable.

#ifndef POSENC_SERVER_ENCODINGS_BIAS_RELATIVE_BIAS_H_
#define POSENC_SERVER_ENCODINGS_BIAS_RELATIVE_BIAS_H_

#include <memory>

#include "server/core/specs/relative_bias_spec.h"
#include "server/encodings/bias/distance_rule.h"
#include "server/encodings/table_generator.h"

namespace posenc {

class RelativeBiasGenerator final : public TableGenerator {
 public:
  // Requires: the spec is normalised.
  RelativeBiasGenerator(const RelativeBiasSpec& spec, ElementType type);

  const TableShape& shape() const override { return shape_; }
  const TableFacts& facts() const override { return facts_; }
  size_t footprint_bytes() const override { return sizeof(*this) + rule_->footprint_bytes(); }
  void Generate(int64_t first_row, int64_t row_count,
                std::span<std::byte* const> out) const override;
  // Writes nothing: rows of a bias have no position.
  void GenerateAt(std::span<const double>, std::span<std::byte* const>) const override {}

 private:
  // The bits for a query and key − query = delta.
  uint64_t Cell(int64_t head, int64_t query, int64_t delta) const;
  void WriteRows(int64_t head, int64_t first_query, int64_t query_count, std::byte* out) const;

  const ElementType type_;
  const int64_t max_len_;
  const bool symmetric_;
  const uint64_t after_;  // bits for keys after the query, unless symmetric
  const std::unique_ptr<const DistanceRule> rule_;
  TableShape shape_;
  TableFacts facts_;
};

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_BIAS_RELATIVE_BIAS_H_
