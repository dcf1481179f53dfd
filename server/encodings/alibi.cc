#include "server/encodings/alibi.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "server/encodings/exact/quick_product.h"
#include "server/encodings/exact/ziv.h"
#include "server/encodings/row_layout.h"

namespace posenc {
namespace {

// Exponent of head h over `bias_max`, as a fraction: slope = 2^-(bias_max · numerator /
// denominator). Paper: with P the largest power of two in `heads`, (h + 1) / P, then (2(h − P) + 1)
// / 2P.
std::pair<int64_t, int64_t> ExponentOf(const AlibiSpec& spec, int64_t head) {
  if (spec.slope_rule == AlibiSlopeRule::kGeometric) return {head + 1, spec.heads};
  const auto power = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(spec.heads)));
  if (head < power) return {head + 1, power};
  return {2 * (head - power) + 1, 2 * power};
}

TableShape ShapeOf(const AlibiSpec& spec, ElementType type) {
  if (spec.form == AlibiForm::kSlopes) {
    return {
        .row_dims = {1}, .tensors = {{"slopes", type, {spec.heads}}}, .row_kind = RowKind::kSingle};
  }
  return {.row_dims = {spec.heads, spec.max_len},
          .tensors = {{"bias", type, {spec.max_len}}},
          .row_kind = RowKind::kHeadQueries};
}

uint64_t NegativeInfinity(ElementType type) {
  switch (type) {
    case ElementType::kF64:
      return 0xFFF0000000000000;
    case ElementType::kF32:
      return 0xFF800000;
    case ElementType::kF16:
      return 0xFC00;
    default:
      return 0xFF80;
  }
}

}  // namespace

AlibiGenerator::AlibiGenerator(const AlibiSpec& spec, ElementType type)
    : spec_(spec), type_(type), shape_(ShapeOf(spec, type)) {
  slopes_.reserve(spec.heads);
  for (int64_t head = 0; head < spec.heads; ++head) {
    const Real slope = SlopeAt(head, Multiplier::kMultiplierBits + 16);
    slopes_.emplace_back(slope);
    facts_.slopes.push_back(mpfr_get_d(slope.get(), MPFR_RNDN));
  }
  facts_.error_bound = "correctly rounded (0.5 ulp)";
}

size_t AlibiGenerator::footprint_bytes() const {
  return sizeof(*this) + slopes_.capacity() * sizeof(Multiplier) +
         facts_.slopes.capacity() * sizeof(double);
}

Real AlibiGenerator::SlopeAt(int64_t head, int64_t precision_bits) const {
  const auto [numerator, denominator] = ExponentOf(spec_, head);
  Real x(precision_bits + 32, spec_.bias_max);
  mpfr_mul_si(x.get(), x.get(), -numerator, MPFR_RNDN);
  mpfr_div_si(x.get(), x.get(), denominator, MPFR_RNDN);
  mpfr_exp2(x.get(), x.get(), MPFR_RNDN);
  return x;
}

uint64_t AlibiGenerator::Cell(int64_t head, int64_t factor) const {
  if (factor == 0) return 0;
  if (const auto bits = QuickProduct(type_, slopes_[head], factor)) return *bits;
  if (const auto bits = RoundTo(type_, slopes_[head].Times(factor))) return *bits;
  return RoundByZiv(type_, [&](int64_t bits, Real& value) {
    mpfr_mul_si(value.get(), SlopeAt(head, bits).get(), factor, MPFR_RNDN);
    return mpfr_get_exp(value.get()) - bits + 4;
  });
}

std::vector<std::byte> AlibiGenerator::Distances(int64_t head, int64_t begin, int64_t end,
                                                 bool falling) const {
  const size_t size = ElementSizeBytes(type_);
  std::vector<std::byte> cells((end - begin) * size);
  for (int64_t distance = begin; distance < end; ++distance) {
    const int64_t index = falling ? end - 1 - distance : distance - begin;
    StoreElement(cells.data() + index * size, Cell(head, -distance), size);
  }
  return cells;
}

void AlibiGenerator::Generate(int64_t first_row, int64_t row_count,
                              std::span<std::byte* const> out) const {
  if (spec_.form == AlibiForm::kSlopes) {
    const size_t size = ElementSizeBytes(type_);
    for (int64_t h = 0; h < spec_.heads && row_count > 0; ++h) {
      StoreElement(out[0] + h * size, Cell(h, 1), size);
    }
    return;
  }
  std::byte* to = out[0];
  for (int64_t row = first_row; row < first_row + row_count;) {
    const int64_t head = row / spec_.max_len, query = row % spec_.max_len;
    const int64_t count = std::min(spec_.max_len - query, first_row + row_count - row);
    WriteHead(head, query, count, to);
    to += count * shape_.row_bytes();
    row += count;
  }
}

void AlibiGenerator::WriteHead(int64_t head, int64_t first_query, int64_t query_count,
                               std::byte* out) const {
  const auto size = static_cast<int64_t>(ElementSizeBytes(type_));
  const int64_t last_query = first_query + query_count - 1;
  // Keys up to the query: distances query … 0. Keys after it: 1 …, or a constant.
  const std::vector<std::byte> before = Distances(head, 0, last_query + 1, true);
  const int64_t keys_after = spec_.max_len - 1 - first_query;
  std::vector<std::byte> after;
  if (spec_.form == AlibiForm::kSymmetric) {
    after = Distances(head, 1, keys_after + 1, false);
  } else {
    after.resize(keys_after * size);
    const uint64_t fill = spec_.masked ? NegativeInfinity(type_) : 0;
    for (int64_t i = 0; i < keys_after; ++i) StoreElement(after.data() + i * size, fill, size);
  }
  for (int64_t query = first_query; query <= last_query; ++query, out += spec_.max_len * size) {
    std::memcpy(out, before.data() + (last_query - query) * size, (query + 1) * size);
    if (query + 1 == spec_.max_len) continue;
    std::memcpy(out + (query + 1) * size, after.data(), (spec_.max_len - 1 - query) * size);
  }
}

}  // namespace posenc
