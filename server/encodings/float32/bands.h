// The frequencies of one axis that has a spectrum of its own (FrequencyBands), in float32 steps: torch's
// linspace, powers and π as a float. Pure functions, safe from any thread.

#ifndef POSENC_SERVER_ENCODINGS_FLOAT32_BANDS_H_
#define POSENC_SERVER_ENCODINGS_FLOAT32_BANDS_H_

#include <cstdint>
#include <vector>

#include "server/core/specs/rope_axes.h"

namespace posenc {

struct AxisBands {
  FrequencyBands bands = FrequencyBands::kGeometric;
  int64_t pairs = 0;
  double base = 10000.0;
  double shift = 0.0;          // kGeometric
  double max_frequency = 0.0;  // the pixel bands
};

std::vector<float> BandFrequencies(const AxisBands& axis);

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_FLOAT32_BANDS_H_
