#include "server/encodings/bias/relative_bias.h"

#include <cstdlib>
#include <type_traits>

#include "server/encodings/bias/toeplitz.h"

namespace posenc {

RelativeBiasGenerator::RelativeBiasGenerator(const RelativeBiasSpec& spec, ElementType type)
    : type_(type),
      max_len_(spec.max_len),
      symmetric_(spec.form == BiasForm::kSymmetric),
      after_(spec.masked ? NegativeInfinity(type) : 0),
      rule_(MakeDistanceRule(spec)),
      shape_{.row_dims = {spec.heads, spec.max_len},
             .tensors = {{"bias", type, {spec.max_len}}},
             .row_kind = RowKind::kHeadQueries} {
  facts_.error_bound = "correctly rounded (0.5 ulp)";
}

uint64_t RelativeBiasGenerator::Cell(int64_t head, int64_t query, int64_t delta) const {
  if (delta > 0 && !symmetric_) return after_;
  const BiasCell cell{.head = head, .query = query, .distance = std::abs(delta)};
  const auto approximate = [&]<typename Float>(Float) {
    if constexpr (std::is_same_v<Float, double>) {
      return rule_->Approximate(cell);
    } else {
      return rule_->ApproximateFinely(cell);
    }
  };
  return RoundCell(type_, approximate, [&](int64_t bits, Real& value) {
    return rule_->Compute(cell, bits, value);
  });
}

void RelativeBiasGenerator::WriteRows(int64_t head, int64_t first_query, int64_t query_count,
                                      std::byte* out) const {
  if (!rule_->depends_on_query()) {
    WriteToeplitz(max_len_, first_query, query_count, type_, out,
                  [&](int64_t delta) { return Cell(head, first_query, delta); });
    return;
  }
  const size_t size = ElementSizeBytes(type_);
  for (int64_t query = first_query; query < first_query + query_count; ++query) {
    for (int64_t key = 0; key < max_len_; ++key, out += size) {
      StoreElement(out, Cell(head, query, key - query), size);
    }
  }
}

void RelativeBiasGenerator::Generate(int64_t first_row, int64_t row_count,
                                     std::span<std::byte* const> out) const {
  ForEachHead(max_len_, first_row, row_count, shape_.row_bytes(), out[0],
              [&](int64_t head, int64_t query, int64_t count, std::byte* to) {
                WriteRows(head, query, count, to);
              });
}

}  // namespace posenc
