// What table: the parameters that decide its numbers, as plain structs.
//
// A spec is a value. Its defaults are the field's own defaults, so a spec with only the width set is
// complete. Widths, lengths and positions count elements and rows; base, factors and scales are pure
// numbers; angles are in radians. Normalise (normalize.h) checks a spec and fills in what depends on
// other fields; everything after it sees normalised specs only. proto/posenc/v1 mirrors these structs
// field by field, and the CLI's flags are the field names with dashes (field.h).

#ifndef POSENC_SERVER_CORE_SPECS_SPEC_H_
#define POSENC_SERVER_CORE_SPECS_SPEC_H_

#include <array>
#include <cstdint>
#include <variant>

#include "server/core/element_type.h"
#include "server/core/specs/alibi_spec.h"
#include "server/core/specs/grid_sinusoidal_spec.h"
#include "server/core/specs/learned_spec.h"
#include "server/core/specs/query_temperature_spec.h"
#include "server/core/specs/relative_bias_spec.h"
#include "server/core/specs/relative_bucket_spec.h"
#include "server/core/specs/rope_spec.h"
#include "server/core/specs/sinusoidal_spec.h"

namespace posenc {

// How values are computed.
//  kExact             the formula in real arithmetic, rounded once to the element type.
//  kFloat32           as PyTorch models do: frequency, angle, function and magnitude each rounded to F32,
//                     the frequency by the family's own steps (pow for rotary tables, exp of a logarithm
//                     for sinusoidal ones).
//  kFloat32Vllm       kFloat32, with linear scaling applied to positions instead of frequencies.
//  kFloat32Ggml       kFloat32, with the angle as a running product of one ratio (ggml).
//  kFloat32Mlx        kFloat32, with rotary frequencies by exp of a logarithm (MLX's fused rope).
//  kFloat32TensorRt   kFloat32, with the frequency's power in F64 before it is rounded (TensorRT-LLM).
enum class Arithmetic : uint8_t {
  kExact = 1,
  kFloat32 = 2,
  kFloat32Vllm = 3,
  kFloat32Ggml = 4,
  kFloat32Mlx = 5,
  kFloat32TensorRt = 6,
};
constexpr auto EnumNames(Arithmetic) {
  return std::to_array<absl::string_view>({"exact", "float32", "float32-vllm", "float32-ggml",
                                           "float32-mlx", "float32-tensor-rt"});
}

using FamilySpec = std::variant<SinusoidalSpec, RopeSpec, AlibiSpec, LearnedSpec, GridSinusoidalSpec,
                                RelativeBucketSpec, RelativeBiasSpec, QueryTemperatureSpec>;

// One table.
struct TableSpec {
  FamilySpec family = {};
  ElementType element_type = ElementType::kUnspecified;
  Arithmetic arithmetic = Arithmetic::kExact;
};

}  // namespace posenc

#endif  // POSENC_SERVER_CORE_SPECS_SPEC_H_
