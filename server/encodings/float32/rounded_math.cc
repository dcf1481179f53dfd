#include "server/encodings/float32/rounded_math.h"

#include <bit>
#include <cmath>
#include <cstdint>

#include "server/encodings/exact/ziv.h"

namespace posenc {
namespace {

constexpr double kError = 0x1p-48;

// MPFR's functions are within half a unit of the precision asked for.
template <typename Function>
uint64_t RoundedBits(ElementType type, Function&& function) {
  return RoundByZiv(type, [&](int64_t bits, Real& value) {
    function(value.get());
    return mpfr_zero_p(value.get()) ? kExactly : mpfr_get_exp(value.get()) - bits;
  });
}

template <typename Function>
float Rounded(double approximation, Function&& function) {
  const auto low = static_cast<float>(approximation * (1 - kError));
  const auto high = static_cast<float>(approximation * (1 + kError));
  // Infinite and undefined values have no interval.
  if (!std::isfinite(approximation)) return low;
  if (std::bit_cast<uint32_t>(low) == std::bit_cast<uint32_t>(high)) return low;
  return std::bit_cast<float>(static_cast<uint32_t>(RoundedBits(ElementType::kF32, function)));
}

void Pow(mpfr_ptr value, double base, double exponent) {
  const Real b(53, base), e(53, exponent);
  mpfr_pow(value, b.get(), e.get(), MPFR_RNDN);
}

}  // namespace

float PowF32(double base, double exponent) {
  return Rounded(std::pow(base, exponent), [&](mpfr_ptr value) { Pow(value, base, exponent); });
}

float ExpF32(double x) {
  return Rounded(std::exp(x), [&](mpfr_ptr value) { mpfr_exp(value, Real(53, x).get(), MPFR_RNDN); });
}

float LogF32(double x) {
  return Rounded(std::log(x), [&](mpfr_ptr value) { mpfr_log(value, Real(53, x).get(), MPFR_RNDN); });
}

double PowF64(double base, double exponent) {
  return std::bit_cast<double>(
      RoundedBits(ElementType::kF64, [&](mpfr_ptr value) { Pow(value, base, exponent); }));
}

double LogF64(double x) {
  return std::bit_cast<double>(RoundedBits(
      ElementType::kF64, [&](mpfr_ptr value) { mpfr_log(value, Real(53, x).get(), MPFR_RNDN); }));
}

CosSinF32 CosSinOf(float angle) {
  const double x = angle;
  return {Rounded(std::cos(x), [&](mpfr_ptr value) { mpfr_cos(value, Real(53, x).get(), MPFR_RNDN); }),
          Rounded(std::sin(x), [&](mpfr_ptr value) { mpfr_sin(value, Real(53, x).get(), MPFR_RNDN); })};
}

}  // namespace posenc
