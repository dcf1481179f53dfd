// An exact coordinate of a position: a whole number, a double, or a quotient of such numbers.
//
// Cells of grids stand at (2j + 1 − N) / N and the like, which no format holds; numerator and
// denominator are exact, and the quotient can be had at any precision. A value.

#ifndef POSENC_SERVER_ENCODINGS_EXACT_COORDINATE_H_
#define POSENC_SERVER_ENCODINGS_EXACT_COORDINATE_H_

#include <cstdint>
#include <utility>

#include "server/encodings/exact/real.h"

namespace posenc {

class Coordinate {
 public:
  // Bits that numerators and denominators are exact in.
  static constexpr int64_t kBits = 320;

  explicit Coordinate(double value) : numerator_(kBits, value), denominator_(2, 1.0) {}
  explicit Coordinate(int64_t value) : Coordinate(0.0) { mpfr_set_si(numerator_.get(), value, MPFR_RNDN); }
  Coordinate(Real numerator, Real denominator)
      : numerator_(std::move(numerator)), denominator_(std::move(denominator)) {}

  bool is_zero() const { return mpfr_zero_p(numerator_.get()) != 0; }

  // Returns the coordinate times x, rounded to the precision of x; exact where it fits there.
  Real Times(const Real& x) const {
    Real result(x.precision_bits() + kBits);
    mpfr_mul(result.get(), x.get(), numerator_.get(), MPFR_RNDN);
    Real quotient(x.precision_bits());
    mpfr_div(quotient.get(), result.get(), denominator_.get(), MPFR_RNDN);
    return quotient;
  }

 private:
  Real numerator_;
  Real denominator_;
};

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_EXACT_COORDINATE_H_
