#include "server/encodings/rope/rope.h"

#include <utility>

#include "server/encodings/exact/frequency_rule.h"
#include "server/encodings/rope/axis_maps.h"
#include "server/encodings/rope/rope_form.h"

namespace posenc {
namespace {

Frequencies OneSpectrum(const RopeSpec& spec) {
  return MakeFrequencies({.count = spec.rotary_dim / 2,
                          .twice_pairs = spec.rotary_dim,
                          .base = spec.base,
                          .scaling = spec.scaling,
                          .effective_length = spec.effective_length});
}

Frequencies OwnSpectra(const RopeSpec& spec) {
  const RopeAxes& axes = *spec.axes;
  std::vector<Frequencies> parts;
  for (size_t axis = 0; axis < axes.sections.size(); ++axis) {
    parts.push_back(MakeBands({.count = axes.sections[axis],
                               .bands = axes.bands,
                               .base = spec.base,
                               .max_frequency = axes.max_frequency,
                               .shift = axes.frequency_shift,
                               .ntk_factor = axes.ntk_factors.empty() ? 1.0 : axes.ntk_factors[axis],
                               .full_turns = axes.full_turns}));
  }
  const auto* linear = std::get_if<LinearScaling>(&spec.scaling);
  return Arrange(std::move(parts), PairOrigins(axes, spec.rotary_dim / 2), linear ? linear->factor : 1.0);
}

}  // namespace

Frequencies RopeFrequencies(const RopeSpec& spec) {
  if (!spec.axes) return OneSpectrum(spec);
  if (HasOwnSpectra(spec.axes->map)) return OwnSpectra(spec);
  return Arrange({OneSpectrum(spec)}, PairOrigins(*spec.axes, spec.rotary_dim / 2));
}

PhasorTable DescribeRope(const RopeSpec& spec, ElementType type) {
  return {.form = RopeForm(spec, type),
          .frequencies = RopeFrequencies(spec),
          .magnitude = RopeMagnitude(spec),
          .softmax_scale = RopeSoftmaxScale(spec)};
}

}  // namespace posenc
