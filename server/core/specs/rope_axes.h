// Rotary tables whose pairs take their positions from several axes. A value.

#ifndef POSENC_SERVER_CORE_SPECS_ROPE_AXES_H_
#define POSENC_SERVER_CORE_SPECS_ROPE_AXES_H_

#include <array>
#include <cstdint>
#include <vector>

#include "server/core/limits.h"
#include "server/core/specs/field.h"

namespace posenc {

// Which axis pair i takes its position from. Sections count pairs, in the order of the axes (t, h, w).
// The first five keep the frequencies of the one-axis table, w_i by the global i.
//  kContiguous       section after section: Qwen2-VL, GLM-4V, XD-RoPE (four sections).
//  kInterleaved      i mod 3 = 1 below 3·h is h, i mod 3 = 2 below 3·w is w, the rest is t: Qwen3-VL.
//  kInterleavedGgml  the same in llama.cpp: i mod 3 = 0 below 3·t is t, what is left is the fourth axis,
//                    which is 0 in rows by index and in single positions, as for text there. i begins anew
//                    behind as many pairs as the sections have in sum, which may be more or fewer than rotate.
//  kAlternating      h and w in turn over the first h + w pairs, then t: Ernie 4.5 VL, Bailing.
//  kBalanced         the axis whose share is furthest behind, never the one before, the last pair t:
//                    openPangu.
//  kEvenOdd          even i on axis 0, then odd i on axis 1: Pixtral.
// The others start the exponent anew on each axis, over the axis' own width.
//  kSeparate         section after section: Qwen2-VL's vision, SAM, Llama 4's vision, FLUX, Wan, CogVideoX.
//  kRoundRobin       pair 0 of every axis, pair 1 of every axis, …: LTX-Video.
enum class AxisMap : uint8_t {
  kContiguous = 1,
  kInterleaved = 2,
  kInterleavedGgml = 3,
  kAlternating = 4,
  kBalanced = 5,
  kEvenOdd = 6,
  kSeparate = 7,
  kRoundRobin = 8,
};
constexpr auto EnumNames(AxisMap) {
  return std::to_array<absl::string_view>({"contiguous", "interleaved", "interleaved-ggml", "alternating",
                                           "balanced", "even-odd", "separate", "round-robin"});
}

// The frequencies of an axis of K pairs. b is the base.
//  kGeometric    b^(-k/(K − frequency_shift)), as everywhere.
//  kPixelLinear  π · (1 + k·(max_frequency/2 − 1)/(K − 1)): timm and rotary-embedding-torch, "pixel".
//  kPixelLog     π · 2^(k·(log2(max_frequency) − 1)/(K − 1)): timm's logarithmic bands.
//  kRising       π/2 · b^(k/(K − 1)): LTX-Video.
enum class FrequencyBands : uint8_t { kGeometric = 1, kPixelLinear = 2, kPixelLog = 3, kRising = 4 };
constexpr auto EnumNames(FrequencyBands) {
  return std::to_array<absl::string_view>({"geometric", "pixel-linear", "pixel-log", "rising"});
}

// Several position axes (M-RoPE: Wang et al. 2024). Rows by index have one position for all axes, as text
// tokens have; Selection::axis_positions gives one for each.
struct RopeAxes {
  AxisMap map = AxisMap::kContiguous;
  std::vector<int64_t> sections = {};  // pairs of each axis
  FrequencyBands bands = FrequencyBands::kGeometric;
  double max_frequency = 224.0;        // of the pixel bands
  double frequency_shift = 0.0;        // kSeparate, kRoundRobin with kGeometric
  bool full_turns = false;             // angles times 2π (DINOv3)
  std::vector<double> ntk_factors = {};  // base of axis a times factor^(d/(d−2)), d its width (Cosmos)
  int64_t identity_pairs = 0;          // leading pairs that do not rotate (LTX-Video)
  // kInterleaved: the sections may have another sum than the pairs, whose leftovers are the first axis', as
  // transformers does it. Normalised away where that is a matter of the first section alone.
  bool leftovers_on_first = false;

  template <typename Self, typename Visit>
  static void Fields(Self& self, Visit&& visit) {
    using namespace limits;
    visit(Field{.name = "map", .help = "Which axis a pair takes its position from"}, self.map);
    visit(Field{.name = "sections", .help = "Pairs of each axis (mrope_section)", .low = 0,
                .high = kMaxWidth, .required = true}, self.sections);
    visit(Field{.name = "bands", .help = "Frequencies of an axis"}, self.bands);
    visit(Field{.name = "max_frequency", .help = "Of the pixel bands", .low = 2, .high = kMaxFactor},
          self.max_frequency);
    visit(Field{.name = "frequency_shift", .help = "1 makes an axis' last frequency 1/base", .low = 0,
                .high = 1024}, self.frequency_shift);
    visit(Field{.name = "full_turns", .help = "Angles times 2 pi (DINOv3)"}, self.full_turns);
    visit(Field{.name = "ntk_factors", .help = "NTK factor of each axis (Cosmos)", .low = kMinFactor,
                .high = kMaxFactor}, self.ntk_factors);
    visit(Field{.name = "identity_pairs", .help = "Leading pairs that do not rotate (LTX-Video)", .low = 0,
                .high = kMaxWidth}, self.identity_pairs);
    visit(Field{.name = "leftovers_on_first", .help = "Pairs beyond the sections follow the first axis",
                .later = true}, self.leftovers_on_first);
  }
};

}  // namespace posenc

#endif  // POSENC_SERVER_CORE_SPECS_ROPE_AXES_H_
