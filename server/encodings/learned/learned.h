// Learned tables: rows of a stored tensor, copied, or each element rounded once to another type or after
// a factor; and the bicubic resize of a grid of patches, whose cells are sums of sixteen stored numbers
// with rational weights, correctly rounded as well.
//
// The tensor stays where it is (a mapped file), kept by its owner; it is not part of the footprint.

#ifndef POSENC_SERVER_ENCODINGS_LEARNED_LEARNED_H_
#define POSENC_SERVER_ENCODINGS_LEARNED_LEARNED_H_

#include <memory>

#include "absl/status/statusor.h"
#include "server/core/specs/learned_spec.h"
#include "server/core/tensor_catalog.h"
#include "server/encodings/table_generator.h"

namespace posenc {

// Errors: InvalidArgument for a tensor that is not [rows, width], and for a resize whose source is not the
// tensor's number of rows; NotFound for a name that is not there.
// Requires: the spec is normalised and bound to the catalog.
absl::StatusOr<std::shared_ptr<const TableGenerator>> MakeLearned(const LearnedSpec& spec, ElementType type,
                                                                  const TensorCatalog& catalog);

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_LEARNED_LEARNED_H_
