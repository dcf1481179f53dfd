// Scalings that divide positions or raise the base. rope_scaling.h has the notation. Values.

#ifndef POSENC_SERVER_CORE_SPECS_NTK_SCALING_H_
#define POSENC_SERVER_CORE_SPECS_NTK_SCALING_H_

#include <array>
#include <cstdint>
#include <optional>

#include "server/core/limits.h"
#include "server/core/specs/field.h"

namespace posenc {

namespace fields {
inline constexpr Field kFactor = {.name = "factor", .help = "How many times longer than the trained length",
                                  .low = limits::kMinFactor, .high = limits::kMaxFactor, .required = true};
inline constexpr Field kOriginalMaxLen = {.name = "original_max_len",
                                          .help = "Trained length (original_max_position_embeddings)",
                                          .low = 1, .high = limits::kMaxPosition, .required = true};
// The same field where it has a default.
constexpr Field Defaulted(Field field) {
  field.required = false;
  return field;
}
}  // namespace fields

// Position interpolation (Chen et al. 2023): w_i / s.
struct LinearScaling {
  static constexpr absl::string_view kName = "linear";
  double factor = 1.0;
  template <typename Self, typename Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit(fields::kFactor, self.factor);
  }
};

// Which of the rules called NTK (bloc97 2023).
//  kExponent   base · s^(d/(d−2)): transformers 4, rotary-embedding-torch, x-transformers.
//  kVllm       base · s, and every w_i / s^(2/d): vLLM. Equal to kExponent in the last pair only.
//  kMixed      w_i / exp(A · (i+1)^mixed_b), A = ln(s) / (d/2)^mixed_b: vLLM with mixed_b (Su 2023).
//  kBase       base · s, no exponent: diffusers' ntk_factor.
enum class NtkRule : uint8_t { kExponent = 1, kVllm = 2, kMixed = 3, kBase = 4 };
constexpr auto EnumNames(NtkRule) {
  return std::to_array<absl::string_view>({"exponent", "vllm", "mixed", "base"});
}

// NTK-aware scaling by a fixed factor.
struct NtkScaling {
  static constexpr absl::string_view kName = "ntk";
  double factor = 1.0;
  NtkRule rule = NtkRule::kExponent;
  std::optional<double> mixed_b = std::nullopt;  // kMixed only, and required there
  template <typename Self, typename Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit(fields::kFactor, self.factor);
    visit(Field{.name = "rule", .help = "Which of the rules called NTK"}, self.rule);
    visit(Field{.name = "mixed_b", .help = "Exponent of the mixed rule", .low = 0, .high = 100}, self.mixed_b);
  }
};

// base · alpha^(d/(d−2)): Hunyuan, which calls it dynamic.
struct NtkAlphaScaling {
  static constexpr absl::string_view kName = "ntk_alpha";
  double alpha = 1.0;
  template <typename Self, typename Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit(Field{.name = "alpha", .help = "NTK alpha (Hunyuan)", .low = limits::kMinFactor,
                .high = limits::kMaxFactor, .required = true}, self.alpha);
  }
};

// Dynamic NTK (emozilla 2023): base · (s·ℓ/L0 − (s−1))^(d/(d−2)) at ℓ = RopeSpec::effective_length above L0,
// plain up to L0 and without an effective length.
struct DynamicScaling {
  static constexpr absl::string_view kName = "dynamic";
  double factor = 1.0;
  int64_t original_max_len = 0;
  template <typename Self, typename Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit(fields::kFactor, self.factor);
    visit(fields::kOriginalMaxLen, self.original_max_len);
  }
};

}  // namespace posenc

#endif  // POSENC_SERVER_CORE_SPECS_NTK_SCALING_H_
