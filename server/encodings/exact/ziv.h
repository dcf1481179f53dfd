// The last resort of correct rounding: compute again with more bits until the rounding is decided
// (Ziv 1991), in MPFR.
//
// sin and cos of a nonzero algebraic angle are transcendental (Lindemann), so they are never a tie
// and the loop ends. A product can be one; a value that still sits on a boundary at kZivLimitBits
// is taken to be on it, and goes to even. A function whose value is beyond MPFR's exponents (real.h) leaves an
// infinity, which is final, or 0 with kExactly. Threads: any.

#ifndef POSENC_SERVER_ENCODINGS_EXACT_ZIV_H_
#define POSENC_SERVER_ENCODINGS_EXACT_ZIV_H_

#include <cstdint>
#include <functional>

#include "server/core/element_type.h"
#include "server/encodings/exact/real.h"

namespace posenc {

inline constexpr int64_t kZivFirstBits = 512;
inline constexpr int64_t kZivLimitBits = 8192;

// Computes a value in real arithmetic with about `precision_bits`, into `value`; returns e such
// that the absolute error is below 2^e, or kExactly.
inline constexpr int64_t kExactly = INT64_MIN;
using RealFunction = std::function<int64_t(int64_t precision_bits, Real& value)>;

// Returns the bits of the element nearest to the value of `function`, ties to even.
uint64_t RoundByZiv(ElementType type, const RealFunction& function, int64_t first_bits = kZivFirstBits);

// How many values have been rounded by RoundByZiv in this process, for tests.
int64_t ZivCount();

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_EXACT_ZIV_H_
