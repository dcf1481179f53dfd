#include "server/encodings/phasors/product_generator.h"

#include <optional>

#include "server/encodings/exact/quick_product.h"
#include "server/encodings/exact/ziv.h"
#include "server/encodings/float32/float32_elements.h"
#include "server/encodings/kernels/products.h"

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
    high_.push_back(multipliers_.back().high());
    low_.push_back(multipliers_.back().low());
  });
  high_.resize(high_.size() + kPairPadding);
  low_.resize(low_.size() + kPairPadding);
}

struct ProductGenerator::Scratch {
  explicit Scratch(const PhasorForm& form)
      : elements(form.layout.segments.front().cosines * form.element_bytes()),
        undecided(form.layout.segments.front().cosines) {}
  std::vector<std::byte> elements;
  std::vector<uint32_t> undecided;
};

size_t ProductGenerator::footprint_bytes() const {
  return sizeof(*this) + multipliers_.capacity() * sizeof(Multiplier) +
         (facts_.inverse_frequencies.capacity() + high_.capacity() + low_.capacity()) * sizeof(double) +
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

void ProductGenerator::WriteRowAt(int64_t position, std::byte* row, Scratch& scratch) const {
  const Segment& segment = form_.layout.segments.front();
  const size_t size = form_.element_bytes();
  const bool direct = segment.step() == 1 && segment.copies == 1;
  std::byte* const to = direct ? row : scratch.elements.data();
  const size_t listed = WriteProducts(form_.element_type, {.first = static_cast<double>(position),
                                                           .high = high_.data(),
                                                           .low = low_.data(),
                                                           .count = segment.cosines,
                                                           .to = to,
                                                           .undecided = scratch.undecided.data()});
  for (size_t i = 0; i < listed; ++i) {
    const uint32_t k = scratch.undecided[i];
    StoreElement(to + k * size, Cell(position, k), size);
  }
  for (int copy = 0; copy < segment.copies && !direct; ++copy) {
    CopyElements(to, segment.cosines, size, segment.step(),
                 row + segment.cos[copy].begin * static_cast<int64_t>(size));
  }
}

void ProductGenerator::Generate(int64_t first_row, int64_t row_count,
                                std::span<std::byte* const> out) const {
  if (form_.shape.row_kind == RowKind::kSingle) {
    for (int64_t row = 0; row < row_count; ++row) {
      WriteRow([](int64_t) { return 1; }, out[0] + row * form_.row_bytes());
    }
    return;
  }
  Scratch scratch(form_);
  for (int64_t row = 0; row < row_count; ++row) {
    WriteRowAt(PositionOfRow(form_.shape, first_row + row), out[0] + row * form_.row_bytes(), scratch);
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
