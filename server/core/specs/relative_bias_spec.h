// The parameters of biases that are functions of the distance. A value; spec.h says what holds for all
// specs.

#ifndef POSENC_SERVER_CORE_SPECS_RELATIVE_BIAS_SPEC_H_
#define POSENC_SERVER_CORE_SPECS_RELATIVE_BIAS_SPEC_H_

#include <array>
#include <cstdint>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "server/core/limits.h"
#include "server/core/specs/field.h"

namespace posenc {

// −ln(1 + r), r the distance: tensor2tensor's proximity bias.
struct ProximalBias {
  static constexpr absl::string_view kName = "proximal";
  template <typename Self, typename Visit>
  static void Fields(Self&, Visit&&) {}
};

// (Σ_{k=1}^{head_dim/2} cos(r / 10000^(2k/head_dim)) − head_dim/2) · heads / (8 (h + 1)) for head h:
// Sandwich (Chi et al. 2023).
struct SandwichBias {
  static constexpr absl::string_view kName = "sandwich";
  int64_t head_dim = 64;  // even
  template <typename Self, typename Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit(Field{.name = "head_dim", .help = "Dimensions of a head, even", .low = 2,
                .high = limits::kMaxWidth, .even = true}, self.head_dim);
  }
};

enum class KerpleKind : uint8_t { kLogarithmic = 1, kPower = 2 };
constexpr auto EnumNames(KerpleKind) {
  return std::to_array<absl::string_view>({"logarithmic", "power"});
}

// −r1 · ln(1 + r2 · r) or −r1 · r^r2, with r1 and r2 learned for each head: KERPLE (Chi et al. 2022).
struct KerpleBias {
  static constexpr absl::string_view kName = "kerple";
  KerpleKind kind = KerpleKind::kLogarithmic;
  std::vector<double> r1 = {};  // one for each head, more than 0
  std::vector<double> r2 = {};  // one for each head, more than 0; at most 2 with kPower
  template <typename Self, typename Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit(Field{.name = "kind", .help = "Logarithmic or power"}, self.kind);
    visit(Field{.name = "r1", .help = "First parameter, one for each head", .low = limits::kMinRowScale,
                .high = limits::kMaxRowScale}, self.r1);
    visit(Field{.name = "r2", .help = "Second parameter, one for each head", .low = limits::kMinRowScale,
                .high = limits::kMaxRowScale}, self.r2);
  }
};

// MLP(ψ(r) / ψ(max(q, threshold))), ψ(x) = ln(c·x + 1), a layer of ReLU between: FIRE (Li et al. 2024).
// The weights are row-major: input_weight [hidden], input_bias [hidden], output_weight [heads, hidden],
// output_bias [heads].
struct FireBias {
  static constexpr absl::string_view kName = "fire";
  double c = 0.1;
  double threshold = 512;
  std::vector<double> input_weight = {};
  std::vector<double> input_bias = {};
  std::vector<double> output_weight = {};
  std::vector<double> output_bias = {};
  template <typename Self, typename Visit>
  static void Fields(Self& self, Visit&& visit) {
    using namespace limits;
    visit(Field{.name = "c", .help = "Factor inside the logarithm", .low = kMinRowScale,
                .high = kMaxRowScale}, self.c);
    visit(Field{.name = "threshold", .help = "Queries before it share its normaliser", .low = kMinRowScale,
                .high = kMaxPosition}, self.threshold);
    const auto weights = [&](absl::string_view name, absl::string_view help, auto& member) {
      visit(Field{.name = name, .help = help, .low = -kMaxRowScale, .high = kMaxRowScale}, member);
    };
    weights("input_weight", "Of the hidden layer, [hidden]", self.input_weight);
    weights("input_bias", "Of the hidden layer, [hidden]", self.input_bias);
    weights("output_weight", "Of the output, [heads, hidden]", self.output_weight);
    weights("output_bias", "Of the output, [heads]", self.output_bias);
  }
};

// kCausal: 0 for keys after the query, or −∞ when masked. kSymmetric: the distance is |q − k|.
enum class BiasForm : uint8_t { kCausal = 1, kSymmetric = 2 };
constexpr auto EnumNames(BiasForm) {
  return std::to_array<absl::string_view>({"causal", "symmetric"});
}

// Bias "bias" [heads, max_len, max_len] by head, query, key: a function of r = q − k.
struct RelativeBiasSpec {
  static constexpr absl::string_view kName = "relative_bias";

  std::variant<ProximalBias, SandwichBias, KerpleBias, FireBias> rule = ProximalBias();
  int64_t heads = 1;
  int64_t max_len = 512;  // queries and keys
  BiasForm form = BiasForm::kCausal;
  bool masked = false;    // kCausal only: −∞ for keys after the query

  template <typename Self, typename Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit(Field{.name = "rule", .help = "The function of the distance"}, self.rule);
    visit(Field{.name = "heads", .help = "Attention heads", .low = 1, .high = limits::kMaxHeads}, self.heads);
    visit(Field{.name = "max_len", .help = "Queries and keys", .low = 1, .high = limits::kMaxBiasLen},
          self.max_len);
    visit(Field{.name = "form", .help = "What keys after the query get"}, self.form);
    visit(Field{.name = "masked", .help = "-infinity for keys after the query (causal form)"}, self.masked);
  }
};

absl::Status NormalizeFamily(RelativeBiasSpec& spec);

}  // namespace posenc

#endif  // POSENC_SERVER_CORE_SPECS_RELATIVE_BIAS_SPEC_H_
