#include "server/encodings/table_generator.h"

#include <mpfr.h>

#include <variant>

#include "server/core/specs/normalize.h"
#include "server/encodings/bias/alibi.h"
#include "server/encodings/bias/relative_bias.h"
#include "server/encodings/bias/relative_bucket.h"
#include "server/encodings/float32/float32_tables.h"
#include "server/encodings/learned/learned.h"
#include "server/encodings/phasor_tables.h"
#include "server/encodings/query_temperature.h"

namespace posenc {
namespace {

using Generator = std::shared_ptr<const TableGenerator>;
using Result = absl::StatusOr<Generator>;

// What is made of a spec besides its family.
struct Context {
  const TableSpec& spec;
  const TensorCatalog& catalog;
  ElementType type() const { return spec.element_type; }
  bool exact() const { return spec.arithmetic == Arithmetic::kExact; }
};

// MPFR keeps constants (pi, log 2) for each thread, and leaves them behind when the thread ends.
class ThreadConstants {
 public:
  // Constructed by the first use in a thread, so that the thread's end destroys it.
  void Use() { used_ = true; }
  ~ThreadConstants() {
    if (used_) mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
  }

 private:
  bool used_ = false;
};

Result Make(const SinusoidalSpec& spec, const Context& context) {
  return context.exact() ? MakeExactSinusoidal(spec, context.type())
                         : MakeFloat32Sinusoidal(spec, context.type());
}

Result Make(const RopeSpec& spec, const Context& context) {
  return context.exact() ? MakeExactRope(spec, context.type())
                         : MakeFloat32Rope(spec, context.type(), context.spec.arithmetic);
}

Result Make(const AlibiSpec& spec, const Context& context) {
  return std::make_shared<AlibiGenerator>(spec, context.type());
}

Result Make(const GridSinusoidalSpec& spec, const Context& context) {
  return context.exact() ? MakeExactGridSinusoidal(spec, context.type())
                         : MakeFloat32GridSinusoidal(spec, context.type());
}

Result Make(const LearnedSpec& spec, const Context& context) {
  return MakeLearned(spec, context.type(), context.catalog);
}

Result Make(const RelativeBucketSpec& spec, const Context& context) {
  return MakeRelativeBucket(spec, context.type(), context.catalog);
}

Result Make(const RelativeBiasSpec& spec, const Context& context) {
  return std::make_shared<RelativeBiasGenerator>(spec, context.type());
}

Result Make(const QueryTemperatureSpec& spec, const Context& context) {
  return std::make_shared<QueryTemperatureGenerator>(spec, context.type());
}

}  // namespace

absl::StatusOr<Generator> MakeTableGenerator(const TableSpec& normalized, const TensorCatalog& catalog) {
  if (absl::Status target = CheckKernelTargetOfEnvironment(); !target.ok()) return target;
  // Normalising is cheap and idempotent, and refuses whatever the arithmetic is not proven for.
  absl::StatusOr<TableSpec> spec = Normalize(normalized);
  if (!spec.ok()) return spec.status();
  if (absl::Status bound = BindTensors(catalog, *spec); !bound.ok()) return bound;
  thread_local ThreadConstants constants;
  constants.Use();
  const Context context{*spec, catalog};
  return std::visit([&](const auto& family) { return Make(family, context); }, spec->family);
}

}  // namespace posenc
