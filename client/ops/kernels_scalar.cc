// ops_kernels-inl.h for Highway's scalar target: one lane, no vector instruction.

#define HWY_COMPILE_ONLY_SCALAR
#include "client/ops/kernels-inl.h"
#include "client/ops/kernels.h"
#include "hwy/highway.h"

namespace posenc {

NamedOpsKernels ScalarOpsKernels() { return {"SCALAR", HWY_STATIC_DISPATCH(GetOpsKernels)()}; }

}  // namespace posenc
