// The parameters of a rotary (RoPE) table. A value; spec.h says what holds for all specs.

#ifndef POSENC_SERVER_CORE_SPECS_ROPE_SPEC_H_
#define POSENC_SERVER_CORE_SPECS_ROPE_SPEC_H_

#include <array>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "server/core/limits.h"
#include "server/core/specs/field.h"
#include "server/core/specs/grid.h"
#include "server/core/specs/rope_axes.h"
#include "server/core/specs/rope_scaling.h"
#include "server/core/specs/rope_variants.h"

namespace posenc {

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
  kSplitAxisDuplicated = 16,  // cos [L, d], sin [L, d], duplicated axis by axis: Gemma 4 vision, Allegro
};
constexpr auto EnumNames(RopeLayout) {
  return std::to_array<absl::string_view>(
      {"split-half", "split-duplicated", "split-repeated", "cos-sin", "cos-sin-duplicated", "sin-cos",
       "sin-cos-repeated", "pairs", "pairs-duplicated", "complex", "angles", "angles-duplicated",
       "angles-repeated", "frequencies", "periods", "split-axis-duplicated"});
}

// Rotary table (Su et al. 2021): angle(p, i) = p · base^(-2i / rotary_dim), i < rotary_dim / 2.
struct RopeSpec {
  static constexpr absl::string_view kName = "rope";

  int64_t head_dim = 0;       // required, 2 … kMaxWidth; even unless rotary_dim is given
  int64_t rotary_dim = 0;     // 0: head_dim. Dimensions that rotate, even; which ones is the model's matter
  int64_t max_len = 5000;     // rows; a grid has its own
  double base = 10000.0;
  RopeScaling scaling = std::monostate();
  RopeLayout layout = RopeLayout::kSplitHalf;
  int64_t first_position = 0;  // position of row 0
  // Length of the sequence that the table is for: kDynamic and kLongRope scaling depend on it. Absent: not
  // longer than the trained length. Normalised away where nothing depends on it.
  std::optional<int64_t> effective_length = std::nullopt;
  // Factor on every cosine and sine, instead of the one that the scaling implies.
  std::optional<double> attention_factor = std::nullopt;
  std::optional<XPos> xpos = std::nullopt;
  std::optional<RopeAxes> axes = std::nullopt;
  std::optional<Grid> grid = std::nullopt;  // rows are its cells; needs axes
  std::optional<DualChunk> dual_chunk = std::nullopt;

  template <typename Self, typename Visit>
  static void Fields(Self& self, Visit&& visit) {
    using namespace limits;
    visit(Field{.name = "head_dim", .help = "Dimensions of a head", .low = 2, .high = kMaxWidth,
                .required = true}, self.head_dim);
    visit(Field{.name = "rotary_dim", .help = "Dimensions that rotate; 0: head_dim", .low = 0,
                .high = kMaxWidth}, self.rotary_dim);
    visit(Field{.name = "max_len", .help = "Rows", .low = 1, .high = kMaxPosition}, self.max_len);
    visit(Field{.name = "base", .help = "Base of the frequencies, rope_theta", .low = kMinBase,
                .high = kMaxBase}, self.base);
    visit(Field{.name = "scaling", .help = "How frequencies are stretched for longer contexts"},
          self.scaling);
    visit(Field{.name = "layout", .help = "Form of the table"}, self.layout);
    visit(Field{.name = "first_position", .help = "Position of row 0", .low = -kMaxPosition,
                .high = kMaxPosition}, self.first_position);
    visit(Field{.name = "effective_length", .help = "Length of the sequence (dynamic, longrope)", .low = 1,
                .high = kMaxPosition, .later = true}, self.effective_length);
    visit(Field{.name = "attention_factor", .help = "Factor on cos and sin instead of the scaling's own",
                .low = kMinRowScale, .high = kMaxRowScale, .later = true}, self.attention_factor);
    visit(Field{.name = "xpos", .help = "xPos scales of queries and keys", .later = true}, self.xpos);
    visit(Field{.name = "axes", .help = "Several position axes (M-RoPE, vision)", .later = true}, self.axes);
    visit(Field{.name = "grid", .help = "Rows are the cells of a grid", .later = true}, self.grid);
    visit(Field{.name = "dual_chunk", .help = "One of the five tables of dual chunk attention",
                .later = true}, self.dual_chunk);
  }
};

absl::Status NormalizeFamily(RopeSpec& spec);

}  // namespace posenc

#endif  // POSENC_SERVER_CORE_SPECS_ROPE_SPEC_H_
