// Elementary functions correctly rounded, so that a float32 pipeline has the same bits with every C library
// and on every CPU.
//
// Each is first computed in double by the C library, whose relative error is taken to be below 2^-48 (glibc
// and musl stay below 2^-52), and rounded at both ends of that interval; where the ends differ, MPFR decides
// (exact/ziv.h). Results beyond the type are infinite, or 0, however far. Pure functions, safe from any thread.

#ifndef POSENC_SERVER_ENCODINGS_FLOAT32_ROUNDED_MATH_H_
#define POSENC_SERVER_ENCODINGS_FLOAT32_ROUNDED_MATH_H_

namespace posenc {

// The float nearest to base^exponent, e^x, ln(x). Requires: base ≥ 0, x > 0 for the logarithm.
float PowF32(double base, double exponent);
float ExpF32(double x);
float LogF32(double x);

// The double nearest to base^exponent and ln(x), by MPFR alone: for the few numbers that a table has one of.
// Requires: finite, base > 0, x > 0.
double PowF64(double base, double exponent);
double LogF64(double x);

struct CosSinF32 {
  float cos = 1;
  float sin = 0;
};

// The floats nearest to cos(angle) and sin(angle); NaN for an infinite angle, as everywhere.
CosSinF32 CosSinOf(float angle);

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_FLOAT32_ROUNDED_MATH_H_
