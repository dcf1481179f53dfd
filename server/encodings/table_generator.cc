#include "server/encodings/table_generator.h"

#include <variant>

#include "server/core/normalize.h"
#include "server/encodings/alibi.h"
#include "server/encodings/phasor_generator.h"
#include "server/encodings/product_generator.h"
#include "server/encodings/rope.h"
#include "server/encodings/sinusoidal.h"

namespace posenc {
namespace {

using Result = std::shared_ptr<const TableGenerator>;

Result Make(const SinusoidalSpec& spec, ElementType type) {
  return std::make_shared<PhasorGenerator>(DescribeSinusoidal(spec, type));
}

Result Make(const RopeSpec& spec, ElementType type) {
  if (HoldsAngles(spec.layout)) {
    return std::make_shared<ProductGenerator>(DescribeRopeAngles(spec, type));
  }
  return std::make_shared<PhasorGenerator>(DescribeRope(spec, type));
}

Result Make(const AlibiSpec& spec, ElementType type) {
  return std::make_shared<AlibiGenerator>(spec, type);
}

}  // namespace

absl::StatusOr<Result> MakeTableGenerator(const TableSpec& normalized) {
  if (absl::Status target = CheckKernelTargetOfEnvironment(); !target.ok()) return target;
  // Normalising is cheap and idempotent, and refuses whatever the arithmetic is not proven for.
  absl::StatusOr<TableSpec> spec = Normalize(normalized);
  if (!spec.ok()) return spec.status();
  return std::visit([&](const auto& family) { return Make(family, spec->element_type); },
                    spec->family);
}

}  // namespace posenc
