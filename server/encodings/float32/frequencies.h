// The inverse frequencies of tables as float32 pipelines compute them, step by step.
//
// A model's table differs from the exact one because each step rounds to float32; to have its numbers one
// must take its steps in its order. Those taken here are the ones of the public systems (the golden data hold
// what their real code returned); scalars that Python computes before a tensor is touched are doubles, as
// there. torch's scalar / tensor is reciprocal(tensor) · scalar, and so it is here.
//
//  kFloat32          transformers: 1 / pow(base, 2i/d), then the scaling's own steps.
//  kFloat32Vllm      the same, but linear scaling divides positions.
//  kFloat32Mlx       mlx: exp(−i · (ln(base)/n)), linear scaling multiplies positions by 1/s; mlx-lm's
//                    periods pow(base, 2i/d) and their reciprocals with scalings of each pair by itself.
//  kFloat32TensorRt  TensorRT-LLM: the power in double, rounded, then its reciprocal.
//  kFloat32Ggml      running_angles.h; here the angle at position 1.
//
// Powers, exponentials and logarithms are correctly rounded (rounded_math.h); those of a framework are within
// one unit of that. Requires everywhere: the spec is normalised. Pure functions, safe from any thread.

#ifndef POSENC_SERVER_ENCODINGS_FLOAT32_FREQUENCIES_H_
#define POSENC_SERVER_ENCODINGS_FLOAT32_FREQUENCIES_H_

#include <cstdint>
#include <vector>

#include "server/core/specs/grid_sinusoidal_spec.h"
#include "server/core/specs/rope_spec.h"
#include "server/core/specs/sinusoidal_spec.h"
#include "server/core/specs/spec.h"

namespace posenc {

// The angle of a pair is ((p / divisor) · factor) · w_k · angle_factor, each operation rounded to float32; a
// factor of 1 changes nothing.
struct AngleSteps {
  std::vector<float> frequencies;
  float position_divisor = 1;
  float position_factor = 1;
  float angle_factor = 1;
};

// What a spectrum is made of: pair k of `pairs`, width 2·pairs.
struct Spectrum {
  int64_t pairs = 0;
  double base = 10000.0;
};

// Returns pow(base, 2k/d) for every pair, by the arithmetic's power. kFloat32Ggml has none.
std::vector<float> Powers(const Spectrum& spectrum, Arithmetic arithmetic);

// Returns a rotary table's steps, its frequencies in the order of the pairs.
// Requires: the arithmetic is kFloat32, kFloat32Vllm, kFloat32Mlx or kFloat32TensorRt.
AngleSteps RopeSteps(const RopeSpec& spec, Arithmetic arithmetic);

// The base that NTK scalings raise, in double as Python has it; the spec's own for all others.
double EffectiveBase(const RopeSpec& spec);

// Frequencies of mlx-lm's classes for the scalings that have periods; empty for all others.
std::vector<float> MlxFrequencies(const RopeSpec& spec);

// The ramp of YaRN over `pairs` pairs, 0 … 1, in float32 from ends in double.
std::vector<float> YarnRampF32(const YarnScaling& scaling, int64_t rotary_dim, double base);

// Returns a sinusoidal table's steps. The pipeline follows from the fields:
//  odd width kDropCosine           positional-encodings: 1 / pow(base, 2k/d), as grids of one axis have it.
//  cos-sin, or sin-cos without     timestep embeddings (diffusers): exp((−ln(base) · k) / (K − shift)); the
//  a shift of 1                    scale multiplies angles.
//  all others                      fairseq, tensor2tensor, Whisper, the PyTorch tutorial:
//                                  exp(k · (−ln(base)/D)); the scale multiplies frequencies.
AngleSteps SinusoidalSteps(const SinusoidalSpec& spec);

// Returns the steps of one block of a grid table, `pairs` pairs wide (positional-encodings, timm: powers;
// tensor2tensor with a shift: exponentials).
AngleSteps GridSteps(const GridSinusoidalSpec& spec, int64_t pairs);

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_FLOAT32_FREQUENCIES_H_
