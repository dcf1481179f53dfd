// The parameters of a sinusoidal table. A value; spec.h says what holds for all specs.

#ifndef POSENC_SERVER_CORE_SPECS_SINUSOIDAL_SPEC_H_
#define POSENC_SERVER_CORE_SPECS_SINUSOIDAL_SPEC_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "server/core/limits.h"
#include "server/core/specs/field.h"

namespace posenc {

// Where sines and cosines stand in a sinusoidal row: s0 c0 s1 c1 …, all sines first, all cosines first.
enum class SinusoidalOrder : uint8_t { kInterleaved = 1, kSinCos = 2, kCosSin = 3 };
constexpr auto EnumNames(SinusoidalOrder) {
  return std::to_array<absl::string_view>({"interleaved", "sin-cos", "cos-sin"});
}

// What an odd d_model means; systems differ. K is floor(d_model / 2).
//  kZeroColumn    K sines, K cosines, then one zero column (fairseq, tensor2tensor, diffusers).
//  kExtraSine     one sine more than cosines, exponents over the odd width (Marian, DistilBERT).
//  kDropCosine    computed for d_model + 1, last column cut off (positional-encodings).
enum class OddWidth : uint8_t { kReject = 1, kZeroColumn = 2, kExtraSine = 3, kDropCosine = 4 };
constexpr auto EnumNames(OddWidth) {
  return std::to_array<absl::string_view>({"reject", "zero-column", "extra-sine", "drop-cosine"});
}

// Sinusoidal table [max_len, d_model] (Vaswani et al. 2017, section 3.5): with K pairs and position p,
// angle(p, k) = position_scale · p · base^(-k / D), sin and cos of it times row_scale, where
// D = d_model / 2 for frequency_shift 0 and D = K − frequency_shift otherwise (1: the last frequency is
// exactly 1/base, as in tensor2tensor and fairseq). Timestep embeddings of diffusion models are rows of
// it at real positions (Selection::real_positions).
struct SinusoidalSpec {
  static constexpr absl::string_view kName = "sinusoidal";

  int64_t d_model = 0;      // required, 1 … kMaxWidth
  int64_t max_len = 5000;   // rows
  double base = 10000.0;
  SinusoidalOrder order = SinusoidalOrder::kInterleaved;
  double frequency_shift = 0.0;
  // Absent: kZeroColumn for kCosSin, and for kSinCos with a shift; kExtraSine for kSinCos without one;
  // kReject for kInterleaved. Normalised away (kReject) for an even width.
  std::optional<OddWidth> odd_width = std::nullopt;
  // Raises a denominator K − frequency_shift below 1 to 1, as tensor2tensor does. Without it a width
  // whose denominator is 0 or less is refused.
  bool clamp_denominator = false;
  int64_t first_position = 0;           // position of row 0
  std::optional<int64_t> zero_row = std::nullopt;  // row that is all zero (fairseq's padding row)
  double position_scale = 1.0;
  double row_scale = 1.0;               // times sqrt(2/d_model) in MLX
  bool full_turns = false;              // angles times 2π (MLX, Fourier features)
  bool descending = false;              // row r is position first_position − r (Transformer-XL, Conformer)
  // The caller's own frequencies instead of the base's, one for each pair (Gaussian Fourier features).
  std::vector<double> inverse_frequencies = {};

  template <typename Self, typename Visit>
  static void Fields(Self& self, Visit&& visit) {
    using namespace limits;
    visit(Field{.name = "d_model", .help = "Width of a row", .low = 1, .high = kMaxWidth, .required = true},
          self.d_model);
    visit(Field{.name = "max_len", .help = "Rows", .low = 1, .high = kMaxPosition}, self.max_len);
    visit(Field{.name = "base", .help = "Base of the frequencies", .low = kMinBase, .high = kMaxBase},
          self.base);
    visit(Field{.name = "order", .help = "Where sines and cosines stand"}, self.order);
    visit(Field{.name = "frequency_shift", .help = "0 as in the paper; 1 makes the last frequency 1/base",
                .low = 0, .high = 1024}, self.frequency_shift);
    visit(Field{.name = "odd_width", .help = "What an odd width means"}, self.odd_width);
    visit(Field{.name = "clamp_denominator", .help = "Raises a denominator below 1 to 1 (tensor2tensor)"},
          self.clamp_denominator);
    visit(Field{.name = "first_position", .help = "Position of row 0", .low = -kMaxPosition,
                .high = kMaxPosition}, self.first_position);
    visit(Field{.name = "zero_row", .help = "A row of zeros (fairseq's padding row)", .low = 0,
                .high = kMaxPosition}, self.zero_row);
    visit(Field{.name = "position_scale", .help = "Factor on positions", .low = kMinFrequency,
                .high = kMaxFrequency}, self.position_scale);
    visit(Field{.name = "row_scale", .help = "Factor on the numbers", .low = kMinRowScale,
                .high = kMaxRowScale}, self.row_scale);
    visit(Field{.name = "full_turns", .help = "Angles times 2 pi (MLX, Fourier features)", .later = true},
          self.full_turns);
    visit(Field{.name = "descending", .help = "Positions fall from row to row (Transformer-XL, Conformer)",
                .later = true}, self.descending);
    visit(Field{.name = "inverse_frequencies", .help = "Your own, one for each pair (Fourier features)",
                .low = 0, .high = kMaxFrequency, .later = true}, self.inverse_frequencies);
  }
};

// Checks what fields mean together and fills in defaults that depend on others; see Normalize.
absl::Status NormalizeFamily(SinusoidalSpec& spec);

}  // namespace posenc

#endif  // POSENC_SERVER_CORE_SPECS_SINUSOIDAL_SPEC_H_
