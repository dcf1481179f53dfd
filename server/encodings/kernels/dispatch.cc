#include <atomic>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/encodings/kernels/cos_sin.h"
#include "server/encodings/kernels/kernel_table.h"
#include "server/encodings/table_generator.h"

namespace posenc {
namespace {

const std::vector<NamedKernels>& Targets() {
  static const auto* const targets = [] {
    auto* all = new std::vector<NamedKernels>(VectorKernelTargets());
    all->push_back(ScalarKernelTarget());
    return all;
  }();
  return *targets;
}

const NamedKernels* Find(absl::string_view name) {
  for (const NamedKernels& target : Targets()) {
    if (absl::EqualsIgnoreCase(target.name, name)) return &target;
  }
  return nullptr;
}

constexpr char kVariable[] = "POSENC_KERNEL_TARGET";

// The best target, unless the environment names another one that this CPU has.
const NamedKernels* Initial() {
  const char* wanted = std::getenv(kVariable);
  const NamedKernels* found = wanted == nullptr ? nullptr : Find(wanted);
  return found == nullptr ? &Targets().front() : found;
}

absl::Status NotAvailable(absl::string_view what, absl::string_view name) {
  return absl::InvalidArgumentError(
      absl::StrCat(what, " '", name, "' is not available; allowed: ",
                   absl::StrJoin(SupportedKernelTargets(), ", ")));
}

std::atomic<const NamedKernels*>& Current() {
  static std::atomic<const NamedKernels*> current{Initial()};
  return current;
}

const KernelTable& Kernels() { return Current().load(std::memory_order_acquire)->table; }

}  // namespace

size_t WriteTile(ElementType type, const TileArgs& args) {
  return Kernels().write_tile(type, args);
}

void SetAnchors(const ReducedAngles& angles, Factor magnitude, int64_t pairs, Anchors& anchors) {
  Kernels().set_anchors(angles, magnitude, pairs, anchors);
}

void AdvanceAnchors(ElementType type, const PhasorArrays& step, const double* sin_bound,
                    double magnitude, int64_t pairs, Anchors& anchors) {
  Kernels().advance_anchors(type, step, sin_bound, magnitude, pairs, anchors);
}

void FillPowers(const PhasorArrays& first, int64_t pairs, int reach, int64_t stride,
                int64_t low_stride, const PhasorRows& out) {
  Kernels().fill_powers(first, pairs, reach, stride, low_stride, out);
}

size_t WriteCosSin(const float* angles, size_t count, float* cos, float* sin, uint32_t* undecided) {
  return Kernels().write_cos_sin(angles, count, cos, sin, undecided);
}

size_t WriteProducts(ElementType type, const ProductArgs& args) {
  return Kernels().write_products(type, args);
}

std::string KernelTarget() { return Current().load(std::memory_order_acquire)->name; }

absl::Status ForceKernelTarget(absl::string_view name) {
  const NamedKernels* found = Find(name);
  if (found == nullptr) return NotAvailable("kernel target", name);
  Current().store(found, std::memory_order_release);
  return absl::OkStatus();
}

absl::Status CheckKernelTargetOfEnvironment() {
  const char* wanted = std::getenv(kVariable);
  if (wanted == nullptr || Find(wanted) != nullptr) return absl::OkStatus();
  return NotAvailable(kVariable, wanted);
}

std::vector<std::string> SupportedKernelTargets() {
  std::vector<std::string> names;
  for (const NamedKernels& target : Targets()) names.push_back(target.name);
  return names;
}

}  // namespace posenc
