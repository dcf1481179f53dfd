// Cosines and sines of float angles, correctly rounded to float: the kernel of float32 pipelines.
//
// The vector part computes in double and tests the rounding; what it cannot decide (about one cell in 10^5,
// and angles beyond ±2^26) it lists, for the caller to redo (float32/rounded_math.h). Decided cells are the
// nearest floats, so every target writes the same bits. Pure; safe from any thread.

#ifndef POSENC_SERVER_ENCODINGS_KERNELS_COS_SIN_H_
#define POSENC_SERVER_ENCODINGS_KERNELS_COS_SIN_H_

#include <cstddef>
#include <cstdint>

namespace posenc {

// What the arrays must have beyond `count`: a last vector is read and written whole.
inline constexpr size_t kCosSinPadding = 16;

// Writes cos and sin of `count` angles and the indices of undecided ones, at most count; returns how many.
size_t WriteCosSin(const float* angles, size_t count, float* cos, float* sin, uint32_t* undecided);

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_KERNELS_COS_SIN_H_
