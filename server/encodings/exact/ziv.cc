#include "server/encodings/exact/ziv.h"

#include <atomic>

#include "server/encodings/exact/enclosure.h"

namespace posenc {
namespace {

std::atomic<int64_t> ziv_count{0};

// The bits of value + sign · 2^error_exponent.
uint64_t RoundShifted(ElementType type, const Real& value, int sign, int64_t error_exponent) {
  Real shifted(value.precision_bits() + 64), error(64, sign);
  mpfr_mul_2si(error.get(), error.get(), error_exponent, MPFR_RNDN);
  mpfr_add(shifted.get(), value.get(), error.get(), MPFR_RNDN);
  return *RoundTo(type, RoundedToOdd(shifted));
}

}  // namespace

uint64_t RoundByZiv(ElementType type, const RealFunction& function, int64_t first_bits) {
  ziv_count.fetch_add(1, std::memory_order_relaxed);
  for (int64_t bits = first_bits;; bits *= 2) {
    Real value(bits);
    const int64_t error_exponent = function(bits, value);
    if (error_exponent == kExactly || mpfr_inf_p(value.get())) return *RoundTo(type, RoundedToOdd(value));
    const uint64_t low = RoundShifted(type, value, -1, error_exponent);
    const uint64_t high = RoundShifted(type, value, 1, error_exponent);
    if (low == high) return low;
    if (bits >= kZivLimitBits) {
      mpfr_prec_round(value.get(), bits / 2, MPFR_RNDN);
      return *RoundTo(type, RoundedToOdd(value));
    }
  }
}

int64_t ZivCount() { return ziv_count.load(std::memory_order_relaxed); }

}  // namespace posenc
