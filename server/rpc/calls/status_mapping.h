// From absl::Status, which the handlers know, to grpc::Status, which travels.
//
// Codes keep their numbers. The message is printable ASCII of at most kMaxStatusMessageBytes, every other
// byte as \xNN: it goes into an HTTP/2 header and into other people's logs. The details are a
// google.rpc.Status with ErrorInfo and the field violations (proto/status_codec.h).
//
// Threads: pure functions.

#ifndef POSENC_SERVER_RPC_CALLS_STATUS_MAPPING_H_
#define POSENC_SERVER_RPC_CALLS_STATUS_MAPPING_H_

#include <grpcpp/support/status.h>

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace posenc {

inline constexpr size_t kMaxStatusMessageBytes = 1024;

grpc::Status ToGrpcStatus(const absl::Status& status) noexcept;

// Returns `text` with every byte that is not printable ASCII as \xNN.
std::string EscapeNonPrintable(absl::string_view text);

}  // namespace posenc

#endif  // POSENC_SERVER_RPC_CALLS_STATUS_MAPPING_H_
