// The angles of one table in a float32 pipeline: what a coordinate becomes before cos and sin are taken.
//
// Either products with frequencies (frequencies.h) or ggml's running products (running_angles.h), each pair
// with the coordinate of its axis. Deterministic: every operation is one IEEE rounding. Threads: immutable.

#ifndef POSENC_SERVER_ENCODINGS_FLOAT32_FLOAT32_ANGLES_H_
#define POSENC_SERVER_ENCODINGS_FLOAT32_FLOAT32_ANGLES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "server/encodings/float32/frequencies.h"
#include "server/encodings/float32/running_angles.h"

namespace posenc {

class Float32Angles {
 public:
  // `axis_of_pair` is empty for one axis. With running angles the steps are for pairs only, not for use.
  Float32Angles(AngleSteps steps, std::optional<RunningAngles> running, std::vector<int32_t> axis_of_pair);

  int64_t pairs() const { return static_cast<int64_t>(steps_.frequencies.size()); }
  size_t footprint_bytes() const;

  // Writes the angles of all pairs. Requires: a coordinate for each axis, angles.size() = pairs().
  void Write(std::span<const float> coordinates, std::span<float> angles) const;

  // Returns the angles of a row whose coordinate is the same on all axes.
  std::vector<float> At(float coordinate) const;

 private:
  AngleSteps steps_;
  std::optional<RunningAngles> running_;
  std::vector<int32_t> axis_of_pair_;
};

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_FLOAT32_FLOAT32_ANGLES_H_
