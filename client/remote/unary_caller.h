// Blocking unary calls over one channel, on the level of bytes.
//
// Latency: the caller's own thread polls, and completion queues are kept from call to call: making one and
//          taking it down again is a twenty-fifth of a small call's instructions.
// Threads: any method, any thread. Memory: a queue for each call that was ever under way at the same time.

#ifndef POSENC_CLIENT_REMOTE_UNARY_CALLER_H_
#define POSENC_CLIENT_REMOTE_UNARY_CALLER_H_

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

namespace posenc {

class UnaryCaller {
 public:
  explicit UnaryCaller(std::shared_ptr<grpc::Channel> channel) : stub_(std::move(channel)) {}

  // Calls a method ("/posenc.v1.PositionalEncodingService/GetSlice") with the bytes of its request and returns
  // those of its answer. `meanwhile` is what the caller has to do anyway: it runs while the call is under way,
  // and must not throw. Errors: the call's own, with its field violations.
  absl::StatusOr<grpc::ByteBuffer> Call(const char* method, const std::string& request,
                                        grpc::ClientContext& context, absl::FunctionRef<void()> meanwhile);

 private:
  using QueuePtr = std::unique_ptr<grpc::CompletionQueue>;

  QueuePtr TakeQueue();
  void KeepQueue(QueuePtr queue);

  grpc::GenericStub stub_;
  std::mutex mutex_;
  std::vector<QueuePtr> idle_;  // guarded by mutex_
};

}  // namespace posenc

#endif  // POSENC_CLIENT_REMOTE_UNARY_CALLER_H_
