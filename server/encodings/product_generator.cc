#include "server/encodings/product_generator.h"

#include <optional>

#include "server/encodings/exact/quick_product.h"
#include "server/encodings/exact/ziv.h"

namespace posenc {
namespace {

// The period of a pair that does not rotate.
uint64_t Infinity(ElementType type) {
  switch (type) {
    case ElementType::kF64:
      return uint64_t{0x7FF} << 52;
    case ElementType::kF16:
      return 0x7C00;
    case ElementType::kBF16:
      return 0x7F80;
    default:
      return 0x7F800000;
  }
}

void Invert(Real& value) { mpfr_ui_div(value.get(), 1, value.get(), MPFR_RNDN); }

}  // namespace

ProductGenerator::ProductGenerator(const PhasorTable& table, bool inverted)
    : form_(table.form), source_(table.frequencies), inverted_(inverted), facts_(FactsOf(table)) {
  multipliers_.reserve(source_->count());
  source_->ForEach(Multiplier::kMultiplierBits + 16, [&](int64_t, const Real& frequency) {
    Real value = AsRadians(*source_, frequency);
    facts_.inverse_frequencies.push_back(mpfr_get_d(value.get(), MPFR_RNDN));
    if (inverted_ && !mpfr_zero_p(value.get())) Invert(value);
    multipliers_.emplace_back(value);
  });
}

size_t ProductGenerator::footprint_bytes() const {
  return sizeof(*this) + multipliers_.capacity() * sizeof(Multiplier) +
         facts_.inverse_frequencies.capacity() * sizeof(double) +
         2 * form_.axis_of_pair.capacity() * sizeof(int32_t);
}

uint64_t ProductGenerator::Cell(int64_t factor, int64_t k) const {
  const ElementType type = form_.element_type;
  if (const auto bits = QuickProduct(type, multipliers_[k], factor)) return *bits;
  if (inverted_ && facts_.inverse_frequencies[k] == 0) return Infinity(type);
  if (const auto bits = RoundTo(type, multipliers_[k].Times(factor))) return *bits;
  return RoundByZiv(type, [&](int64_t bits, Real& value) {
    Real w = AsRadians(*source_, source_->At(k, bits));
    if (inverted_) Invert(w);
    mpfr_mul_si(value.get(), w.get(), factor, MPFR_RNDN);
    return mpfr_get_exp(value.get()) - bits + 4;
  });
}

template <typename Factor>
void ProductGenerator::WriteRow(const Factor& factor, std::byte* row) const {
  const Segment& segment = form_.layout.segments.front();
  const size_t size = form_.element_bytes();
  const auto stride = static_cast<int64_t>(size) * segment.step();
  std::byte* const second = row + segment.cos[1].begin * static_cast<int64_t>(size);
  const bool twice = segment.copies == 2;
  for (int64_t k = 0; k < segment.cosines; ++k) {
    const uint64_t bits = Cell(factor(k), k);
    StoreElement(row + k * stride, bits, size);
    if (twice) StoreElement(second + k * stride, bits, size);
  }
}

void ProductGenerator::Generate(int64_t first_row, int64_t row_count,
                                std::span<std::byte* const> out) const {
  const bool single = form_.shape.row_kind == RowKind::kSingle;
  for (int64_t row = 0; row < row_count; ++row) {
    const int64_t factor = single ? 1 : PositionOfRow(form_.shape, first_row + row);
    WriteRow([=](int64_t) { return factor; }, out[0] + row * form_.row_bytes());
  }
}

void ProductGenerator::GenerateAt(std::span<const double> positions,
                                  std::span<std::byte* const> out) const {
  const int64_t axes = form_.shape.position_axes;
  for (size_t at = 0, row = 0; at < positions.size(); at += axes, ++row) {
    const auto factor = [&](int64_t k) { return static_cast<int64_t>(positions[at + form_.AxisOf(k)]); };
    WriteRow(factor, out[0] + static_cast<int64_t>(row) * form_.row_bytes());
  }
}

}  // namespace posenc
