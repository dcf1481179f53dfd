// The parameters of ALiBi slopes and biases. A value; spec.h says what holds for all specs.

#ifndef POSENC_SERVER_CORE_ALIBI_SPEC_H_
#define POSENC_SERVER_CORE_ALIBI_SPEC_H_

#include <cstdint>

namespace posenc {

// kPaper: Press et al. 2022 (two geometric series where heads is no power of two).
// kGeometric: 2^(-bias_max · i / heads), i = 1 … heads, for every head count.
enum class AlibiSlopeRule : uint8_t { kPaper = 1, kGeometric = 2 };

// kCausal: −slope · (q − k) for k ≤ q, and 0 (or −∞ when masked) after it.
// kSymmetric: −slope · |q − k|. kSlopes: the slopes alone, [heads], no bias.
enum class AlibiForm : uint8_t { kCausal = 1, kSymmetric = 2, kSlopes = 3 };

// ALiBi bias [heads, max_len, max_len] by head, query, key, or slopes [heads].
struct AlibiSpec {
  int64_t heads = 0;          // required, 1 … kMaxHeads; the model's whole head count
  int64_t max_len = 5000;     // queries and keys
  double bias_max = 8.0;
  AlibiSlopeRule slope_rule = AlibiSlopeRule::kPaper;
  AlibiForm form = AlibiForm::kCausal;
  bool masked = false;        // kCausal only: −∞ for keys after the query
};

}  // namespace posenc

#endif  // POSENC_SERVER_CORE_ALIBI_SPEC_H_
