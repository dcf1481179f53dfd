// The one message that carries a small answer: GetSlice.
//
// Threads: pure functions.

#ifndef POSENC_CLIENT_REMOTE_UNARY_SLICE_H_
#define POSENC_CLIENT_REMOTE_UNARY_SLICE_H_

#include <grpcpp/support/byte_buffer.h>

#include <cstdint>

#include "absl/status/statusor.h"
#include "client/remote/expected_answer.h"
#include "posenc/table.h"

namespace posenc {

inline constexpr const char* kGetSlice = "/posenc.v1.PositionalEncodingService/GetSlice";

// Up to here one message is quicker than a stream. Below every server's max_unary_bytes by default.
inline constexpr double kMaxUnaryBytes = 1 << 20;

// Copies the numbers of a GetSliceResponse into a table. `message` is not changed, but gRPC wants it so.
// Errors: Internal for a message that is none, or not as `expected`; ResourceExhausted for a table over
// `max_bytes`.
absl::StatusOr<Table> TableFrom(grpc::ByteBuffer& message, const ExpectedAnswer& expected, uint64_t max_bytes);

}  // namespace posenc

#endif  // POSENC_CLIENT_REMOTE_UNARY_SLICE_H_
