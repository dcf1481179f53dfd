// The clients to bare_server's two servers: the least that a client of gRPC can do, and the usual.
//
// Threads: each method blocks; one thread at a time. Errors: the call's own.

#ifndef POSENC_TESTS_BENCH_BARE_BARE_CLIENT_H_
#define POSENC_TESTS_BENCH_BARE_BARE_CLIENT_H_

#include <grpcpp/channel.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "posenc/v1/positional_encoding_service.grpc.pb.h"

namespace posenc::bench {

// Over ByteBuffers. No deadline, no retry, no check of what arrives.
class RawClient {
 public:
  explicit RawClient(const std::string& target);

  // One GetSlice; the answer is dropped where gRPC put it.
  absl::Status CallUnary(const std::string& request);

  // One StreamSlice, whole messages copied once, from gRPC's buffers into `memory`: by gRPC's threads, while
  // the next message arrives. Errors: Internal for less than `least_bytes` and for more than fit.
  absl::Status ReadStream(const std::string& request, std::span<std::byte> memory, size_t least_bytes);

 private:
  const std::shared_ptr<grpc::Channel> channel_;
};

// Over generated messages and blocking stubs.
class TypedClient {
 public:
  explicit TypedClient(const std::string& target);

  // One StreamSlice, one GetSlice of all its bytes; the data of each message is copied into `memory`.
  absl::Status ReadStream(std::span<std::byte> memory);
  absl::Status ReadMessage(std::span<std::byte> memory);

 private:
  const std::unique_ptr<v1::PositionalEncodingService::Stub> stub_;
};

}  // namespace posenc::bench

#endif  // POSENC_TESTS_BENCH_BARE_BARE_CLIENT_H_
