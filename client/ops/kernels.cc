#include "client/ops/kernels.h"

#include <vector>

#include "server/encodings/table_generator.h"

// Every CPU that is left has SSE4 where it has SSSE3.
#define HWY_DISABLED_TARGETS HWY_SSSE3

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "client/ops/kernels.cc"
#include "hwy/foreach_target.h"  // before what it is to compile again
// clang-format off
#include "client/ops/kernels-inl.h"
// clang-format on

#if HWY_ONCE
namespace posenc {
namespace {

HWY_EXPORT(GetOpsKernels);

}  // namespace

std::vector<NamedOpsKernels> VectorOpsKernels() {
  std::vector<NamedOpsKernels> result;
  for (int64_t target : hwy::SupportedAndGeneratedTargets()) {
    if (target == HWY_SCALAR) continue;  // ops_kernels_scalar.cc has it always
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    result.push_back({hwy::TargetName(target), HWY_DYNAMIC_DISPATCH(GetOpsKernels)()});
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  return result;
}

const OpsKernels& CurrentOpsKernels() {
  // The generator's targets come first: finding them changes what Highway believes of the CPU for a
  // moment.
  const std::string target = KernelTarget();
  static const auto* const all = [] {
    auto* kernels = new std::vector<NamedOpsKernels>(VectorOpsKernels());
    kernels->push_back(ScalarOpsKernels());
    return kernels;
  }();
  for (const NamedOpsKernels& named : *all) {
    if (named.name == target) return named.kernels;
  }
  return all->back().kernels;
}

}  // namespace posenc
#endif  // HWY_ONCE
