#include "server/encodings/rope/axis_maps.h"

#include <numeric>

namespace posenc {
namespace {

using Sections = std::vector<int64_t>;

// Appends section after section.
std::vector<int32_t> InSections(const Sections& sections) {
  std::vector<int32_t> axes;
  for (size_t axis = 0; axis < sections.size(); ++axis) {
    axes.insert(axes.end(), sections[axis], static_cast<int32_t>(axis));
  }
  return axes;
}

// i mod 3 tells the axis below 3 times its section; what is left is the first axis'.
std::vector<int32_t> Interleaved(const Sections& sections, int64_t pairs) {
  std::vector<int32_t> axes(pairs, 0);
  for (int64_t i = 0; i < pairs; ++i) {
    const auto axis = static_cast<int32_t>(i % 3);
    if (i < 3 * sections[axis]) axes[i] = axis;
  }
  return axes;
}

// The same with the first axis bounded too and the fourth for what is left, where pairs beyond the sections' sum
// are counted from 0 again (ggml_mrope_cache_init of ggml's CPU backend).
std::vector<int32_t> InterleavedGgml(const Sections& sections, int64_t pairs) {
  const int64_t sum = std::accumulate(sections.begin(), sections.end(), int64_t{0});
  std::vector<int32_t> axes(pairs, 3);
  for (int64_t i = 0; i < pairs; ++i) {
    const int64_t sector = i % sum;
    const auto axis = static_cast<int32_t>(sector % 3);
    if (sector < 3 * sections[axis]) axes[i] = axis;
  }
  return axes;
}

// h and w in turn, then t.
std::vector<int32_t> Alternating(const Sections& sections, int64_t pairs) {
  std::vector<int32_t> axes(pairs, 0);
  for (int64_t i = 0; i < sections[1] + sections[2] && i < pairs; ++i) axes[i] = 1 + i % 2;
  return axes;
}

// Among axes with pairs left, not the one before unless no other is left, the one of which the least
// share is placed; the first of equals.
int32_t FurthestBehind(const Sections& totals, const Sections& placed, int32_t before) {
  int32_t best = -1;
  for (int32_t axis = 0; axis < static_cast<int32_t>(totals.size()); ++axis) {
    if (placed[axis] >= totals[axis] || axis == before) continue;
    if (best < 0 || placed[axis] * totals[best] < placed[best] * totals[axis]) best = axis;
  }
  return best < 0 ? before : best;
}

// With three axes the last pair is kept for the first one.
std::vector<int32_t> Balanced(Sections totals) {
  const bool last_is_first = totals.size() == 3 && totals[0] > 0;
  if (last_is_first) --totals[0];
  const int64_t count = std::accumulate(totals.begin(), totals.end(), int64_t{0});
  Sections placed(totals.size());
  std::vector<int32_t> axes;
  int32_t before = -1;
  for (int64_t i = 0; i < count; ++i) {
    before = FurthestBehind(totals, placed, before);
    ++placed[before];
    axes.push_back(before);
  }
  if (last_is_first) axes.push_back(0);
  return axes;
}

std::vector<int32_t> AxisOfPairs(const RopeAxes& axes, int64_t pairs) {
  switch (axes.map) {
    case AxisMap::kInterleaved:
      return Interleaved(axes.sections, pairs);
    case AxisMap::kInterleavedGgml:
      return InterleavedGgml(axes.sections, pairs);
    case AxisMap::kAlternating:
      return Alternating(axes.sections, pairs);
    case AxisMap::kBalanced:
      return Balanced(axes.sections);
    case AxisMap::kEvenOdd:
      return InSections({(pairs + 1) / 2, pairs / 2});
    default:
      return InSections(axes.sections);
  }
}

std::vector<PairOrigin> OwnSpectra(const RopeAxes& axes) {
  std::vector<PairOrigin> origins(axes.identity_pairs, PairOrigin{.part = -1});
  const auto count = static_cast<int32_t>(axes.sections.size());
  if (axes.map == AxisMap::kRoundRobin) {
    for (int64_t index = 0; index < axes.sections.front(); ++index) {
      for (int32_t axis = 0; axis < count; ++axis) origins.push_back({axis, axis, index});
    }
    return origins;
  }
  for (int32_t axis = 0; axis < count; ++axis) {
    for (int64_t index = 0; index < axes.sections[axis]; ++index) origins.push_back({axis, axis, index});
  }
  return origins;
}

}  // namespace

bool HasOwnSpectra(AxisMap map) { return map == AxisMap::kSeparate || map == AxisMap::kRoundRobin; }

std::vector<PairOrigin> PairOrigins(const RopeAxes& axes, int64_t pairs) {
  if (HasOwnSpectra(axes.map)) return OwnSpectra(axes);
  const std::vector<int32_t> axis_of_pair = AxisOfPairs(axes, pairs);
  std::vector<PairOrigin> origins;
  const int64_t evens = (pairs + 1) / 2;
  for (int64_t i = 0; i < pairs; ++i) {
    int64_t index = i;
    if (axes.map == AxisMap::kEvenOdd) index = i < evens ? 2 * i : 2 * (i - evens) + 1;
    origins.push_back({.axis = axis_of_pair[i], .part = 0, .index = index});
  }
  return origins;
}

}  // namespace posenc
