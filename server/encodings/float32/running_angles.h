// Angles as ggml computes them: one ratio, multiplied again and again.
//
// theta starts at the position and is multiplied by pow(base, −2/d) from pair to pair, so its error grows
// with the pair and the angle is no product with a frequency. Each pair's theta is then divided by its
// factor (rope_freqs), multiplied by freq_scale, and mixed with the unscaled one where YaRN asks for it.
// Tables that ggml cannot make (bands, explicit frequencies, vLLM's NTK rules) have no running angles;
// kFloat32's steps stand in for them. A value; safe from any thread.

#ifndef POSENC_SERVER_ENCODINGS_FLOAT32_RUNNING_ANGLES_H_
#define POSENC_SERVER_ENCODINGS_FLOAT32_RUNNING_ANGLES_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "server/core/specs/rope_spec.h"

namespace posenc {

struct RunningAngles {
  std::vector<float> ratios;       // of each axis
  std::vector<float> divisors;     // of each pair; empty: 1
  float interpolation = 1;         // freq_scale
  std::vector<float> kept;         // share of the unscaled angle in each pair; empty: 0
  bool restarts = false;           // the exponent counts an axis' own pairs

  // Writes the angles of one axis' pairs; `axis_of_pair` is empty for one axis. Requires: out has one element
  // for each pair.
  void Write(float position, int32_t axis, std::span<const int32_t> axis_of_pair, std::span<float> out) const;
};

// Returns the running angles of a rotary table, or nothing where ggml has none. Requires: normalised.
std::optional<RunningAngles> GgmlAngles(const RopeSpec& spec);

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_FLOAT32_RUNNING_ANGLES_H_
