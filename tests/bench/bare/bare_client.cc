#include "tests/bench/bare/bare_client.h"

#include <grpc/byte_buffer_reader.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>

#include "absl/strings/str_cat.h"

namespace posenc::bench {
namespace {

constexpr const char* kGetSlice = "/posenc.v1.PositionalEncodingService/GetSlice";
constexpr const char* kStreamSlice = "/posenc.v1.PositionalEncodingService/StreamSlice";

absl::Status ToStatus(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("bare call: ", status.error_message()));
}

absl::Status CheckCount(size_t received, size_t wanted) {
  if (received == wanted) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("bare stream: ", received, " bytes instead of ", wanted));
}

class CopyingReader final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  CopyingReader(const std::string& request, std::span<std::byte> memory)
      : memory_(memory), request_slice_(request), request_(&request_slice_, 1) {}

  absl::Status Run(size_t least_bytes) {
    StartWriteLast(&request_, grpc::WriteOptions());
    StartRead(&incoming_);
    StartCall();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return done_; });
    if (!status_.ok()) return ToStatus(status_);
    return received_ > memory_.size() ? CheckCount(received_, memory_.size())
                                      : CheckCount(std::min(received_, least_bytes), least_bytes);
  }

 private:
  void OnReadDone(bool ok) override {
    if (!ok) return;
    grpc::ByteBuffer message;
    message.Swap(&incoming_);
    const size_t at = received_;
    received_ += message.Length();
    StartRead(&incoming_);
    Copy(message, at);
  }
  void OnDone(const grpc::Status& status) override {
    const std::lock_guard lock(mutex_);
    status_ = status;
    done_ = true;
    changed_.notify_one();
  }

  void Copy(grpc::ByteBuffer& message, size_t at) const {
    grpc::ProtoBufferReader reader(&message);
    const void* data = nullptr;
    for (int size = 0; reader.Next(&data, &size); at += static_cast<size_t>(size)) {
      if (at + static_cast<size_t>(size) > memory_.size()) return;
      std::memcpy(memory_.data() + at, data, static_cast<size_t>(size));
    }
  }

  const std::span<std::byte> memory_;
  const grpc::Slice request_slice_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer incoming_;
  size_t received_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;    // guarded by mutex_
  grpc::Status status_;  // guarded by mutex_
};

}  // namespace

RawClient::RawClient(const std::string& target)
    : channel_(grpc::CreateChannel(target, grpc::InsecureChannelCredentials())) {}

// As a generated blocking stub does it: a completion queue for the call, polled by the caller's thread.
absl::Status RawClient::CallUnary(const std::string& request) {
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  grpc::GenericStub stub(channel_);
  const grpc::Slice slice(request);
  const auto call = stub.PrepareUnaryCall(&context, kGetSlice, grpc::ByteBuffer(&slice, 1), &queue);
  grpc::ByteBuffer answer;
  grpc::Status status;
  call->StartCall();
  call->Finish(&answer, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  return ToStatus(status);
}

absl::Status RawClient::ReadStream(const std::string& request, std::span<std::byte> memory,
                                   size_t least_bytes) {
  grpc::ClientContext context;
  grpc::GenericStub stub(channel_);
  CopyingReader reader(request, memory);
  stub.PrepareBidiStreamingCall(&context, kStreamSlice, grpc::StubOptions(), &reader);
  return reader.Run(least_bytes);
}

TypedClient::TypedClient(const std::string& target) : stub_([&] {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  return v1::PositionalEncodingService::NewStub(
      grpc::CreateCustomChannel(target, grpc::InsecureChannelCredentials(), arguments));
}()) {}

absl::Status TypedClient::ReadStream(std::span<std::byte> memory) {
  grpc::ClientContext context;
  const auto reader = stub_->StreamSlice(&context, {});
  v1::StreamSliceResponse chunk;
  size_t received = 0;
  while (reader->Read(&chunk)) {
    const std::string& data = chunk.tensors(0).data();
    if (received + data.size() <= memory.size()) {
      std::memcpy(memory.data() + received, data.data(), data.size());
    }
    received += data.size();
  }
  const grpc::Status status = reader->Finish();
  if (!status.ok()) return ToStatus(status);
  return CheckCount(received, memory.size());
}

absl::Status TypedClient::ReadMessage(std::span<std::byte> memory) {
  grpc::ClientContext context;
  v1::GetSliceResponse answer;
  const grpc::Status status = stub_->GetSlice(&context, {}, &answer);
  if (!status.ok()) return ToStatus(status);
  const std::string& data = answer.tensors(0).data();
  if (data.size() == memory.size()) std::memcpy(memory.data(), data.data(), data.size());
  return CheckCount(data.size(), memory.size());
}

}  // namespace posenc::bench
