#include "server/encodings/learned/resized_grid.h"

#include <cmath>

#include "server/encodings/exact/approximation.h"
#include "server/encodings/exact/stored_value.h"
#include "server/encodings/row_layout.h"

namespace posenc {
namespace {

// Holds a sum of sixteen doubles of any size times whole numbers below 2^112, and a factor, without a
// rounding.
constexpr int64_t kExactBits = 2500;

}  // namespace

ResizedGrid::ResizedGrid(const GridResize& resize, double row_scale, const StoredTensor& tensor)
    : resize_(resize),
      row_scale_(row_scale),
      tensor_(tensor),
      y_(MakeResizeAxis(resize.source_height, resize.height)),
      x_(MakeResizeAxis(resize.source_width, resize.width)) {}

size_t ResizedGrid::footprint_bytes() const {
  return sizeof(*this) + (y_.taps.capacity() + x_.taps.capacity()) * sizeof(ResizeTaps);
}

double ResizedGrid::Load(int64_t y, int64_t x, int64_t column) const {
  const int64_t row = resize_.leading_rows + y * resize_.source_width + x;
  const int64_t index = row * tensor_.shape[1] + column;
  const auto size = static_cast<int64_t>(ElementSizeBytes(tensor_.element_type));
  return LoadStored(tensor_.element_type, tensor_.data.data() + index * size);
}

void ResizedGrid::WriteRow(int64_t row, ElementType type, std::byte* out) const {
  const ResizeTaps& y = y_.taps[row / resize_.width];
  const ResizeTaps& x = x_.taps[row % resize_.width];
  const size_t size = ElementSizeBytes(type);
  for (int64_t column = 0; column < tensor_.shape[1]; ++column) {
    StoreElement(out + column * size, Cell(y, x, column, type), size);
  }
}

uint64_t ResizedGrid::Cell(const ResizeTaps& y, const ResizeTaps& x, int64_t column, ElementType type) const {
  double sum = 0, size = 0;
  bool finite = true;
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      const double value = Load(y.index[i], x.index[j], column);
      const double term = y.rounded[i] * x.rounded[j] * value;
      finite &= std::isfinite(value);
      sum += term;
      size += std::fabs(term);
    }
  }
  if (!finite) return std::isnan(sum) ? QuietNan(type, false) : ScaledElement(type, sum, 1.0);
  // A term is off by less than 2^-49 of itself, and the sum by fifteen roundings of at most its size.
  const Approximation<double> quick{sum * row_scale_, size * row_scale_ * 0x1p-47};
  if (const auto bits = RoundApproximation(type, quick)) return *bits;
  const auto compute = [&](int64_t bits, Real& value) { return Compute(y, x, column, bits, value); };
  return RoundByZiv(type, compute, kFirstBits);
}

int64_t ResizedGrid::Compute(const ResizeTaps& y, const ResizeTaps& x, int64_t column, int64_t bits,
                             Real& value) const {
  Real sum(kExactBits), term(kExactBits);
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      mpfr_set_d(term.get(), Load(y.index[i], x.index[j], column), MPFR_RNDN);
      mpfr_mul_si(term.get(), term.get(), y.weight[i], MPFR_RNDN);
      mpfr_mul_si(term.get(), term.get(), x.weight[j], MPFR_RNDN);
      mpfr_add(sum.get(), sum.get(), term.get(), MPFR_RNDN);
    }
  }
  mpfr_mul_d(sum.get(), sum.get(), row_scale_, MPFR_RNDN);
  // One division, which tells whether it was exact: nothing else sits on a boundary.
  Real denominator(kExactBits, static_cast<double>(1));
  mpfr_mul_si(denominator.get(), denominator.get(), y_.denominator, MPFR_RNDN);
  mpfr_mul_si(denominator.get(), denominator.get(), x_.denominator, MPFR_RNDN);
  const bool exact = mpfr_div(value.get(), sum.get(), denominator.get(), MPFR_RNDN) == 0;
  return exact ? kExactly : mpfr_get_exp(value.get()) - bits;
}

}  // namespace posenc
