// tile-inl.h for Highway's scalar target: one lane, no vector instruction, no fused multiply-add.

#define HWY_COMPILE_ONLY_SCALAR
#include "hwy/highway.h"
#include "server/encodings/kernels/kernel_table.h"
#include "server/encodings/kernels/tile-inl.h"

namespace posenc {

NamedKernels ScalarKernelTarget() { return {"SCALAR", HWY_STATIC_DISPATCH(GetKernelTable)()}; }

}  // namespace posenc
