// Reads the messages that carry numbers without copying the numbers.
//
// A message arrives as many small slices of memory. ParseFrame walks over them, decodes the small fields
// and remembers where the numbers are; FrameReader then copies the numbers once, to where they stay. Fields
// may come in any order, unknown ones are skipped, as protobuf wants it.
//
// Trust: none. Lengths are checked against what is there, and a message that is none is an error.
// Threads: pure functions; a FrameReader belongs to one thread.

#ifndef POSENC_CLIENT_REMOTE_SLICE_FRAME_H_
#define POSENC_CLIENT_REMOTE_SLICE_FRAME_H_

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "posenc/results.h"

namespace posenc {

// A tensor whose numbers are bytes [data_begin, data_begin + data_bytes) of the message.
struct FrameTensor {
  TensorInfo info;
  int64_t data_begin = 0;
  int64_t data_bytes = 0;
};

// GetSliceResponse or StreamSliceResponse.
struct Frame {
  std::string key = {};                  // GetSliceResponse
  std::optional<SliceInfo> header = {};  // StreamSliceResponse, here and below
  int64_t first_row = 0;
  int64_t row_count = 0;
  uint32_t crc32c = 0;
  std::vector<FrameTensor> tensors = {};
};

enum class FrameKind : uint8_t { kGetSlice, kStreamSlice };

// Parses a message. `message` is not changed, but protobuf wants it so.
// Errors: Internal for bytes that are no such message, for a tensor with two or an unknown element type,
// and for more tensors than a table can have.
absl::StatusOr<Frame> ParseFrame(FrameKind kind, grpc::ByteBuffer& message);

// Copies numbers out of a message, front to back.
class FrameReader {
 public:
  explicit FrameReader(grpc::ByteBuffer& message) : reader_(&message) {}

  // Copies the numbers of `tensor` to `destination` and continues `crc32c` over them; null: nobody
  // wants it. Call it in the order of data_begin.
  // Requires: the tensor is from this message; destination.size() == tensor.data_bytes.
  // Errors: Internal when the message is shorter than it was (which does not happen).
  absl::Status Copy(const FrameTensor& tensor, std::span<std::byte> destination, uint32_t* crc32c);

 private:
  grpc::ProtoBufferReader reader_;
  int64_t position_ = 0;
};

}  // namespace posenc

#endif  // POSENC_CLIENT_REMOTE_SLICE_FRAME_H_
