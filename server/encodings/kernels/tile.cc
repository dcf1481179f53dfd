#include "server/encodings/kernels/tile.h"

#include <vector>

// Every CPU that is left has SSE4 where it has SSSE3.
#define HWY_DISABLED_TARGETS HWY_SSSE3

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "server/encodings/kernels/tile.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "server/encodings/kernels/kernel_table.h"
#include "server/encodings/kernels/tile-inl.h"

#if HWY_ONCE
namespace posenc {
namespace {

HWY_EXPORT(GetKernelTable);

}  // namespace

std::vector<NamedKernels> VectorKernelTargets() {
  std::vector<NamedKernels> result;
  for (int64_t target : hwy::SupportedAndGeneratedTargets()) {
    if (target == HWY_SCALAR)
      continue;  // the fallback of some compilers; tile_scalar.cc has it always
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    result.push_back({hwy::TargetName(target), HWY_DYNAMIC_DISPATCH(GetKernelTable)()});
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  return result;
}

}  // namespace posenc
#endif  // HWY_ONCE
