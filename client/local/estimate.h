// Guesses how large an answer will be, before anything is known about it but the request.
//
// The guess decides between one message and a stream, and how long a call may take. It is no check: a
// spec may be wrong, and the service alone says what an answer is.

#ifndef POSENC_CLIENT_LOCAL_ESTIMATE_H_
#define POSENC_CLIENT_LOCAL_ESTIMATE_H_

#include "server/core/selection.h"
#include "server/core/specs/spec.h"

namespace posenc {

// Returns about the bytes of a slice, or of the whole table. Not negative; exact for a valid spec and
// selection, but for stored tensors and M-RoPE positions.
double EstimateBytes(const TableSpec& spec, const Selection& selection);

// Returns whether a slice of `bytes`, so estimated, can be asked for in one message: it is small, and so is
// what the service generates for it. That is whole rows, whatever columns, keys or heads are kept.
bool FitsOneMessage(const TableSpec& spec, const Selection& selection, double bytes);

}  // namespace posenc

#endif  // POSENC_CLIENT_LOCAL_ESTIMATE_H_
