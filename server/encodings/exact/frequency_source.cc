#include "server/encodings/exact/frequency_source.h"

namespace posenc {

Real AsRadians(const FrequencySource& source, const Real& value) {
  Real result(value);
  if (source.in_turns()) {
    mpfr_mul(result.get(), result.get(), TwoPi(value.precision_bits()).get(), MPFR_RNDN);
  }
  return result;
}

Real AsTurns(const FrequencySource& source, const Real& value) {
  Real result(value);
  if (!source.in_turns()) {
    mpfr_div(result.get(), result.get(), TwoPi(value.precision_bits()).get(), MPFR_RNDN);
  }
  return result;
}

}  // namespace posenc
