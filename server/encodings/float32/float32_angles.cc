#include "server/encodings/float32/float32_angles.h"

#include <algorithm>
#include <array>
#include <utility>

#include "server/core/limits.h"

namespace posenc {

Float32Angles::Float32Angles(AngleSteps steps, std::optional<RunningAngles> running,
                             std::vector<int32_t> axis_of_pair)
    : steps_(std::move(steps)), running_(std::move(running)), axis_of_pair_(std::move(axis_of_pair)) {}

size_t Float32Angles::footprint_bytes() const {
  const size_t floats = running_ ? running_->divisors.capacity() + running_->kept.capacity() : 0;
  return (steps_.frequencies.capacity() + floats) * sizeof(float) +
         axis_of_pair_.capacity() * sizeof(int32_t);
}

void Float32Angles::Write(std::span<const float> coordinates, std::span<float> angles) const {
  if (running_) {
    for (size_t axis = 0; axis < running_->ratios.size(); ++axis) {
      running_->Write(coordinates[axis], static_cast<int32_t>(axis), axis_of_pair_, angles);
    }
    return;
  }
  std::array<float, limits::kMaxAxes> at{};
  for (size_t axis = 0; axis < coordinates.size(); ++axis) {
    at[axis] = coordinates[axis] / steps_.position_divisor * steps_.position_factor;
  }
  const float* const w = steps_.frequencies.data();
  const float last = steps_.angle_factor;
  if (axis_of_pair_.empty()) {
    for (size_t i = 0; i < angles.size(); ++i) angles[i] = at[0] * w[i] * last;
  } else {
    for (size_t i = 0; i < angles.size(); ++i) angles[i] = at[axis_of_pair_[i]] * w[i] * last;
  }
}

std::vector<float> Float32Angles::At(float coordinate) const {
  std::array<float, limits::kMaxAxes> coordinates;
  coordinates.fill(coordinate);
  std::vector<float> angles(static_cast<size_t>(pairs()));
  Write(coordinates, angles);
  return angles;
}

}  // namespace posenc
