// The requests that carry a spec and a selection, as bytes: made once for a call, whatever its attempts.
//
// Threads: pure function. Cost: about a microsecond.

#ifndef POSENC_CLIENT_REMOTE_SLICE_REQUEST_H_
#define POSENC_CLIENT_REMOTE_SLICE_REQUEST_H_

#include <string>

#include "posenc/specs.h"

namespace posenc {

// Returns the bytes of a GetSliceRequest. The spec comes first, where a server looks for one that it knows.
std::string GetSliceRequestBytes(const TableSpec& spec, const Selection& selection);

}  // namespace posenc

#endif  // POSENC_CLIENT_REMOTE_SLICE_REQUEST_H_
