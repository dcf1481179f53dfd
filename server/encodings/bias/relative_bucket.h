// Relative position buckets: the map [queries, keys] of a T5 or DeBERTa model, and with a T5 model's weight
// [buckets, heads] its bias [heads, queries, keys].
//
// The bucket of every distance is found once, exactly (exact/log_ratio.h), and every weight rounded once;
// rows are copies (toeplitz.h). Threads: immutable.

#ifndef POSENC_SERVER_ENCODINGS_BIAS_RELATIVE_BUCKET_H_
#define POSENC_SERVER_ENCODINGS_BIAS_RELATIVE_BUCKET_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/specs/relative_bucket_spec.h"
#include "server/core/tensor_catalog.h"
#include "server/encodings/table_generator.h"

namespace posenc {

// Errors: InvalidArgument for a weight that is not [buckets, heads]; NotFound for one that is not there.
// Requires: the spec is normalised and bound to the catalog.
absl::StatusOr<std::shared_ptr<const TableGenerator>> MakeRelativeBucket(const RelativeBucketSpec& spec,
                                                                         ElementType type,
                                                                         const TensorCatalog& catalog);

// Returns the bucket of query − key = distance. Requires: the rule is normalised.
int64_t BucketOf(const T5Buckets& rule, int64_t distance);
int64_t BucketOf(const DebertaBuckets& rule, int64_t distance);

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_BIAS_RELATIVE_BUCKET_H_
