// Asks the caller for the memory of an answer, and checks that the answer fits. Pure functions.

#ifndef POSENC_CLIENT_REMOTE_DESTINATIONS_H_
#define POSENC_CLIENT_REMOTE_DESTINATIONS_H_

#include <cstddef>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "posenc/connection.h"

namespace posenc {

// Returns what `params.destinations` returns; nothing when it is absent.
// Errors: its own; InvalidArgument unless there is memory for each tensor, of exactly the tensor's bytes.
absl::StatusOr<std::vector<std::span<std::byte>>> AskForDestinations(const StreamParams& params,
                                                                     const SliceInfo& slice);

}  // namespace posenc

#endif  // POSENC_CLIENT_REMOTE_DESTINATIONS_H_
