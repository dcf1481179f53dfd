// Scalings by frequency bands with a magnitude: YaRN and LongRoPE. rope_scaling.h has the notation.
// Values.

#ifndef POSENC_SERVER_CORE_SPECS_YARN_SCALING_H_
#define POSENC_SERVER_CORE_SPECS_YARN_SCALING_H_

#include <cstdint>
#include <vector>

#include "server/core/specs/ntk_scaling.h"

namespace posenc {

// YaRN (Peng et al. 2023): frequencies that turn more than beta_fast times within L0 are kept, those that
// turn less than beta_slow times divided by s, a linear ramp over the pairs between.
//   c(r) = d·ln(L0 / (2π·r)) / (2·ln(base)); low = c(beta_fast), high = c(beta_slow), rounded outwards to
//   whole pairs when `truncate`, then low ≥ 0, high ≤ d − 1, and high = low + 1/1000 where both are equal.
//   ramp_i = clamp((i − low) / (high − low), 0, 1); keep_i = (1 − ramp_i) · extrapolation_factor;
//   w_i · keep_i + w_i/s · (1 − keep_i), or with log_mix the geometric mean with these weights.
// m = attention_factor where RopeSpec has one; else g(mscale) / g(mscale_all_dim) where both are given and
// not 0, else g(1), g(k) = 0.1·k·ln(s) + 1, 1 for s ≤ 1.
struct YarnScaling {
  static constexpr absl::string_view kName = "yarn";
  double factor = 1.0;
  int64_t original_max_len = 0;
  double beta_fast = 32.0;
  double beta_slow = 1.0;
  bool truncate = true;
  double extrapolation_factor = 1.0;
  double mscale = 0.0;          // 0: not given
  double mscale_all_dim = 0.0;  // 0: not given
  bool log_mix = false;         // Grok's yarn_log
  template <typename Self, typename Visit>
  static void Fields(Self& self, Visit&& visit) {
    using namespace limits;
    visit(fields::kFactor, self.factor);
    visit(fields::kOriginalMaxLen, self.original_max_len);
    visit(Field{.name = "beta_fast", .help = "Turns from which a frequency is kept", .low = kMinFactor,
                .high = kMaxFactor}, self.beta_fast);
    visit(Field{.name = "beta_slow", .help = "Turns below which a frequency is divided", .low = kMinFactor,
                .high = kMaxFactor}, self.beta_slow);
    visit(Field{.name = "truncate", .help = "Rounds the ramp's ends to whole pairs"}, self.truncate);
    visit(Field{.name = "extrapolation_factor", .help = "Weight of the kept frequencies", .low = 0, .high = 1},
          self.extrapolation_factor);
    visit(Field{.name = "mscale", .help = "DeepSeek's magnitude factor; 0: none", .low = 0,
                .high = kMaxRowScale}, self.mscale);
    visit(Field{.name = "mscale_all_dim", .help = "DeepSeek's factor on the scores; 0: none", .low = 0,
                .high = kMaxRowScale}, self.mscale_all_dim);
    visit(Field{.name = "log_mix", .help = "Geometric instead of linear mixing (Grok)"}, self.log_mix);
  }
};

// LongRoPE (Ding et al. 2024; Phi-3): w_i / short_factor_i up to L0, w_i / long_factor_i when
// RopeSpec::effective_length is above it. m = attention_factor where RopeSpec has one, else
// sqrt(1 + ln(s) / ln(L0)) for s > 1, on both lists. Normalising empties the list that is not used.
struct LongRopeScaling {
  static constexpr absl::string_view kName = "longrope";
  double factor = 1.0;  // max_position_embeddings / L0
  int64_t original_max_len = 0;
  std::vector<double> short_factor = {};  // one for each pair
  std::vector<double> long_factor = {};
  template <typename Self, typename Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit(fields::Defaulted(fields::kFactor), self.factor);
    visit(fields::kOriginalMaxLen, self.original_max_len);
    const auto list = [&](absl::string_view name, absl::string_view help, auto& member) {
      visit(Field{.name = name, .help = help, .low = limits::kMinFactor, .high = limits::kMaxFactor}, member);
    };
    list("short_factor", "Divisors up to the trained length, one for each pair", self.short_factor);
    list("long_factor", "Divisors beyond the trained length, one for each pair", self.long_factor);
  }
};

}  // namespace posenc

#endif  // POSENC_SERVER_CORE_SPECS_YARN_SCALING_H_
