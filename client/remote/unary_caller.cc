#include "client/remote/unary_caller.h"

#include <utility>

#include "client/remote/slice_call.h"

namespace posenc {

absl::StatusOr<grpc::ByteBuffer> UnaryCaller::Call(const char* method, const std::string& request,
                                                   grpc::ClientContext& context,
                                                   absl::FunctionRef<void()> meanwhile) {
  QueuePtr queue = TakeQueue();
  const grpc::Slice slice(request);
  const auto call = stub_.PrepareUnaryCall(&context, method, grpc::ByteBuffer(&slice, 1), queue.get());
  grpc::ByteBuffer response;
  grpc::Status status;
  call->StartCall();
  call->Finish(&response, &status, nullptr);
  meanwhile();
  void* tag = nullptr;
  bool ok = false;
  queue->Next(&tag, &ok);
  KeepQueue(std::move(queue));  // empty: a call has this one event
  if (!status.ok()) return FromGrpc(status);
  return response;
}

UnaryCaller::QueuePtr UnaryCaller::TakeQueue() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      QueuePtr queue = std::move(idle_.back());
      idle_.pop_back();
      return queue;
    }
  }
  return std::make_unique<grpc::CompletionQueue>();
}

void UnaryCaller::KeepQueue(QueuePtr queue) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(queue));
}

}  // namespace posenc
