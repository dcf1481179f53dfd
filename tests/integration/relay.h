// A service between a client and a real one that changes streamed chunks on their way.

#ifndef POSENC_TESTS_INTEGRATION_RELAY_H_
#define POSENC_TESTS_INTEGRATION_RELAY_H_

#include <grpcpp/grpcpp.h>

#include <functional>
#include <memory>
#include <string>

#include "posenc/v1/positional_encoding_service.grpc.pb.h"

namespace posenc {

class Relay : public v1::PositionalEncodingService::Service {
 public:
  explicit Relay(const std::string& target)
      : service_(v1::PositionalEncodingService::NewStub(
            grpc::CreateChannel(target, grpc::InsecureChannelCredentials()))) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  ~Relay() override { server_->Shutdown(); }

  std::string target() const { return "127.0.0.1:" + std::to_string(port_); }

  // Called with each request and each chunk, before they go on.
  std::function<void(v1::StreamSliceRequest&)> on_request = [](v1::StreamSliceRequest&) {};
  std::function<void(const v1::StreamSliceRequest&, v1::StreamSliceResponse&)> on_chunk =
      [](const v1::StreamSliceRequest&, v1::StreamSliceResponse&) {};

 private:
  grpc::Status StreamSlice(grpc::ServerContext*, const v1::StreamSliceRequest* request,
                           grpc::ServerWriter<v1::StreamSliceResponse>* writer) override {
    grpc::ClientContext context;
    v1::StreamSliceRequest sent = *request;
    on_request(sent);
    const auto reader = service_->StreamSlice(&context, sent);
    v1::StreamSliceResponse chunk;
    bool wanted = true;
    while (wanted && reader->Read(&chunk)) {
      on_chunk(*request, chunk);
      wanted = writer->Write(chunk);
    }
    if (!wanted) context.TryCancel();
    return reader->Finish();
  }

  const std::unique_ptr<v1::PositionalEncodingService::Stub> service_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace posenc

#endif  // POSENC_TESTS_INTEGRATION_RELAY_H_
