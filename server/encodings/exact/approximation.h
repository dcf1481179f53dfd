// A value in double or long double with a bound on its error, and its rounding to an element type where the
// bound leaves no choice; RoundByZiv decides the rest. Inlined pure functions, safe from any thread.

#ifndef POSENC_SERVER_ENCODINGS_EXACT_APPROXIMATION_H_
#define POSENC_SERVER_ENCODINGS_EXACT_APPROXIMATION_H_

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "server/core/element_type.h"
#include "server/encodings/exact/quick_product.h"
#include "server/encodings/exact/ziv.h"

namespace posenc {

// |value − truth| ≤ error.
template <typename Float>
struct Approximation {
  Float value = 0;
  Float error = 0;
};

// glibc's exp, log, log1p, pow, sin and cos are within 3 units of the last place by its manual; this is
// more than twice that, and room for two roundings around them.
template <typename Float>
inline constexpr Float kLibraryError = 8 * std::numeric_limits<Float>::epsilon();

// Both ends of the interval are rounded outwards by a unit of Float, and for F16 and BF16 by the float on
// the way. Where Float has no more bits than the element, nothing is decided.
template <typename Float>
std::optional<uint64_t> RoundApproximation(ElementType type, const Approximation<Float>& x) {
  const Float size = std::fabs(x.value) + x.error;
  if (!(std::fabs(x.value) > Float{0x1p-120}) || !(size < Float{0x1p120})) return std::nullopt;
  if (type == ElementType::kF64) {
    const Float error = x.error + 2 * std::numeric_limits<Float>::epsilon() * size;
    const auto low = static_cast<double>(x.value - error), high = static_cast<double>(x.value + error);
    if (low != high || std::numeric_limits<Float>::digits <= 53) return std::nullopt;
    return NearestElement(type, low);
  }
  const Float error = x.error + size * (type == ElementType::kF32 ? Float{0x1p-52} : Float{0x1.02p-24});
  const uint64_t bits = NearestElement(type, static_cast<double>(x.value - error));
  if (bits != NearestElement(type, static_cast<double>(x.value + error))) return std::nullopt;
  return bits;
}

// Bits to begin with where no hardware type can tell.
inline constexpr int64_t kFirstBits = 128;

// Rounds a value: `approximate(Float())` gives it in double or in long double, `function` in any precision.
template <typename Approximate>
uint64_t RoundCell(ElementType type, const Approximate& approximate, const RealFunction& function) {
  if (type != ElementType::kF64) {
    if (const auto bits = RoundApproximation<double>(type, approximate(double{}))) return *bits;
  }
  if (const auto bits = RoundApproximation<long double>(type, approximate(static_cast<long double>(0)))) return *bits;
  return RoundByZiv(type, function, kFirstBits);
}

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_EXACT_APPROXIMATION_H_
