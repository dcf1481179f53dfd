// A real constant that integers are multiplied by: a frequency (angle = position · w) or a slope.
//
// Holds the constant to 126 bits, or exactly where it is a double. Products with integers up to
// 2^54 are then rounded by RoundTo; the few that stay undecided are the caller's to redo with
// RoundByZiv. A value; safe from any thread.

#ifndef POSENC_SERVER_ENCODINGS_EXACT_MULTIPLIER_H_
#define POSENC_SERVER_ENCODINGS_EXACT_MULTIPLIER_H_

#include <cstdint>

#include "server/encodings/exact/enclosure.h"
#include "server/encodings/exact/real.h"

namespace posenc {

class Multiplier {
 public:
  Multiplier() = default;

  // Takes a value with at least kMultiplierBits good bits. One that agrees with a double in all of
  // them is taken to be that double.
  static constexpr int64_t kMultiplierBits = 256;
  explicit Multiplier(const Real& value);

  // value ≈ high() + low(); relative error below 2^-103, none if exact().
  double high() const { return parts_.high; }
  double low() const { return parts_.low; }
  bool exact() const { return value_.error == 0; }

  // Returns factor · value.
  Enclosure Times(int64_t factor) const;

 private:
  Enclosure value_;
  DoubleDouble parts_;
};

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_EXACT_MULTIPLIER_H_
