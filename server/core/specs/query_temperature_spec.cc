#include "server/core/specs/query_temperature_spec.h"

#include "server/core/specs/field_checks.h"

namespace posenc {

absl::Status NormalizeFamily(QueryTemperatureSpec& spec) {
  Violations bad;
  CheckRows("query_temperature", spec.max_len, spec.first_position, bad);
  return bad.ToStatus();
}

}  // namespace posenc
