// The inner loops of ops.h, for each instruction set, and the choice between them.
//
// ops_kernels.cc compiles ops_kernels-inl.h for every target of this architecture's dynamic
// dispatch, ops_kernels_scalar.cc once more for Highway's scalar target. Every target does the same
// operations in the same order on each element, without fused ones, so that all give the same bits.
//
// Requires, of all functions: element types F32, F16 or BF16, and memory as large as told.
// Threads: pure functions.

#ifndef POSENC_CLIENT_OPS_KERNELS_H_
#define POSENC_CLIENT_OPS_KERNELS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "posenc/ops.h"

namespace posenc {

// to[i] = x_scale · x[i] + addend[i], times factor[i] where there are factors; 0 where one is 0.
struct AddArgs {
  const void* x;
  void* to;  // may be x
  int64_t size;
  const float* addend;
  const float* factor;  // or null
  float x_scale;
};

// Rotates the pairs of `heads` vectors, the first of which begins at x, by the same angles.
struct RotateArgs {
  void* x;
  const float* cos;
  const float* sin;
  int64_t pairs;
  int64_t heads;
  int64_t stride;  // elements from one vector to the next
};

// scores[k] = scale · scores[k] + slope · d(k − origin), where d cuts the distance as the form
// says. Keys and origins are below 2^24, so that distances are exact in F32.
enum class Distance : uint8_t { kSigned, kAtMostZero, kMasked, kNegativeMagnitude };
struct AlibiArgs {
  void* scores;
  int64_t keys;
  float scale;
  float slope;
  float origin;
  Distance distance;
};

struct OpsKernels {
  void (*widen)(ElementType type, const void* from, int64_t size, float* to);
  void (*add)(ElementType type, const AddArgs& args);
  void (*rotate)(ElementType type, Pairing pairing, const RotateArgs& args);
  void (*add_alibi)(ElementType type, const AlibiArgs& args);
};

struct NamedOpsKernels {
  std::string name;
  OpsKernels kernels;
};

// The vector targets that this CPU can run (ops_kernels.cc), and the scalar one
// (ops_kernels_scalar.cc).
std::vector<NamedOpsKernels> VectorOpsKernels();
NamedOpsKernels ScalarOpsKernels();

// The kernels of the target that the tables are generated with, see KernelTarget.
const OpsKernels& CurrentOpsKernels();

}  // namespace posenc

#endif  // POSENC_CLIENT_OPS_KERNELS_H_
