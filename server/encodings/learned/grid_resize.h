// Bicubic resampling of one axis of a grid, in exact weights: a = −0.75, half-pixel centres, taps past the
// edge repeat it (Keys 1981; torch.nn.functional.interpolate with align_corners=False).
//
// Output d of `out` lies at ((2d + 1)·in − out) / (2·out) of `in`; with t its fractional part, a weight is
// a cubic in t with rational coefficients, so that 4·(2·out)³ of it is a whole number.
//
// Threads: plain values, a pure function.

#ifndef POSENC_SERVER_ENCODINGS_LEARNED_GRID_RESIZE_H_
#define POSENC_SERVER_ENCODINGS_LEARNED_GRID_RESIZE_H_

#include <array>
#include <cstdint>
#include <vector>

namespace posenc {

struct ResizeTaps {
  std::array<int64_t, 4> index;   // of the source, within it
  std::array<int64_t, 4> weight;  // over the axis's denominator
  std::array<double, 4> rounded;  // weight / denominator, off by less than 2^-51 of itself
};

struct ResizeAxis {
  int64_t denominator = 1;
  std::vector<ResizeTaps> taps;  // by output
};

// Requires: 1 ≤ in, out ≤ 2^16, so that no product overflows.
ResizeAxis MakeResizeAxis(int64_t in, int64_t out);

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_LEARNED_GRID_RESIZE_H_
