// What posenc-server is measured against: two gRPC servers that send the same constant bytes again and
// again, without looking at what was asked.
//
//   bare_server UNARY_BYTES MESSAGE_BYTES STREAM_MESSAGES
//
//   prints "RAW_PORT TYPED_PORT", ends with its standard input
//
// raw    the least that gRPC can do: callback methods over ByteBuffers, whose answers are references to one
//        buffer. GetSlice answers UNARY_BYTES, StreamSlice STREAM_MESSAGES messages of MESSAGE_BYTES.
// typed  what the tutorial of gRPC teaches: blocking methods that fill generated messages with set_data.
//        StreamSlice sends as many bytes in messages of 1 MiB; GetSlice answers all of them in one message.

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "posenc/v1/positional_encoding_service.grpc.pb.h"

namespace posenc::bench {
namespace {

using Generated = v1::PositionalEncodingService;

constexpr size_t kTypedMessageBytes = size_t{1} << 20;

struct Sizes {
  size_t unary_bytes;
  size_t message_bytes;
  int64_t stream_messages;
};

// Frees nothing large: that would change what glibc gives back to the system, and with it the typed server's speed.
grpc::ByteBuffer ConstantBuffer(size_t bytes) {
  const grpc::Slice slice(bytes);
  std::memset(const_cast<uint8_t*>(slice.begin()), 'x', bytes);
  return {&slice, 1};
}

class ConstantStream final : public grpc::ServerWriteReactor<grpc::ByteBuffer> {
 public:
  ConstantStream(const grpc::ByteBuffer& message, int64_t count) : message_(message), left_(count) { Write(); }

  void OnWriteDone(bool ok) override { ok ? Write() : Finish(grpc::Status::CANCELLED); }
  void OnDone() override { delete this; }

 private:
  void Write() {
    if (--left_ > 0) return StartWrite(&message_);
    StartWriteAndFinish(&message_, grpc::WriteOptions(), grpc::Status::OK);
  }

  const grpc::ByteBuffer message_;
  int64_t left_;
};

class RawService final
    : public Generated::WithRawCallbackMethod_GetSlice<
          Generated::WithRawCallbackMethod_StreamSlice<Generated::Service>> {
 public:
  explicit RawService(const Sizes& sizes)
      : answer_(ConstantBuffer(sizes.unary_bytes)),
        message_(ConstantBuffer(sizes.message_bytes)),
        stream_messages_(sizes.stream_messages) {}

  grpc::ServerUnaryReactor* GetSlice(grpc::CallbackServerContext* context, const grpc::ByteBuffer*,
                                     grpc::ByteBuffer* answer) override {
    *answer = answer_;
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
  grpc::ServerWriteReactor<grpc::ByteBuffer>* StreamSlice(grpc::CallbackServerContext*,
                                                          const grpc::ByteBuffer*) override {
    return new ConstantStream(message_, stream_messages_);
  }

 private:
  const grpc::ByteBuffer answer_;
  const grpc::ByteBuffer message_;
  const int64_t stream_messages_;
};

class TypedService final : public Generated::Service {
 public:
  explicit TypedService(const Sizes& sizes)
      : data_(sizes.message_bytes * static_cast<size_t>(sizes.stream_messages), 'x') {}

  grpc::Status GetSlice(grpc::ServerContext*, const v1::GetSliceRequest*,
                        v1::GetSliceResponse* answer) override {
    answer->add_tensors()->set_data(data_);
    return grpc::Status::OK;
  }
  grpc::Status StreamSlice(grpc::ServerContext*, const v1::StreamSliceRequest*,
                           grpc::ServerWriter<v1::StreamSliceResponse>* writer) override {
    for (size_t at = 0; at < data_.size(); at += kTypedMessageBytes) {
      v1::StreamSliceResponse chunk;
      chunk.add_tensors()->set_data(&data_[at], std::min(kTypedMessageBytes, data_.size() - at));
      if (!writer->Write(chunk)) break;
    }
    return grpc::Status::OK;
  }

 private:
  const std::string data_;
};

std::unique_ptr<grpc::Server> Serve(grpc::Service& service, int& port) {
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.SetMaxSendMessageSize(-1);
  builder.RegisterService(&service);
  return builder.BuildAndStart();
}

int Run(const Sizes& sizes) {
  RawService raw(sizes);
  TypedService typed(sizes);
  int raw_port = 0, typed_port = 0;
  const auto raw_server = Serve(raw, raw_port);
  const auto typed_server = Serve(typed, typed_port);
  if (raw_server == nullptr || typed_server == nullptr) {
    std::cerr << "bare_server: cannot listen on 127.0.0.1\n";
    return 1;
  }
  std::cout << raw_port << " " << typed_port << std::endl;
  while (std::cin.get() != EOF) {
  }
  return 0;
}

}  // namespace
}  // namespace posenc::bench

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: bare_server UNARY_BYTES MESSAGE_BYTES STREAM_MESSAGES\n";
    return 2;
  }
  return posenc::bench::Run({.unary_bytes = std::strtoull(argv[1], nullptr, 10),
                             .message_bytes = std::strtoull(argv[2], nullptr, 10),
                             .stream_messages = std::atoll(argv[3])});
}
