#include "server/core/specs/rope_spec.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "server/core/names.h"
#include "server/core/specs/field_checks.h"

namespace posenc {
namespace {

int64_t PairsOf(const RopeSpec& spec) { return spec.rotary_dim / 2; }

// Rules that raise the base to d / (d − 2).
void CheckExponent(const RopeSpec& spec, Violations& bad) {
  if (spec.rotary_dim > 2) return;
  bad.Add("rope.rotary_dim", spec.rotary_dim, "more than 2 with this scaling, whose exponent is d/(d-2)");
}

void Check(const std::monostate&, const RopeSpec&, Violations&) {}
void Check(const LinearScaling&, const RopeSpec&, Violations&) {}
void Check(const ProportionalScaling&, const RopeSpec&, Violations&) {}
void Check(const NtkAlphaScaling&, const RopeSpec& spec, Violations& bad) { CheckExponent(spec, bad); }
void Check(const DynamicScaling&, const RopeSpec& spec, Violations& bad) { CheckExponent(spec, bad); }

void Check(const NtkScaling& scaling, const RopeSpec& spec, Violations& bad) {
  if (scaling.rule == NtkRule::kExponent) CheckExponent(spec, bad);
  const bool mixed = scaling.rule == NtkRule::kMixed;
  if (mixed && !scaling.mixed_b) bad.AddText("rope.ntk.mixed_b", "is missing; allowed: 0 to 100");
  if (!mixed && scaling.mixed_b) {
    bad.Add("rope.ntk.mixed_b", *scaling.mixed_b, absl::StrCat("none with rule ", NameOf(scaling.rule)));
  }
}

void Check(const Llama3Scaling& scaling, const RopeSpec&, Violations& bad) {
  if (scaling.high_freq_factor >= scaling.low_freq_factor) return;
  bad.Add("rope.llama3.high_freq_factor", scaling.high_freq_factor,
          absl::StrCat("at least low_freq_factor, ", ShortestDecimal(scaling.low_freq_factor)));
}

void Check(const YarnScaling& scaling, const RopeSpec& spec, Violations& bad) {
  if (spec.base == 1) bad.Add("rope.base", spec.base, "more than 1 with yarn, which divides by its logarithm");
  if (scaling.beta_fast < scaling.beta_slow) {
    bad.Add("rope.yarn.beta_fast", scaling.beta_fast,
            absl::StrCat("at least beta_slow, ", ShortestDecimal(scaling.beta_slow)));
  }
}

bool IsLong(const LongRopeScaling& scaling, const RopeSpec& spec) {
  return spec.effective_length.value_or(0) > scaling.original_max_len;
}

void Check(const LongRopeScaling& scaling, const RopeSpec& spec, Violations& bad) {
  const bool is_long = IsLong(scaling, spec);
  CheckCount(is_long ? "rope.longrope.long_factor" : "rope.longrope.short_factor",
             is_long ? scaling.long_factor : scaling.short_factor, PairsOf(spec), "rotated pair", bad);
  if (scaling.original_max_len < 2 && scaling.factor > 1 && !spec.attention_factor) {
    bad.Add("rope.longrope.original_max_len", scaling.original_max_len,
            "at least 2, or attention_factor, since the magnitude divides by its logarithm");
  }
}

void Check(const ExplicitFrequencies& scaling, const RopeSpec& spec, Violations& bad) {
  const char* const path = "rope.frequencies.inverse_frequencies";
  CheckCount(path, scaling.inverse_frequencies, PairsOf(spec), "rotated pair", bad);
  CheckFrequencies(path, scaling.inverse_frequencies, bad);
}

void Check(const FrequencyDivisors& scaling, const RopeSpec& spec, Violations& bad) {
  CheckCount("rope.divisors.divisors", scaling.divisors, PairsOf(spec), "rotated pair", bad);
}

int64_t RotatingPairs(const ProportionalScaling& scaling, int64_t pairs) {
  return static_cast<int64_t>(scaling.fraction * static_cast<double>(pairs));
}

// Whether a scaling changes nothing.
bool IsPlain(const RopeSpec& spec) {
  return std::visit(
      [&]<typename T>(const T& scaling) {
        if constexpr (std::is_same_v<T, DynamicScaling>) {
          return spec.effective_length.value_or(0) <= scaling.original_max_len;
        } else if constexpr (std::is_same_v<T, NtkAlphaScaling>) {
          return scaling.alpha == 1;
        } else if constexpr (std::is_same_v<T, ProportionalScaling>) {
          return scaling.factor == 1 && RotatingPairs(scaling, PairsOf(spec)) == PairsOf(spec);
        } else if constexpr (std::is_same_v<T, LongRopeScaling>) {
          return false;
        } else if constexpr (requires { scaling.factor; }) {
          return scaling.factor == 1;
        } else {
          return false;
        }
      },
      spec.scaling);
}

void SimplifyScaling(RopeSpec& spec) {
  if (IsPlain(spec)) spec.scaling = {};
  if (auto* given = std::get_if<ExplicitFrequencies>(&spec.scaling)) {
    spec.base = RopeSpec().base;
    for (double& frequency : given->inverse_frequencies) frequency = WithoutNegativeZero(frequency);
  }
  if (auto* longrope = std::get_if<LongRopeScaling>(&spec.scaling)) {
    const bool is_long = IsLong(*longrope, spec);
    (is_long ? longrope->short_factor : longrope->long_factor).clear();
    spec.effective_length = longrope->original_max_len + (is_long ? 1 : 0);
  } else if (!std::holds_alternative<DynamicScaling>(spec.scaling)) {
    spec.effective_length.reset();
  }
  const bool magnified =
      std::holds_alternative<YarnScaling>(spec.scaling) || std::holds_alternative<LongRopeScaling>(spec.scaling);
  if (!magnified && spec.attention_factor == 1.0) spec.attention_factor.reset();
}

void CheckLayout(const RopeSpec& spec, Violations& bad) {
  const auto* given = std::get_if<ExplicitFrequencies>(&spec.scaling);
  const bool periods = spec.layout == RopeLayout::kPeriods;
  if (periods && given && std::count(given->inverse_frequencies.begin(), given->inverse_frequencies.end(), 0)) {
    bad.AddText("rope.layout", "is periods, but a frequency is 0; allowed: any other layout");
  }
  const bool separate = spec.axes && spec.axes->map == AxisMap::kSeparate;
  if (spec.layout == RopeLayout::kSplitAxisDuplicated && !separate) {
    bad.Add("rope.layout", NameOf(spec.layout), "that layout only with axes whose map is separate");
  }
  const bool split = spec.layout <= RopeLayout::kSplitRepeated;
  if (spec.xpos && !split) {
    bad.Add("rope.layout", NameOf(spec.layout), "split-half, split-duplicated or split-repeated with xpos");
  }
}

// A factor below 1 with a shift near the axis' pairs raises the last frequency without bound.
void CheckHighestFrequency(const RopeSpec& spec, size_t axis, Violations& bad) {
  const RopeAxes& axes = *spec.axes;
  const auto pairs = static_cast<double>(axes.sections[axis]);
  if (axis >= axes.ntk_factors.size() || pairs < 2 || pairs <= axes.frequency_shift) return;
  const double log_base = std::log(spec.base) + pairs / (pairs - 1) * std::log(axes.ntk_factors[axis]);
  const double log_highest = -log_base * (pairs - 1) / (pairs - axes.frequency_shift);
  if (log_highest <= std::log(limits::kMaxFrequency)) return;
  bad.Add(absl::StrCat("rope.axes.ntk_factors[", axis, "]"), axes.ntk_factors[axis],
          absl::StrCat("such that no frequency is above ", ShortestDecimal(limits::kMaxFrequency)));
}

// What the frequencies of axes of their own need.
void CheckOwnSpectra(const RopeSpec& spec, Violations& bad) {
  const RopeAxes& axes = *spec.axes;
  for (size_t axis = 0; axis < axes.sections.size(); ++axis) {
    const int64_t pairs = axes.sections[axis];
    const std::string path = absl::StrCat("rope.axes.sections[", axis, "]");
    if (pairs > 0 && axes.frequency_shift != 0 && static_cast<double>(pairs) <= axes.frequency_shift) {
      bad.Add(path, pairs, absl::StrCat("more than frequency_shift, ", ShortestDecimal(axes.frequency_shift)));
    }
    const bool raised = axis < axes.ntk_factors.size() && axes.ntk_factors[axis] != 1;
    if (pairs == 1 && raised) bad.Add(path, pairs, "more than 1 with ntk_factors, whose exponent is d/(d-2)");
    if (raised && axes.bands == FrequencyBands::kGeometric) CheckHighestFrequency(spec, axis, bad);
  }
  if (axes.bands != FrequencyBands::kGeometric && axes.frequency_shift != 0) {
    bad.Add("rope.axes.frequency_shift", axes.frequency_shift, "0 with these bands");
  }
  CheckRisingBase("rope.base", axes.bands, spec.base, bad);
}

// Maps whose sections follow from the number of pairs, or need one of the first axis.
void CheckMapSections(const RopeSpec& spec, Violations& bad) {
  const RopeAxes& axes = *spec.axes;
  const int64_t pairs = PairsOf(spec);
  if (axes.map == AxisMap::kEvenOdd && axes.sections.size() == 2 && axes.sections[0] != (pairs + 1) / 2) {
    bad.Add("rope.axes.sections[0]", axes.sections[0],
            absl::StrCat((pairs + 1) / 2, ", the even ones of ", pairs, " pairs"));
  }
  if (axes.map == AxisMap::kBalanced && axes.sections.size() == 3 && axes.sections[0] == 0) {
    bad.Add("rope.axes.sections[0]", axes.sections[0], "at least 1 with map balanced, whose last pair it is");
  }
}

// Every pair belongs to an axis, unless the map says where leftovers go.
void CheckSum(const RopeSpec& spec, Violations& bad) {
  const RopeAxes& axes = *spec.axes;
  const bool interleaved = axes.map == AxisMap::kInterleaved;
  if (axes.leftovers_on_first && !interleaved) {
    bad.Add("rope.axes.leftovers_on_first", "true", absl::StrCat("false with map ", NameOf(axes.map)));
  }
  const int64_t sum = std::accumulate(axes.sections.begin(), axes.sections.end(), axes.identity_pairs);
  if (axes.map == AxisMap::kInterleavedGgml) {
    if (sum == 0) bad.AddText("rope.axes.sections", "are 0 pairs in sum; allowed: 1 and more");
  } else if (sum != PairsOf(spec) && !axes.leftovers_on_first) {
    bad.AddText("rope.axes.sections",
                absl::StrCat("are ", sum, " pairs in sum; allowed: the ", PairsOf(spec), " rotated pairs",
                             interleaved ? ", or leftovers_on_first" : ""));
  }
}

void CheckAxes(const RopeSpec& spec, Violations& bad) {
  const RopeAxes& axes = *spec.axes;
  const auto count = static_cast<int64_t>(axes.sections.size());
  if (count > limits::kMaxAxes) {
    bad.AddText("rope.axes.sections", absl::StrCat("has ", count, " entries; allowed: 1 to ", limits::kMaxAxes));
    return;
  }
  const bool threes = axes.map == AxisMap::kInterleaved || axes.map == AxisMap::kAlternating;
  if (threes) CheckCount("rope.axes.sections", axes.sections, 3, "axis", bad);
  if (axes.map == AxisMap::kInterleavedGgml) CheckCount("rope.axes.sections", axes.sections, 4, "axis", bad);
  if (axes.map == AxisMap::kEvenOdd) CheckCount("rope.axes.sections", axes.sections, 2, "axis", bad);
  CheckSum(spec, bad);
  const bool equal = std::equal(axes.sections.begin() + 1, axes.sections.end(), axes.sections.begin());
  if (axes.map == AxisMap::kRoundRobin && !equal) {
    bad.AddText("rope.axes.sections", "differ; allowed: equal ones with map round-robin");
  }
  if (!axes.ntk_factors.empty()) CheckCount("rope.axes.ntk_factors", axes.ntk_factors, count, "axis", bad);
  const bool own = axes.map == AxisMap::kSeparate || axes.map == AxisMap::kRoundRobin;
  const bool plain = axes.bands == FrequencyBands::kGeometric && axes.frequency_shift == 0 &&
                     axes.ntk_factors.empty() && axes.identity_pairs == 0 && !axes.full_turns;
  if (own) CheckOwnSpectra(spec, bad);
  CheckMapSections(spec, bad);
  if (!own && !plain) {
    bad.Add("rope.axes.map", NameOf(axes.map),
            "separate or round-robin with bands, frequency_shift, full_turns, ntk_factors or identity_pairs");
  }
  if (own && !std::holds_alternative<std::monostate>(spec.scaling) &&
      !std::holds_alternative<LinearScaling>(spec.scaling)) {
    bad.Add("rope.axes.map", NameOf(axes.map), "a map of one spectrum with this scaling");
  }
}

void CheckAdditions(const RopeSpec& spec, Violations& bad) {
  if (spec.axes) CheckAxes(spec, bad);
  if (spec.grid) {
    CheckGrid("rope.grid", *spec.grid, bad);
    if (!spec.axes) {
      bad.AddText("rope.axes", "is missing; allowed: sections for each axis of the grid");
    } else {
      CheckCount("rope.axes.sections", spec.axes->sections,
                 static_cast<int64_t>(spec.grid->sizes.size()), "axis of the grid", bad);
    }
  }
  if (spec.xpos && spec.axes) bad.AddText("rope.xpos", "stands beside axes; allowed: one of the two");
  if (!spec.dual_chunk) return;
  if (spec.xpos || spec.axes) {
    bad.AddText("rope.dual_chunk", "stands beside xpos or axes; allowed: one of them");
  }
  if (spec.dual_chunk->local_size >= spec.dual_chunk->chunk_size) {
    bad.Add("rope.dual_chunk.local_size", spec.dual_chunk->local_size,
            absl::StrCat("less than chunk_size, ", spec.dual_chunk->chunk_size));
  }
  if (spec.first_position != 0) bad.Add("rope.first_position", spec.first_position, "0 with dual_chunk");
}

// The first section of the interleaved map is what the others leave.
void SimplifySections(RopeSpec& spec) {
  if (!spec.axes || !spec.axes->leftovers_on_first) return;
  std::vector<int64_t>& sections = spec.axes->sections;
  const int64_t rest = PairsOf(spec) - sections[1] - sections[2];
  if (rest < 0) return;
  sections[0] = rest;
  spec.axes->leftovers_on_first = false;
}

// Rows and their first position mean nothing where they follow from something else.
void SimplifyRows(RopeSpec& spec) {
  const bool single = spec.layout == RopeLayout::kFrequencies || spec.layout == RopeLayout::kPeriods;
  const bool chunk = spec.dual_chunk && spec.dual_chunk->role != ChunkRole::kKey;
  if (single || spec.grid || chunk) {
    spec.max_len = RopeSpec().max_len;
    spec.first_position = 0;
  }
}

}  // namespace

absl::Status NormalizeFamily(RopeSpec& spec) {
  Violations bad;
  if (spec.rotary_dim == 0) spec.rotary_dim = spec.head_dim;
  if (spec.rotary_dim < 2 || spec.rotary_dim > spec.head_dim || spec.rotary_dim % 2 != 0) {
    bad.Add("rope.rotary_dim", spec.rotary_dim,
            absl::StrCat("an even number from 2 to head_dim, ", spec.head_dim, " (0: head_dim)"));
  }
  CheckRows("rope", spec.max_len, spec.first_position, bad);
  std::visit([&](const auto& scaling) { Check(scaling, spec, bad); }, spec.scaling);
  CheckLayout(spec, bad);
  CheckAdditions(spec, bad);
  if (!bad.empty()) return bad.ToStatus();
  SimplifyScaling(spec);
  SimplifySections(spec);
  SimplifyRows(spec);
  return absl::OkStatus();
}

}  // namespace posenc
