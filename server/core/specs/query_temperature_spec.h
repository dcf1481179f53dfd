// The parameters of a query temperature. A value; spec.h says what holds for all specs.

#ifndef POSENC_SERVER_CORE_SPECS_QUERY_TEMPERATURE_SPEC_H_
#define POSENC_SERVER_CORE_SPECS_QUERY_TEMPERATURE_SPEC_H_

#include <cstdint>

#include "absl/status/status.h"
#include "server/core/limits.h"
#include "server/core/specs/field.h"

namespace posenc {

// Factor on a query by its position p: 1 + scale · ln(1 + ⌊(p + position_offset) / floor_len⌋). Llama 4's
// layers without rotation (Meta 2025) have offset 1, scale 0.1 and floor_len 8192; Ministral 3 has offset
// 0, scale llama_4_scaling_beta and the original context. Table "scale" [max_len, 1].
struct QueryTemperatureSpec {
  static constexpr absl::string_view kName = "query_temperature";

  int64_t max_len = 5000;      // rows
  double scale = 0.1;          // 0.1 is taken to be 1/10
  int64_t floor_len = 8192;    // positions over which the factor is constant
  int64_t position_offset = 0;
  int64_t first_position = 0;  // position of row 0

  template <typename Self, typename Visit>
  static void Fields(Self& self, Visit&& visit) {
    using namespace limits;
    visit(Field{.name = "max_len", .help = "Rows", .low = 1, .high = kMaxPosition}, self.max_len);
    visit(Field{.name = "scale", .help = "Factor on the logarithm", .low = 0, .high = kMaxRowScale},
          self.scale);
    visit(Field{.name = "floor_len", .help = "Positions over which the factor is constant", .low = 1,
                .high = kMaxPosition}, self.floor_len);
    visit(Field{.name = "position_offset", .help = "Added to positions: 1 in Llama 4, 0 in Ministral 3",
                .low = 0, .high = kMaxPosition}, self.position_offset);
    visit(Field{.name = "first_position", .help = "Position of row 0", .low = 0, .high = kMaxPosition},
          self.first_position);
  }
};

absl::Status NormalizeFamily(QueryTemperatureSpec& spec);

}  // namespace posenc

#endif  // POSENC_SERVER_CORE_SPECS_QUERY_TEMPERATURE_SPEC_H_
