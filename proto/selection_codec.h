// Between posenc.v1.Selection and the core struct. Pure functions.

#ifndef POSENC_PROTO_SELECTION_CODEC_H_
#define POSENC_PROTO_SELECTION_CODEC_H_

#include "absl/status/statusor.h"
#include "posenc/v1/slice.pb.h"
#include "server/core/selection.h"

namespace posenc {

// Errors: InvalidArgument for an empty list of positions ("selection.positions"): a gather of nothing is
// a caller's mistake, and would otherwise select every row.
absl::StatusOr<Selection> DecodeSelection(const v1::Selection& message);

v1::Selection EncodeSelection(const Selection& selection);

}  // namespace posenc

#endif  // POSENC_PROTO_SELECTION_CODEC_H_
