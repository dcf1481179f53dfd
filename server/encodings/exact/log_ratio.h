// Whole parts of ratios of logarithms of whole numbers, exactly.
//
// Buckets that grow by a constant ratio ask for ⌊ln(a/b) / ln(c/d) · n⌋ or ⌈…⌉. The value is irrational
// unless a power of one fraction is a power of the other, which the prime factors tell; so MPFR with more
// and more bits ends, and no float32 logarithm decides. Pure functions, safe from any thread.

#ifndef POSENC_SERVER_ENCODINGS_EXACT_LOG_RATIO_H_
#define POSENC_SERVER_ENCODINGS_EXACT_LOG_RATIO_H_

#include <cstdint>

namespace posenc {

struct WholePart {
  int64_t floor = 0;
  bool exact = false;  // the value is `floor` itself

  int64_t ceiling() const { return exact ? floor : floor + 1; }
};

// Returns the whole part of n · ln(value / first) / ln(last / first).
// Requires: value ≥ first ≥ 1, last > first, n ≥ 1, the numbers below 2^32, the result below 2^52.
WholePart LogRatio(int64_t value, int64_t first, int64_t last, int64_t n);

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_EXACT_LOG_RATIO_H_
