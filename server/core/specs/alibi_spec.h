// The parameters of ALiBi slopes and biases. A value; spec.h says what holds for all specs.

#ifndef POSENC_SERVER_CORE_SPECS_ALIBI_SPEC_H_
#define POSENC_SERVER_CORE_SPECS_ALIBI_SPEC_H_

#include <array>
#include <cstdint>

#include "absl/status/status.h"
#include "server/core/limits.h"
#include "server/core/specs/field.h"

namespace posenc {

// kPaper: Press et al. 2022 (two geometric series where heads is no power of two).
// kGeometric: 2^(-bias_max · i / heads), i = 1 … heads, for every head count.
enum class AlibiSlopeRule : uint8_t { kPaper = 1, kGeometric = 2 };
constexpr auto EnumNames(AlibiSlopeRule) {
  return std::to_array<absl::string_view>({"paper", "geometric"});
}

// kCausal: −slope · (q − k) for k ≤ q, and 0 (or −∞ when masked) after it.
// kSymmetric: −slope · |q − k|. kSlopes: the slopes alone, [heads], no bias.
// kRow: [heads, keys], slope · (k − (max_len − 1)), one row for all queries (MPT). It differs from the
// causal bias by a constant in each row, which softmax takes out.
// kKeyIndex: [heads, keys], slope · k, as BLOOM and Falcon add it; equal under softmax as well.
enum class AlibiForm : uint8_t { kCausal = 1, kSymmetric = 2, kSlopes = 3, kRow = 4, kKeyIndex = 5 };
constexpr auto EnumNames(AlibiForm) {
  return std::to_array<absl::string_view>({"causal", "symmetric", "slopes", "row", "key-index"});
}

// ALiBi bias [heads, max_len, max_len] by head, query, key, or slopes [heads].
struct AlibiSpec {
  static constexpr absl::string_view kName = "alibi";

  int64_t heads = 0;          // required, 1 … kMaxHeads; the model's whole head count
  int64_t max_len = 5000;     // queries and keys
  double bias_max = 8.0;
  AlibiSlopeRule slope_rule = AlibiSlopeRule::kPaper;
  AlibiForm form = AlibiForm::kCausal;
  bool masked = false;        // kCausal only: −∞ for keys after the query
  double score_divisor = 1.0;  // divides slopes and biases, where a model divides its scores after adding

  template <typename Self, typename Visit>
  static void Fields(Self& self, Visit&& visit) {
    using namespace limits;
    visit(Field{.name = "heads", .help = "Attention heads of the whole model", .low = 1, .high = kMaxHeads,
                .required = true}, self.heads);
    visit(Field{.name = "max_len", .help = "Queries and keys", .low = 1, .high = kMaxBiasLen}, self.max_len);
    visit(Field{.name = "bias_max", .help = "Slopes end at 2^-bias_max", .low = kMinFrequency,
                .high = kMaxBiasMax}, self.bias_max);
    visit(Field{.name = "slope_rule", .help = "Slopes of a head count that is no power of two"},
          self.slope_rule);
    visit(Field{.name = "form", .help = "Of the bias, or the slopes alone"}, self.form);
    visit(Field{.name = "masked", .help = "-infinity for keys after the query (causal form)"}, self.masked);
    visit(Field{.name = "score_divisor", .help = "Divides slopes and biases (Falcon: sqrt(head_dim))",
                .low = kMinRowScale, .high = kMaxRowScale, .later = true}, self.score_divisor);
  }
};

absl::Status NormalizeFamily(AlibiSpec& spec);

}  // namespace posenc

#endif  // POSENC_SERVER_CORE_SPECS_ALIBI_SPEC_H_
