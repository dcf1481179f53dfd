// The parameters of a sinusoidal table. A value; spec.h says what holds for all specs.

#ifndef POSENC_SERVER_CORE_SINUSOIDAL_SPEC_H_
#define POSENC_SERVER_CORE_SINUSOIDAL_SPEC_H_

#include <cstdint>
#include <optional>

namespace posenc {

// Where sines and cosines stand in a sinusoidal row: s0 c0 s1 c1 …, all sines first, all cosines first.
enum class SinusoidalOrder : uint8_t { kInterleaved = 1, kSinCos = 2, kCosSin = 3 };

// What an odd d_model means; systems differ. K is floor(d_model / 2).
//  kZeroColumn    K sines, K cosines, then one zero column (fairseq, tensor2tensor, diffusers).
//  kExtraSine     one sine more than cosines, exponents over the odd width (Marian, DistilBERT).
//  kDropCosine    computed for d_model + 1, last column cut off (positional-encodings).
enum class OddWidth : uint8_t { kReject = 1, kZeroColumn = 2, kExtraSine = 3, kDropCosine = 4 };

// Sinusoidal table [max_len, d_model] (Vaswani et al. 2017, section 3.5): with K pairs and position p,
// angle(p, k) = position_scale · p · base^(-k / D), sin and cos of it times row_scale, where
// D = d_model / 2 for frequency_shift 0 and D = K − frequency_shift otherwise (1: the last frequency is
// exactly 1/base, as in tensor2tensor and fairseq).
struct SinusoidalSpec {
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
};

}  // namespace posenc

#endif  // POSENC_SERVER_CORE_SINUSOIDAL_SPEC_H_
