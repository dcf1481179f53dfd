// What posenc-server is measured against: two gRPC servers that send the same constant bytes again and
// again, without looking at what was asked.
//
//   bare_server UNARY_BYTES STREAM_MESSAGES      prints "RAW_PORT TYPED_PORT", ends with its standard input
//
// raw    the least that gRPC can do: callback methods over ByteBuffers, whose answers are references to one
//        buffer. GetSlice answers UNARY_BYTES, StreamSlice STREAM_MESSAGES messages of 1 MiB.
// typed  what the tutorial of gRPC teaches: blocking methods that fill generated messages with set_data.
//        StreamSlice sends the same messages; GetSlice answers all their bytes in one message.

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "posenc/v1/positional_encoding_service.grpc.pb.h"

namespace posenc::bench {
namespace {

using Generated = v1::PositionalEncodingService;

constexpr size_t kMessageBytes = size_t{1} << 20;

grpc::ByteBuffer ConstantBuffer(size_t bytes) {
  const grpc::Slice slice(std::string(bytes, 'x'));
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
  RawService(size_t unary_bytes, int64_t stream_messages)
      : answer_(ConstantBuffer(unary_bytes)),
        message_(ConstantBuffer(kMessageBytes)),
        stream_messages_(stream_messages) {}

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
  explicit TypedService(int64_t stream_messages)
      : data_(kMessageBytes * static_cast<size_t>(stream_messages), 'x') {}

  grpc::Status GetSlice(grpc::ServerContext*, const v1::GetSliceRequest*,
                        v1::GetSliceResponse* answer) override {
    answer->add_tensors()->set_data(data_);
    return grpc::Status::OK;
  }
  grpc::Status StreamSlice(grpc::ServerContext*, const v1::StreamSliceRequest*,
                           grpc::ServerWriter<v1::StreamSliceResponse>* writer) override {
    for (size_t at = 0; at < data_.size(); at += kMessageBytes) {
      v1::StreamSliceResponse chunk;
      chunk.add_tensors()->set_data(&data_[at], kMessageBytes);
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

int Run(size_t unary_bytes, int64_t stream_messages) {
  RawService raw(unary_bytes, stream_messages);
  TypedService typed(stream_messages);
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
  if (argc != 3) {
    std::cerr << "usage: bare_server UNARY_BYTES STREAM_MESSAGES\n";
    return 2;
  }
  return posenc::bench::Run(std::strtoull(argv[1], nullptr, 10), std::atoll(argv[2]));
}
