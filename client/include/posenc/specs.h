// What table a caller wants: the specs under the names of this library.
//
//   posenc::Sinusoidal{.d_model = 512}
//   posenc::Rope{.head_dim = 128, .max_len = 131072, .base = 500000.0}
//   posenc::Rope{.head_dim = 128, .scaling = posenc::Llama3Scaling{.factor = 8.0}}
//   posenc::Alibi{.heads = 12, .form = posenc::AlibiForm::kSymmetric}
//
// They are plain values whose defaults are the fields' own defaults; each field is explained where the
// struct is. Specs are checked where the table is made: a wrong one is answered with InvalidArgument, and
// FieldViolationsOf(status) names every field that is wrong.

#ifndef POSENC_SPECS_H_
#define POSENC_SPECS_H_

#include <type_traits>
#include <utility>

#include "server/core/element_type.h"
#include "server/core/selection.h"
#include "server/core/specs/spec.h"
#include "server/core/violations.h"

namespace posenc {
inline namespace client_v1 {

using Sinusoidal = SinusoidalSpec;
using Rope = RopeSpec;
using Alibi = AlibiSpec;
using Learned = LearnedSpec;
using GridSinusoidal = GridSinusoidalSpec;
using RelativeBucket = RelativeBucketSpec;
using RelativeBias = RelativeBiasSpec;
using QueryTemperature = QueryTemperatureSpec;

// Whatever a call takes where it asks for a table: a family's spec, alone or with an element type, or a
// whole TableSpec (from ResolveModel, say). Implicit on purpose:
//
//   client.Get(posenc::Rope{.head_dim = 128});
//   client.Get({posenc::Rope{.head_dim = 128}, posenc::ElementType::kBF16});
class TableRequest {
 public:
  template <typename Family>
    requires std::is_constructible_v<FamilySpec, std::remove_cvref_t<Family>>
  TableRequest(Family&& spec, ElementType type = ElementType::kUnspecified,  // NOLINT
               Arithmetic arithmetic = Arithmetic::kExact)
      // Straight to its place: a spec is half a KB, and a near cache's answer takes as long as moving it.
      : spec_{FamilySpec(std::forward<Family>(spec)), type, arithmetic} {}
  TableRequest(TableSpec spec) : spec_(std::move(spec)) {}  // NOLINT

  const TableSpec& spec() const { return spec_; }

 private:
  TableSpec spec_;
};

}  // namespace client_v1
}  // namespace posenc

#endif  // POSENC_SPECS_H_
