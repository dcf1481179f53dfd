// Angles at any integer position, as fixed-point fractions of a turn.
//
// sin and cos of p·w depend on p·w / 2π modulo 1 only. With the frequency in turns, u = w / 2π,
// held as a 256-bit fraction, p·u modulo 1 is exact integer arithmetic for every int64 p: the angle
// at position 10^15 costs what the angle at position 1 costs, and its error is |p| units of 2^-257
// turns, nothing else (the idea of Payne and Hanek's range reduction, 1983, with a table of one
// constant per frequency).
//
// A frequency below 2^-63 turns is held times 2^shift, so that its leading bits are kept too; no
// wrap can happen there, for |p| ≤ 2^53. Values; pure functions, safe from any thread.

#ifndef POSENC_SERVER_ENCODINGS_EXACT_TURNS_H_
#define POSENC_SERVER_ENCODINGS_EXACT_TURNS_H_

#include <array>
#include <cstdint>
#include <optional>

#include "server/encodings/exact/enclosure.h"
#include "server/encodings/exact/real.h"

namespace posenc {

// Bits that a frequency needs in MPFR before it is turned into Turns: 256 of fraction, up to 58
// before the point (10^18 radians), the rest for the errors of the computation that leads to it.
inline constexpr int64_t kTurnPrecisionBits = 320;

struct Turns {
  std::array<uint64_t, 4> limbs{};  // least significant first; the fraction is limbs / 2^256
  int64_t shift = 0;                // the frequency is fraction · 2^-shift turns
  bool zero = true;                 // the frequency is exactly 0
  bool exact = false;               // it is exactly fraction · 2^-shift: angles may be whole quarters
};

// Returns the frequency of `turns` ≥ 0 turns per position, modulo 1, truncated. With `rational` a value
// that agrees with 64 bits in all of its first 288 is taken to be that number; without, it is known not
// to be one.
// Error: below 2^-256 · 2^-shift turns, if `turns` has at least kTurnPrecisionBits good bits.
Turns TurnsOf(const Real& turns, bool rational = false);

// Sine and cosine of one angle.
struct Phasor {
  Enclosure cos;
  Enclosure sin;
};

// The angle 2π·p·u as the nearest step j / 256 of a turn and the rest, in radians, to 2^-80 of the
// rest.
struct StepAndRest {
  int step = 0;  // 0 … 255
  DoubleDouble rest;
};

// Returns the reduced angle, or nothing where the rest is 0 or so small that its double might not
// be (take PhasorAt then). Requires: |position| ≤ 2^54.
std::optional<StepAndRest> ReduceAngle(const Turns& turns, int64_t position);

// Returns cos and sin of step / 256 turns, to 2^-100.
struct StepPhasor {
  DoubleDouble cos;
  DoubleDouble sin;
};
const StepPhasor& PhasorOfStep(int step);

// Returns e^{i·2π·p·u}. Exact at angle 0, and at whole quarters of an exact frequency; elsewhere the
// relative error of each part is below 2^-115, or the part is Unknown (an angle so near to a zero that
// 2^-200 turns are not enough, or a whole quarter of a frequency such as 1/3). Requires: |position| ≤ 2^54.
Phasor PhasorAt(const Turns& turns, int64_t position);

// Returns x turned by quarters · 90°.
Phasor TurnedByQuarters(const Phasor& x, unsigned quarters);

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_EXACT_TURNS_H_
