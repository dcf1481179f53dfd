// Between gRPC's byte buffers and what the handlers know: messages and frames.
//
// Threads: pure functions. Cost: data of blocks are referenced, never copied; heads are copied once.

#ifndef POSENC_SERVER_RPC_CALLS_WIRE_H_
#define POSENC_SERVER_RPC_CALLS_WIRE_H_

#include <google/protobuf/message.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <cstddef>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/rpc/calls/frame.h"

namespace posenc {

// Returns the bytes of a request in one piece: gRPC's own memory if it is one, else a copy.
// Errors: InvalidArgument for a call without a message.
absl::StatusOr<grpc::Slice> RequestBytes(const grpc::ByteBuffer& buffer);

inline absl::string_view ViewOf(const grpc::Slice& bytes) {
  return {reinterpret_cast<const char*>(bytes.begin()), bytes.size()};
}

// Parses the bytes of a request.
// Errors: InvalidArgument "request is not a valid <message>"; the message must not be used then.
absl::Status ParseRequest(absl::string_view bytes, google::protobuf::Message& message);

// A frame as the transport gets it.
struct OutgoingMessage {
  grpc::ByteBuffer buffer;
  size_t data_bytes = 0;  // of blocks and buffers that are held for it
};

// Returns the pieces of a frame as slices, in order; each slice of data holds its owner until the
// transport lets go of it.
OutgoingMessage ToMessage(const Frame& frame);

}  // namespace posenc

#endif  // POSENC_SERVER_RPC_CALLS_WIRE_H_
