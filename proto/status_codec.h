// Between absl::Status and google.rpc.Status, the form in which an error's details travel
// ("grpc-status-details-bin"). Pure functions; codes have the same numbers on both sides.

#ifndef POSENC_PROTO_STATUS_CODEC_H_
#define POSENC_PROTO_STATUS_CODEC_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace posenc {

// Returns the serialised google.rpc.Status of an error: ErrorInfo (reason: the code's name, domain
// "posenc"), and BadRequest where the status carries field violations. Never longer than
// limits::kMaxErrorDetailBytes: violations that do not fit are left out.
std::string EncodeStatusDetails(const absl::Status& status);

// Returns a status of `code` and `message` with the field violations found in `details`; details that do
// not parse are ignored.
absl::Status DecodeStatus(int code, absl::string_view message, absl::string_view details);

}  // namespace posenc

#endif  // POSENC_PROTO_STATUS_CODEC_H_
