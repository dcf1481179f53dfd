#include "server/encodings/exact/multiplier.h"

namespace posenc {

Multiplier::Multiplier(const Real& value) {
  Real good(value);
  mpfr_prec_round(good.get(), kMultiplierBits, MPFR_RNDN);
  const double rounded = mpfr_get_d(good.get(), MPFR_RNDN);
  if (mpfr_cmp_d(good.get(), rounded) == 0) {
    value_ = Enclosure::Exactly(rounded);
  } else {
    value_ = RoundedToOdd(value).Normalized();
    value_.error = Uint128{1} << 8;  // RoundedToOdd keeps 120 of the 127 bits
  }
  parts_ = ToDoubleDouble(value_);
}

Enclosure Multiplier::Times(int64_t factor) const {
  const bool negative = factor < 0;
  const auto magnitude = static_cast<uint64_t>(negative ? -factor : factor);
  return Product(value_, Enclosure{.negative = negative, .mantissa = magnitude});
}

}  // namespace posenc
