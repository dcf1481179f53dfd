// How a rotary table's frequencies are stretched for contexts longer than the trained one. Values.
//
// w_i = base^(-2i/d) before scaling, d the rotated width, i = 0 … d/2 − 1; s the factor; L0 the trained
// length, original_max_len. A magnitude m multiplies every cosine and sine; it is 1 unless said.

#ifndef POSENC_SERVER_CORE_SPECS_ROPE_SCALING_H_
#define POSENC_SERVER_CORE_SPECS_ROPE_SCALING_H_

#include <cstdint>
#include <variant>
#include <vector>

#include "server/core/limits.h"
#include "server/core/specs/field.h"
#include "server/core/specs/ntk_scaling.h"
#include "server/core/specs/yarn_scaling.h"

namespace posenc {

// Llama 3.1 (Meta): frequencies whose wavelength exceeds L0 / low_freq_factor divided by s, those under
// L0 / high_freq_factor kept, a linear blend between.
struct Llama3Scaling {
  static constexpr absl::string_view kName = "llama3";
  double factor = 8.0;
  double low_freq_factor = 1.0;
  double high_freq_factor = 4.0;
  int64_t original_max_len = 8192;
  template <typename Self, typename Visit>
  static void Fields(Self& self, Visit&& visit) {
    using namespace limits;
    visit(fields::Defaulted(fields::kFactor), self.factor);
    visit(Field{.name = "low_freq_factor", .help = "Turns within the trained length below which w is divided",
                .low = kMinFactor, .high = kMaxFactor}, self.low_freq_factor);
    visit(Field{.name = "high_freq_factor", .help = "Turns within the trained length from which w is kept",
                .low = kMinFactor, .high = kMaxFactor}, self.high_freq_factor);
    visit(fields::Defaulted(fields::kOriginalMaxLen), self.original_max_len);
  }
};

// Gemma 4: the first ⌊fraction · d/2⌋ pairs rotate with w_i / s, the others not at all (w = 0). The
// exponent's denominator stays the whole width, and so does the table's.
struct ProportionalScaling {
  static constexpr absl::string_view kName = "proportional";
  double factor = 1.0;
  double fraction = 1.0;  // partial_rotary_factor
  template <typename Self, typename Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit(fields::Defaulted(fields::kFactor), self.factor);
    visit(Field{.name = "fraction", .help = "Share of the pairs that rotate (partial_rotary_factor)",
                .low = 0, .high = 1}, self.fraction);
  }
};

// The caller's own inverse frequencies, in radians per position, one per rotated pair.
struct ExplicitFrequencies {
  static constexpr absl::string_view kName = "frequencies";
  std::vector<double> inverse_frequencies = {};
  template <typename Self, typename Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit(Field{.name = "inverse_frequencies", .help = "Your own, one for each rotated pair: 1,0.5,…",
                .low = 0, .high = limits::kMaxFrequency}, self.inverse_frequencies);
  }
};

// w_i / divisors_i: GGUF's tensor rope_freqs.weight.
struct FrequencyDivisors {
  static constexpr absl::string_view kName = "divisors";
  std::vector<double> divisors = {};
  template <typename Self, typename Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit(Field{.name = "divisors", .help = "Of the frequencies, one for each pair (GGUF rope_freqs)",
                .low = limits::kMinFactor, .high = limits::kMaxFactor}, self.divisors);
  }
};

// monostate: no scaling.
using RopeScaling =
    std::variant<std::monostate, LinearScaling, Llama3Scaling, ExplicitFrequencies, NtkScaling,
                 NtkAlphaScaling, DynamicScaling, YarnScaling, LongRopeScaling, ProportionalScaling,
                 FrequencyDivisors>;

}  // namespace posenc

#endif  // POSENC_SERVER_CORE_SPECS_ROPE_SCALING_H_
