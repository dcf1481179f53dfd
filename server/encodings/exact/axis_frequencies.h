// Frequencies of tables with several position axes: bands of one axis, and pairs put together from axes.
//
// core/specs/rope_axes.h has the bands and their sources. Values of bands other than the geometric ones are
// fractions of π and given in turns.

#ifndef POSENC_SERVER_ENCODINGS_EXACT_AXIS_FREQUENCIES_H_
#define POSENC_SERVER_ENCODINGS_EXACT_AXIS_FREQUENCIES_H_

#include <cstdint>
#include <vector>

#include "server/core/specs/rope_axes.h"
#include "server/encodings/exact/frequency_source.h"

namespace posenc {

// The frequencies of one axis.
struct BandRule {
  int64_t count = 0;
  FrequencyBands bands = FrequencyBands::kGeometric;
  double base = 10000.0;
  double max_frequency = 224.0;
  double shift = 0.0;           // kGeometric
  double ntk_factor = 1.0;      // kGeometric: base · factor^(d/(d − 2)), d = 2·count
  double position_scale = 1.0;
  bool full_turns = false;
};

Frequencies MakeBands(const BandRule& rule);

// Where a pair's frequency comes from.
struct PairOrigin {
  int32_t axis = 0;    // whose position it takes
  int32_t part = 0;    // of the sources; −1: the pair does not rotate, frequency 0
  int64_t index = 0;   // within the part
};

// Returns the frequencies parts[origins[k].part][origins[k].index] / divisor. Requires: all parts have
// one unit.
Frequencies Arrange(std::vector<Frequencies> parts, std::vector<PairOrigin> origins, double divisor = 1.0);

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_EXACT_AXIS_FREQUENCIES_H_
