#include "server/encodings/learned/grid_resize.h"

#include <algorithm>

namespace posenc {
namespace {

// 4·d³ times the kernel at distance m / d: up to 1, and from 1 to 2.
int64_t Inner(int64_t m, int64_t d) { return 5 * m * m * m - 9 * m * m * d + 4 * d * d * d; }
int64_t Outer(int64_t m, int64_t d) {
  return -3 * m * m * m + 15 * m * m * d - 24 * m * d * d + 12 * d * d * d;
}

ResizeTaps TapsOf(int64_t output, int64_t in, int64_t out, int64_t denominator) {
  const int64_t d = 2 * out;
  const int64_t numerator = (2 * output + 1) * in - out;
  const int64_t floor = (numerator + d) / d - 1;  // the numerator is above −d
  const int64_t m = numerator - floor * d;
  ResizeTaps taps{.index = {}, .weight = {Outer(d + m, d), Inner(m, d), Inner(d - m, d), Outer(2 * d - m, d)},
                  .rounded = {}};
  for (int64_t i = 0; i < 4; ++i) {
    taps.index[i] = std::clamp<int64_t>(floor - 1 + i, 0, in - 1);
    taps.rounded[i] = static_cast<double>(taps.weight[i]) / static_cast<double>(denominator);
  }
  return taps;
}

}  // namespace

ResizeAxis MakeResizeAxis(int64_t in, int64_t out) {
  ResizeAxis axis{.denominator = 32 * out * out * out, .taps = {}};
  axis.taps.reserve(out);
  for (int64_t output = 0; output < out; ++output) {
    axis.taps.push_back(TapsOf(output, in, out, axis.denominator));
  }
  return axis;
}

}  // namespace posenc
