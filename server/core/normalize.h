// Checks a spec and fills in what its defaults depend on, so that two spellings of one table become the
// same struct. Pure; safe from any thread.

#ifndef POSENC_SERVER_CORE_NORMALIZE_H_
#define POSENC_SERVER_CORE_NORMALIZE_H_

#include "absl/status/statusor.h"
#include "server/core/spec.h"

namespace posenc {

// Returns the normalised spec: rotary_dim and odd_width set; a scaling that changes nothing (linear or
// llama3 with factor 1) removed, and base set to its default where explicit frequencies replace it; max_len
// and first_position set to their defaults where the table has one row only (frequencies, periods,
// slopes); a zero_row outside the rows removed; −0 turned into 0. Normalising twice changes nothing.
// Errors: InvalidArgument with a violation for every field that is out of its range; paths begin with
// the family, e.g. "rope.head_dim", "rope.linear.factor".
absl::StatusOr<TableSpec> Normalize(const TableSpec& spec);

}  // namespace posenc

#endif  // POSENC_SERVER_CORE_NORMALIZE_H_
