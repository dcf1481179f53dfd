// A real number known to within an error, and its rounding to an element type.
//
// An Enclosure says: the true value lies in ±[mantissa − error, mantissa + error] · 2^exponent.
// Rounding is done on integers, so it needs no care for subnormals, overflow or the rounding mode
// of the CPU. An error of 0 means that the value is exact, and only then can a tie occur, which
// goes to even. Values; pure functions, safe from any thread.

#ifndef POSENC_SERVER_ENCODINGS_EXACT_ENCLOSURE_H_
#define POSENC_SERVER_ENCODINGS_EXACT_ENCLOSURE_H_

#include <cstdint>
#include <optional>

#include "server/core/element_type.h"
#include "server/encodings/exact/real.h"

namespace posenc {

using Uint128 = unsigned __int128;

// Number of bits of x, 0 for 0.
inline int BitLength(Uint128 x) {
  const auto high = static_cast<uint64_t>(x >> 64);
  const auto low = static_cast<uint64_t>(x);
  if (high != 0) return 128 - __builtin_clzll(high);
  return low == 0 ? 0 : 64 - __builtin_clzll(low);
}

// The upper 128 bits of the 256-bit product.
inline Uint128 MultiplyHigh(Uint128 a, Uint128 b) {
  const auto a1 = static_cast<uint64_t>(a >> 64), a0 = static_cast<uint64_t>(a);
  const auto b1 = static_cast<uint64_t>(b >> 64), b0 = static_cast<uint64_t>(b);
  const Uint128 low = Uint128{a0} * b0;
  const Uint128 mid = Uint128{a1} * b0 + static_cast<uint64_t>(low >> 64);
  const Uint128 mid2 = Uint128{a0} * b1 + static_cast<uint64_t>(mid);
  return Uint128{a1} * b1 + static_cast<uint64_t>(mid >> 64) + static_cast<uint64_t>(mid2 >> 64);
}

struct Enclosure {
  bool negative = false;
  Uint128 mantissa = 0;  // below 2^127
  Uint128 error = 0;     // at most mantissa; equal to it when the value is unknown
  int64_t exponent = 0;

  static Enclosure Exactly(double value);
  // A value of which nothing is known: no rounding of it is decided.
  static Enclosure Unknown() { return {.mantissa = Uint128{1} << 126, .error = Uint128{1} << 126}; }

  Enclosure Negated() const {
    Enclosure result = *this;
    result.negative = !negative;
    return result;
  }
  // The same value with its mantissa in [2^126, 2^127). Requires: mantissa is not 0.
  Enclosure Normalized() const;
};

// Returns a · b; exact when both are exact and the product of the mantissas fits.
Enclosure Product(const Enclosure& a, const Enclosure& b);

// Returns the bits of the element that is nearest to the value, or nothing when the error leaves
// two candidates. A result of magnitude 0 keeps the sign of the value; an exact 0 is +0. Requires:
// `type` is F64, F32, F16 or BF16.
std::optional<uint64_t> RoundTo(ElementType type, const Enclosure& value);

// Returns an exact enclosure that rounds to every element type as `value` does (round to odd). An infinity stands
// for a number beyond Real's exponents. Requires: `value` is not NaN.
Enclosure RoundedToOdd(const Real& value);

// Splits the value into high + low, high the double nearest to the sum; |value − high − low| is at
// most 2^-104 · |value| + the error, plus 2^-1070 among subnormals.
struct DoubleDouble {
  double high = 0;
  double low = 0;
};
DoubleDouble ToDoubleDouble(const Enclosure& value);

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_EXACT_ENCLOSURE_H_
