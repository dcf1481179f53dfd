// Puts the chunks of a streamed answer where they belong, and knows which row comes next.
//
// It outlives the attempts of a call: a stream that breaks is begun again at next_row(), and its new header
// must be the old one. A chunk counts only once its checksum is right.
//
// Threads: one; the thread of the call, which is also the one that runs the caller's callbacks.

#ifndef POSENC_CLIENT_REMOTE_SLICE_RECEIVER_H_
#define POSENC_CLIENT_REMOTE_SLICE_RECEIVER_H_

#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "client/remote/expected_answer.h"
#include "client/remote/slice_frame.h"
#include "posenc/connection.h"

namespace posenc {

class SliceReceiver {
 public:
  // `params` must outlive the receiver.
  SliceReceiver(const StreamParams& params, ExpectedAnswer expected)
      : params_(params), expected_(std::move(expected)), next_row_(params.skip_rows) {}

  // Takes the next message of the stream.
  // Errors: DataLoss for a wrong checksum, Aborted for a header that changed, Internal for a message that
  // is no valid part of the answer or begins another one; and whatever the caller's own functions return.
  absl::Status Accept(grpc::ByteBuffer& message);

  // Ok when every row has arrived. Errors: DataLoss when the stream ended early.
  absl::Status Finish() const;

  // Rows that need not be sent (again).
  int64_t next_row() const { return next_row_; }
  const std::optional<SliceInfo>& slice() const { return slice_; }

  // Whether the last error came from the caller's functions, and is not to be retried.
  bool stopped_by_caller() const { return stopped_by_caller_; }

 private:
  absl::Status Begin(const SliceInfo& header);
  absl::Status CheckChunk(const Frame& frame) const;
  absl::Status CopyChunk(const Frame& frame, grpc::ByteBuffer& message);
  absl::Status Deliver(const Frame& frame);
  std::vector<std::span<std::byte>> MemoryFor(const Frame& frame);
  absl::Status FromCaller(absl::Status status);

  const StreamParams& params_;
  const ExpectedAnswer expected_;
  std::optional<SliceInfo> slice_;
  std::vector<int64_t> row_bytes_;                    // of each tensor
  std::vector<std::span<std::byte>> destinations_;    // of the whole answer, when the caller has them
  std::vector<std::byte> scratch_;                    // of one chunk, when not
  std::vector<std::span<std::byte>> chunk_;           // where the present chunk is
  int64_t next_row_;
  bool stopped_by_caller_ = false;
};

}  // namespace posenc

#endif  // POSENC_CLIENT_REMOTE_SLICE_RECEIVER_H_
