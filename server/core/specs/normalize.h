// Checks a spec and fills in what its defaults depend on, so that two spellings of one table become the
// same struct. Pure; safe from any thread.

#ifndef POSENC_SERVER_CORE_SPECS_NORMALIZE_H_
#define POSENC_SERVER_CORE_SPECS_NORMALIZE_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/core/specs/spec.h"
#include "server/core/tensor_catalog.h"

namespace posenc {

// Returns the normalised spec: rotary_dim, odd_width and the element type set (but for a learned table's,
// see BindTensors); a scaling that changes nothing removed, and what no number depends on set to its
// default (base beside explicit frequencies, max_len of a table of one row or over a grid, an effective
// length without a scaling that uses it); a zero_row outside the rows removed; −0 turned into 0.
// Normalising twice changes nothing.
// Errors: InvalidArgument with a violation for every field that is out of its range, then for what fields
// mean together; paths begin with the family, e.g. "rope.head_dim", "rope.linear.factor".
absl::StatusOr<TableSpec> Normalize(const TableSpec& spec);

// Fills in what a normalised spec takes from stored tensors: their digests, and the element type of a
// learned table. Does nothing to other specs.
// Errors: NotFound for a name that the catalog does not have, FailedPrecondition for a digest that differs.
absl::Status BindTensors(const TensorCatalog& catalog, TableSpec& normalized);

}  // namespace posenc

#endif  // POSENC_SERVER_CORE_SPECS_NORMALIZE_H_
