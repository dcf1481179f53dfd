// A value in double with a bound on its error, and its rounding to an element type where the bound leaves
// no choice; RoundByZiv decides the rest. Inlined pure functions, safe from any thread.

#ifndef POSENC_SERVER_ENCODINGS_EXACT_APPROXIMATION_H_
#define POSENC_SERVER_ENCODINGS_EXACT_APPROXIMATION_H_

#include <cmath>
#include <cstdint>
#include <optional>

#include "server/core/element_type.h"
#include "server/encodings/exact/quick_product.h"
#include "server/encodings/exact/ziv.h"

namespace posenc {

// |value − truth| ≤ error.
struct Approximation {
  double value = 0;
  double error = 0;
};

// glibc's exp, log, log1p, pow, sin and cos are within 1 ulp by its manual; this is eight times that, and
// room for two roundings around them.
inline constexpr double kLibraryError = 0x1p-49;

// Both ends of the interval are rounded outwards by a unit of 2^-52, and for F16 and BF16 by the float on
// the way. F64 is never decided: a double has no bits to spare.
inline std::optional<uint64_t> RoundApproximation(ElementType type, const Approximation& x) {
  if (type == ElementType::kF64) return std::nullopt;
  const double size = std::fabs(x.value) + x.error;
  if (!(std::fabs(x.value) > 0x1p-120) || !(size < 0x1p120)) return std::nullopt;
  const double error = x.error + size * (type == ElementType::kF32 ? 0x1p-52 : 0x1.02p-24);
  const uint64_t bits = NearestElement(type, x.value - error);
  if (bits != NearestElement(type, x.value + error)) return std::nullopt;
  return bits;
}

// Bits to begin with where double cannot tell: enough for F64.
inline constexpr int64_t kFirstBits = 128;

inline uint64_t RoundApproximationOr(ElementType type, const Approximation& x, const RealFunction& function) {
  if (const auto bits = RoundApproximation(type, x)) return *bits;
  return RoundByZiv(type, function, kFirstBits);
}

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_EXACT_APPROXIMATION_H_
