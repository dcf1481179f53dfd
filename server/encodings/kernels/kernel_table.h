// The kernels of one target as a table of functions, and the choice between targets.
//
// tile.cc compiles tile-inl.h for every target of this architecture's dynamic dispatch;
// tile_scalar.cc compiles it once more for Highway's scalar target, which dispatch includes with
// some compilers only. Threads: the choice is made once, at the first use, and may be forced
// before; reads are atomic.

#ifndef POSENC_SERVER_ENCODINGS_KERNELS_KERNEL_TABLE_H_
#define POSENC_SERVER_ENCODINGS_KERNELS_KERNEL_TABLE_H_

#include <string>
#include <vector>

#include "server/encodings/kernels/products.h"
#include "server/encodings/kernels/tile.h"

namespace posenc {

struct KernelTable {
  size_t (*write_tile)(ElementType type, const TileArgs& args);
  void (*set_anchors)(const ReducedAngles& angles, Factor magnitude, int64_t pairs,
                      Anchors& anchors);
  void (*advance_anchors)(ElementType type, const PhasorArrays& step, const double* sin_bound,
                          double magnitude, int64_t pairs, Anchors& anchors);
  void (*fill_powers)(const PhasorArrays& first, int64_t pairs, int reach, int64_t stride,
                      int64_t low_stride, const PhasorRows& out);
  size_t (*write_cos_sin)(const float* angles, size_t count, float* cos, float* sin,
                          uint32_t* undecided);
  size_t (*write_products)(ElementType type, const ProductArgs& args);
};

struct NamedKernels {
  std::string name;
  KernelTable table;
};

// The vector targets that this CPU can run, best first (tile.cc), and the scalar one
// (tile_scalar.cc).
std::vector<NamedKernels> VectorKernelTargets();
NamedKernels ScalarKernelTarget();

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_KERNELS_KERNEL_TABLE_H_
