#include "server/encodings/product_generator.h"

#include <cstring>
#include <optional>

#include "server/encodings/exact/quick_product.h"
#include "server/encodings/exact/ziv.h"
#include "server/encodings/row_layout.h"

namespace posenc {
namespace {

void Invert(Real& value) { mpfr_ui_div(value.get(), 1, value.get(), MPFR_RNDN); }

}  // namespace

ProductGenerator::ProductGenerator(const ProductTable& table)
    : rule_(table.rule),
      inverted_(table.inverted),
      type_(table.element_type),
      form_(table.form),
      shape_(table.shape) {
  multipliers_.reserve(rule_.count);
  rule_.ForEach(Multiplier::kMultiplierBits + 16, [&](int64_t, const Real& w) {
    facts_.inverse_frequencies.push_back(mpfr_get_d(w.get(), MPFR_RNDN));
    Real value = w;
    if (inverted_) Invert(value);
    multipliers_.emplace_back(value);
  });
  facts_.error_bound = "correctly rounded (0.5 ulp)";
}

size_t ProductGenerator::footprint_bytes() const {
  return sizeof(*this) + multipliers_.capacity() * sizeof(Multiplier) +
         facts_.inverse_frequencies.capacity() * sizeof(double);
}

uint64_t ProductGenerator::Cell(int64_t factor, int64_t k) const {
  if (const auto bits = QuickProduct(type_, multipliers_[k], factor)) return *bits;
  if (const auto bits = RoundTo(type_, multipliers_[k].Times(factor))) return *bits;
  return RoundByZiv(type_, [&](int64_t bits, Real& value) {
    Real w = rule_.At(k, bits);
    if (inverted_) Invert(w);
    mpfr_mul_si(value.get(), w.get(), factor, MPFR_RNDN);
    return mpfr_get_exp(value.get()) - bits + 4;
  });
}

void ProductGenerator::WriteRow(int64_t factor, std::byte* row) const {
  const auto size = static_cast<int64_t>(ElementSizeBytes(type_));
  const auto n = static_cast<int64_t>(multipliers_.size());
  const int64_t step = form_ == ProductForm::kRepeated ? 2 : 1;
  for (int64_t k = 0; k < n; ++k) {
    const uint64_t bits = Cell(factor, k);
    StoreElement(row + k * step * size, bits, size);
    if (step == 2) StoreElement(row + (k * step + 1) * size, bits, size);
  }
  if (form_ == ProductForm::kDuplicated) std::memcpy(row + n * size, row, n * size);
}

void ProductGenerator::Generate(int64_t first_row, int64_t row_count,
                                std::span<std::byte* const> out) const {
  const bool single = shape_.row_kind == RowKind::kSingle;
  for (int64_t row = 0; row < row_count; ++row) {
    const int64_t factor = single ? 1 : shape_.first_position + first_row + row;
    WriteRow(factor, out[0] + row * shape_.row_bytes());
  }
}

void ProductGenerator::GenerateAt(std::span<const int64_t> positions,
                                  std::span<std::byte* const> out) const {
  for (size_t row = 0; row < positions.size(); ++row) {
    WriteRow(positions[row], out[0] + static_cast<int64_t>(row) * shape_.row_bytes());
  }
}

}  // namespace posenc
