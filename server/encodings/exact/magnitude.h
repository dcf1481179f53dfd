// The factor m on every cosine and sine of a table, as a real number.
//
// It is a double that somebody gave, or a number that no double is: YaRN's 0.1·ln(s) + 1, LongRoPE's
// square root. Cells are then m·cos and m·sin rounded once, so m is kept to 120 bits for enclosures, to
// 106 for the kernels, and can be had at any precision. A value; any method from any thread.

#ifndef POSENC_SERVER_ENCODINGS_EXACT_MAGNITUDE_H_
#define POSENC_SERVER_ENCODINGS_EXACT_MAGNITUDE_H_

#include <cstdint>
#include <functional>

#include "server/core/specs/rope_spec.h"
#include "server/encodings/exact/enclosure.h"
#include "server/encodings/exact/real.h"

namespace posenc {

class Magnitude {
 public:
  // Returns m with a relative error below 2^-(precision_bits).
  using Formula = std::function<Real(int64_t precision_bits)>;

  explicit Magnitude(double exact = 1.0);
  explicit Magnitude(Formula formula);

  bool exact() const { return enclosure_.error == 0; }
  bool is_one() const { return exact() && parts_.high == 1; }
  double high() const { return parts_.high; }  // the nearest double
  double low() const { return parts_.low; }    // high + low is m to 2^-103
  const Enclosure& enclosure() const { return enclosure_; }
  Real At(int64_t precision_bits) const;

 private:
  Formula formula_;  // empty for a double
  Enclosure enclosure_;
  DoubleDouble parts_;
};

// The m that a normalised rotary spec implies; core/specs/yarn_scaling.h has the formulas.
Magnitude RopeMagnitude(const RopeSpec& spec);

// The factor that the model must put on its scores: g(mscale_all_dim)² with YaRN, else 1.
double RopeSoftmaxScale(const RopeSpec& spec);

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_EXACT_MAGNITUDE_H_
