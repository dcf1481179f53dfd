#include "server/encodings/query_temperature.h"

#include <cmath>

#include "server/encodings/exact/approximation.h"
#include "server/encodings/row_layout.h"

namespace posenc {
namespace {

TableShape ShapeOf(const QueryTemperatureSpec& spec, ElementType type) {
  return {.row_dims = {spec.max_len},
          .tensors = {{"scale", type, {1}}},
          .row_kind = RowKind::kPositions,
          .first_position = spec.first_position,
          .positions_begin = 0,
          .positions_end = spec.first_position + spec.max_len};
}

}  // namespace

QueryTemperatureGenerator::QueryTemperatureGenerator(const QueryTemperatureSpec& spec, ElementType type)
    : spec_(spec), type_(type), shape_(ShapeOf(spec, type)) {
  facts_.error_bound = "correctly rounded (0.5 ulp)";
}

// ln of a whole number over 1 is transcendental: no value but those of step 0 sits on a boundary.
uint64_t QueryTemperatureGenerator::Cell(int64_t step) const {
  if (step == 0 || spec_.scale == 0) return NearestElement(type_, 1.0);
  const auto approximate = [&]<typename Float>(Float) {
    const Float scale = spec_.scale == 0.1 ? Float{1} / 10 : Float{spec_.scale};
    const Float value = 1 + scale * std::log1p(static_cast<Float>(step));
    return Approximation<Float>{value, value * kLibraryError<Float>};
  };
  return RoundCell(type_, approximate, [&](int64_t bits, Real& value) {
    mpfr_set_sj(value.get(), step, MPFR_RNDN);
    mpfr_log1p(value.get(), value.get(), MPFR_RNDN);
    if (spec_.scale == 0.1) {
      mpfr_div_ui(value.get(), value.get(), 10, MPFR_RNDN);
    } else {
      mpfr_mul_d(value.get(), value.get(), spec_.scale, MPFR_RNDN);
    }
    mpfr_add_ui(value.get(), value.get(), 1, MPFR_RNDN);
    return mpfr_get_exp(value.get()) - bits + 3;
  });
}

void QueryTemperatureGenerator::Generate(int64_t first_row, int64_t row_count,
                                         std::span<std::byte* const> out) const {
  const size_t size = ElementSizeBytes(type_);
  int64_t step = -1;
  uint64_t bits = 0;
  for (int64_t row = 0; row < row_count; ++row) {
    const int64_t next = StepOf(spec_.first_position + first_row + row);
    if (next != step) bits = Cell(step = next);
    StoreElement(out[0] + row * size, bits, size);
  }
}

void QueryTemperatureGenerator::GenerateAt(std::span<const double> positions,
                                           std::span<std::byte* const> out) const {
  const size_t size = ElementSizeBytes(type_);
  for (size_t row = 0; row < positions.size(); ++row) {
    StoreElement(out[0] + row * size, Cell(StepOf(static_cast<int64_t>(positions[row]))), size);
  }
}

}  // namespace posenc
