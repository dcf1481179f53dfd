#include "server/encodings/exact/log_ratio.h"

#include <cmath>
#include <initializer_list>
#include <numeric>

#include "server/encodings/exact/real.h"

namespace posenc {
namespace {

// Takes the factor p out of x and returns how often it was in it.
int64_t TakeOut(int64_t p, int64_t& x) {
  int64_t count = 0;
  for (; x % p == 0; x /= p) ++count;
  return count;
}

// Whether x^n = y^j: every prime is in both, in the ratio of the exponents.
bool SamePowers(int64_t x, int64_t n, int64_t y, int64_t j) {
  for (int64_t p = 2; p * p <= x || p * p <= y; ++p) {
    if (TakeOut(p, x) * n != TakeOut(p, y) * j) return false;
  }
  // What is left of each is 1 or a prime.
  if (x == 1 || y == 1) return x == y;
  return x == y && n == j;
}

// Whether (value / first)^n = (last / first)^j.
bool IsExactly(int64_t value, int64_t first, int64_t last, int64_t n, int64_t j) {
  const int64_t a = std::gcd(value, first), b = std::gcd(last, first);
  return SamePowers(value / a, n, last / b, j) && SamePowers(first / a, n, first / b, j);
}

// n · ln(value / first) / ln(last / first), relative error below 2^(6 − bits): log1p of the differences
// keeps fractions near 1 apart.
Real Compute(int64_t value, int64_t first, int64_t last, int64_t n, int64_t bits) {
  Real x(bits, static_cast<double>(value - first)), y(bits, static_cast<double>(last - first));
  for (Real* each : {&x, &y}) {
    mpfr_div_si(each->get(), each->get(), first, MPFR_RNDN);
    mpfr_log1p(each->get(), each->get(), MPFR_RNDN);
  }
  mpfr_mul_si(x.get(), x.get(), n, MPFR_RNDN);
  mpfr_div(x.get(), x.get(), y.get(), MPFR_RNDN);
  return x;
}

}  // namespace

WholePart LogRatio(int64_t value, int64_t first, int64_t last, int64_t n) {
  if (value == first) return {.floor = 0, .exact = true};
  // In double the error is below 2^-48 of the result, that is below 16 where the result is below 2^52:
  // good for results that are small, as they nearly always are.
  const auto from = static_cast<double>(first);
  const double quick = static_cast<double>(n) * std::log1p(static_cast<double>(value - first) / from) /
                       std::log1p(static_cast<double>(last - first) / from);
  const double error = quick * 0x1p-47;
  if (std::floor(quick - error) == std::floor(quick + error)) {
    return {.floor = static_cast<int64_t>(std::floor(quick))};
  }
  const auto nearest = static_cast<int64_t>(std::nearbyint(quick));
  if (error < 0.25 && IsExactly(value, first, last, n, nearest)) return {.floor = nearest, .exact = true};
  for (int64_t bits = 128;; bits *= 2) {
    const Real x = Compute(value, first, last, n, bits);
    Real low(x), high(x);
    Real margin(64, 1.0);
    mpfr_mul_2si(margin.get(), margin.get(), mpfr_get_exp(x.get()) + 6 - bits, MPFR_RNDN);
    mpfr_sub(low.get(), x.get(), margin.get(), MPFR_RNDD);
    mpfr_add(high.get(), x.get(), margin.get(), MPFR_RNDU);
    const int64_t floor = mpfr_get_si(low.get(), MPFR_RNDD), top = mpfr_get_si(high.get(), MPFR_RNDD);
    if (floor == top) return {.floor = floor};
    if (bits == 128 && IsExactly(value, first, last, n, top)) return {.floor = top, .exact = true};
  }
}

}  // namespace posenc
