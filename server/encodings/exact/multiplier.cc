#include "server/encodings/exact/multiplier.h"

namespace posenc {

Multiplier::Multiplier(const Real& value) {
  Real rounded(53), good(value);
  mpfr_prec_round(good.get(), kMultiplierBits, MPFR_RNDN);
  mpfr_set(rounded.get(), good.get(), MPFR_RNDN);
  value_ = RoundedToOdd(mpfr_equal_p(rounded.get(), good.get()) ? rounded : value);
  if (!mpfr_equal_p(rounded.get(), good.get())) {
    value_ = value_.Normalized();
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
