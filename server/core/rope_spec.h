// The parameters of a rotary (RoPE) table. A value; spec.h says what holds for all specs.

#ifndef POSENC_SERVER_CORE_ROPE_SPEC_H_
#define POSENC_SERVER_CORE_ROPE_SPEC_H_

#include <cstdint>
#include <variant>
#include <vector>

namespace posenc {

// Position interpolation (Chen et al. 2023): every frequency divided by factor.
struct LinearScaling {
  double factor = 1.0;
};

// Llama 3.1 (Meta): frequencies whose wavelength exceeds original_max_len / low_freq_factor divided by
// factor, those under original_max_len / high_freq_factor kept, a linear blend between.
struct Llama3Scaling {
  double factor = 8.0;
  double low_freq_factor = 1.0;
  double high_freq_factor = 4.0;
  int64_t original_max_len = 8192;
};

// The caller's own inverse frequencies, in radians per position, one per rotated pair.
struct ExplicitFrequencies {
  std::vector<double> inverse_frequencies = {};
};

// monostate: no scaling.
using RopeScaling =
    std::variant<std::monostate, LinearScaling, Llama3Scaling, ExplicitFrequencies>;

// The physical form of a rotary table; n = rotary_dim / 2 pairs, d = rotary_dim, L rows. All hold the
// same numbers (encodings of Su et al. 2021); the systems that use each form stand behind it.
enum class RopeLayout : uint8_t {
  kSplitHalf = 1,           // cos [L, n], sin [L, n]: FlashAttention, gpt-oss
  kSplitDuplicated = 2,     // cos [L, d], sin [L, d], c0…c(n-1) c0…c(n-1): Hugging Face Llama
  kSplitRepeated = 3,       // cos [L, d], sin [L, d], c0 c0 c1 c1 …: Cohere, FLUX
  kCosSin = 4,              // table [L, 2n], cosines then sines: vLLM, FlashInfer
  kCosSinDuplicated = 5,    // table [L, 2d], duplicated cosines then sines: torchtune
  kSinCos = 6,              // table [L, 2n], sines then cosines: GPT-J, CodeGen
  kSinCosRepeated = 7,      // table [L, 2d], repeated sines then cosines: timm
  kPairs = 8,               // table [L, n, 2], (cos, sin): TensorRT-LLM, torchtune
  kPairsDuplicated = 9,     // table [L, d, 2], the pairs twice: TensorRT-LLM duplicate_data
  kComplex = 10,            // table [L, n] complex, cos + i·sin: Llama 4, DeepSeek-V2
  kAngles = 11,             // angles [L, n]: rotary-embedding-torch, Megatron
  kAnglesDuplicated = 12,   // angles [L, d], halves: Megatron
  kAnglesRepeated = 13,     // angles [L, d], each twice: x-transformers
  kFrequencies = 14,        // inverse_frequencies [n], one row: Hugging Face inv_freq
  kPeriods = 15,            // periods [n] = 1 / inverse frequency, one row: MLX
};

// Rotary table (Su et al. 2021): angle(p, i) = p · base^(-2i / rotary_dim), i < rotary_dim / 2.
struct RopeSpec {
  int64_t head_dim = 0;       // required, even, 2 … kMaxWidth
  int64_t rotary_dim = 0;     // 0: head_dim. Leading dimensions that rotate, even
  int64_t max_len = 5000;     // rows
  double base = 10000.0;
  RopeScaling scaling = std::monostate();
  RopeLayout layout = RopeLayout::kSplitHalf;
  int64_t first_position = 0;  // position of row 0
};

}  // namespace posenc

#endif  // POSENC_SERVER_CORE_ROPE_SPEC_H_
