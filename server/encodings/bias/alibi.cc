#include "server/encodings/bias/alibi.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "server/encodings/bias/toeplitz.h"
#include "server/encodings/exact/quick_product.h"
#include "server/encodings/exact/ziv.h"
#include "server/encodings/kernels/products.h"
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
  switch (spec.form) {
    case AlibiForm::kSlopes:
      return {.row_dims = {1}, .tensors = {{"slopes", type, {spec.heads}}}, .row_kind = RowKind::kSingle};
    case AlibiForm::kRow:
    case AlibiForm::kKeyIndex:
      return {.row_dims = {spec.heads},
              .tensors = {{"bias", type, {spec.max_len}}},
              .row_kind = RowKind::kHeads};
    case AlibiForm::kCausal:
    case AlibiForm::kSymmetric:
      break;
  }
  return {.row_dims = {spec.heads, spec.max_len},
          .tensors = {{"bias", type, {spec.max_len}}},
          .row_kind = RowKind::kHeadQueries};
}

// Whether the products of an exact constant with whole numbers up to `most` are floats: their bits are few
// enough, and their exponents far from the ends.
bool HasFloatProducts(double constant, int64_t most) {
  const uint64_t fraction = std::bit_cast<uint64_t>(constant) | uint64_t{1} << 52;
  const int bits = 53 - std::countr_zero(fraction);
  return bits + std::bit_width(static_cast<uint64_t>(most)) <= 24 && constant > 0x1p-120 && constant < 0x1p90;
}

// Writes one element `count` times.
void Repeat(uint64_t bits, int64_t size, int64_t count, std::byte* to) {
  if (count == 0) return;
  StoreElement(to, bits, size);
  const int64_t bytes = count * size;
  for (int64_t done = size; done < bytes; done *= 2) std::memcpy(to + done, to, std::min(done, bytes - done));
}

}  // namespace

AlibiGenerator::AlibiGenerator(const AlibiSpec& spec, ElementType type)
    : spec_(spec), type_(type), shape_(ShapeOf(spec, type)) {
  slopes_.reserve(spec.heads);
  for (int64_t head = 0; head < spec.heads; ++head) {
    Real slope(Multiplier::kMultiplierBits + 16);
    Product(head, 1, slope);
    slopes_.emplace_back(slope);
    facts_.slopes.push_back(mpfr_get_d(slope.get(), MPFR_RNDN));
  }
  facts_.error_bound = "correctly rounded (0.5 ulp)";
}

size_t AlibiGenerator::footprint_bytes() const {
  return sizeof(*this) + slopes_.capacity() * sizeof(Multiplier) +
         facts_.slopes.capacity() * sizeof(double);
}

bool AlibiGenerator::Product(int64_t head, int64_t factor, Real& value) const {
  const auto [numerator, denominator] = ExponentOf(spec_, head);
  Real x(value.precision_bits() + 32, spec_.bias_max);
  bool exact = mpfr_mul_si(x.get(), x.get(), -numerator, MPFR_RNDN) == 0;
  exact &= mpfr_div_si(x.get(), x.get(), denominator, MPFR_RNDN) == 0;
  exact &= mpfr_exp2(x.get(), x.get(), MPFR_RNDN) == 0;
  exact &= mpfr_mul_si(x.get(), x.get(), factor, MPFR_RNDN) == 0;
  exact &= mpfr_div_d(value.get(), x.get(), spec_.score_divisor, MPFR_RNDN) == 0;
  return exact;
}

uint64_t AlibiGenerator::Cell(int64_t head, int64_t factor) const {
  if (factor == 0) return 0;
  if (const auto bits = QuickProduct(type_, slopes_[head], factor)) return *bits;
  if (const auto bits = RoundTo(type_, slopes_[head].Times(factor))) return *bits;
  return RoundByZiv(type_, [&](int64_t bits, Real& value) -> int64_t {
    // A product may sit on a boundary although the slope itself has endless digits: 3 · (1/2) / 3.
    if (Product(head, factor, value)) return kExactly;
    return mpfr_get_exp(value.get()) - bits + 4;
  });
}

void AlibiGenerator::WriteSlopes(std::byte* out) const {
  const size_t size = ElementSizeBytes(type_);
  for (int64_t h = 0; h < spec_.heads; ++h) StoreElement(out + h * size, Cell(h, 1), size);
}

void AlibiGenerator::WriteRun(int64_t head, int64_t factor, int64_t step, int64_t count,
                              std::byte* out) const {
  constexpr int64_t kPiece = 1024;
  std::array<uint32_t, kPiece> undecided;
  const auto size = static_cast<int64_t>(ElementSizeBytes(type_));
  const Multiplier& slope = slopes_[head];
  const double high = slope.high(), low = slope.low();
  ProductArgs args{.step = static_cast<double>(step), .high = &high, .low = &low, .one_constant = true};
  args.exact = slope.exact() && HasFloatProducts(high, std::max(std::abs(factor), std::abs(factor + step * count)));
  args.undecided = undecided.data();
  for (int64_t done = 0; done < count; done += kPiece) {
    const int64_t first = factor + done * step;
    args.first = static_cast<double>(first);
    args.count = std::min(kPiece, count - done);
    args.to = out + done * size;
    const size_t listed = WriteProducts(type_, args);
    for (size_t i = 0; i < listed; ++i) {
      StoreElement(args.to + undecided[i] * size, Cell(head, first + undecided[i] * step), size);
    }
  }
}

void AlibiGenerator::WriteBand(int64_t head, int64_t delta, int64_t count, std::byte* out) const {
  const auto size = static_cast<int64_t>(ElementSizeBytes(type_));
  const int64_t before = std::clamp<int64_t>(1 - delta, 0, count);  // those up to 0
  WriteRun(head, delta, 1, before, out);
  std::byte* const rest = out + before * size;
  if (spec_.form == AlibiForm::kSymmetric) {
    WriteRun(head, -(delta + before), -1, count - before, rest);
  } else {
    Repeat(spec_.masked ? NegativeInfinity(type_) : 0, size, count - before, rest);
  }
}

void AlibiGenerator::WriteKeyRow(int64_t head, std::byte* out) const {
  WriteRun(head, spec_.form == AlibiForm::kRow ? 1 - spec_.max_len : 0, 1, spec_.max_len, out);
}

void AlibiGenerator::Generate(int64_t first_row, int64_t row_count,
                              std::span<std::byte* const> out) const {
  if (shape_.row_kind == RowKind::kSingle) {
    if (row_count > 0) WriteSlopes(out[0]);
    return;
  }
  if (shape_.row_kind == RowKind::kHeads) {
    for (int64_t row = 0; row < row_count; ++row) {
      WriteKeyRow(first_row + row, out[0] + row * shape_.row_bytes());
    }
    return;
  }
  ForEachHead(spec_.max_len, first_row, row_count, shape_.row_bytes(), out[0],
              [&](int64_t head, int64_t query, int64_t count, std::byte* to) {
                WriteFromBand(spec_.max_len, query, count, type_, to,
                              [&](std::byte* band, int64_t delta, int64_t deltas) {
                                WriteBand(head, delta, deltas, band);
                              });
              });
}

}  // namespace posenc
