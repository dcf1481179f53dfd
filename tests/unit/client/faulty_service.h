// A service of numbers that are easy to tell, which breaks as a test wants it, over real gRPC on a port of its
// own.

#ifndef POSENC_TESTS_UNIT_CLIENT_FAULTY_SERVICE_H_
#define POSENC_TESTS_UNIT_CLIENT_FAULTY_SERVICE_H_

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "posenc/v1/positional_encoding_service.grpc.pb.h"

namespace posenc {

// Answers for sinusoidal tables in F32, with the key and the shape that a request means: row r of the answer
// begins with r and -r. Streams have five chunks: of [10, 2], two rows each.
class FaultyService : public v1::PositionalEncodingService::Service {
 public:
  static constexpr int kRows = 10;

  // Port 0 takes any free one.
  explicit FaultyService(int port = 0, const std::shared_ptr<grpc::ServerCredentials>& credentials =
                                           grpc::InsecureServerCredentials());
  ~FaultyService() override { server_->Shutdown(); }

  int port() const { return port_; }
  std::string target() const { return "127.0.0.1:" + std::to_string(port_); }

  // What every call begins with; not OK ends it. Gets the number of the call, from 1.
  std::function<grpc::Status(int call)> on_call = [](int) { return grpc::Status::OK; };
  // Called with each chunk before it is sent; not OK ends the stream.
  std::function<grpc::Status(int call, v1::StreamSliceResponse&)> on_chunk =
      [](int, v1::StreamSliceResponse&) { return grpc::Status::OK; };
  std::function<void(v1::GetSliceResponse&)> on_slice = [](v1::GetSliceResponse&) {};
  std::function<void(v1::DescribeTableResponse&)> on_describe = [](v1::DescribeTableResponse&) {};
  // What OpenSharedTable answers, with `socket_path`; it is not counted as a call.
  std::function<grpc::Status()> on_open_shared = [] {
    return grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "no shared memory");
  };

  std::string socket_path;

  int calls() const { return calls_; }
  // The clients' ends of the streams' connections, in order of arrival.
  std::vector<std::string> peers() {
    const std::lock_guard lock(mutex_);
    return peers_;
  }
  std::vector<int64_t> skips() {
    const std::lock_guard lock(mutex_);
    return skips_;
  }
  std::string authorization;                        // of the last call
  std::chrono::system_clock::time_point deadline;  // of the last stream

 private:
  grpc::Status DescribeTable(grpc::ServerContext* context, const v1::DescribeTableRequest* request,
                             v1::DescribeTableResponse* response) override;
  grpc::Status GetSlice(grpc::ServerContext* context, const v1::GetSliceRequest* request,
                        v1::GetSliceResponse* response) override;
  grpc::Status StreamSlice(grpc::ServerContext* context, const v1::StreamSliceRequest* request,
                           grpc::ServerWriter<v1::StreamSliceResponse>* writer) override;
  grpc::Status OpenSharedTable(grpc::ServerContext*, const v1::OpenSharedTableRequest*,
                               v1::OpenSharedTableResponse* response) override {
    response->set_socket_path(socket_path);
    response->set_token(std::string(64, 'a'));
    return on_open_shared();
  }

  int port_ = 0;
  std::atomic<int> calls_ = 0;
  std::mutex mutex_;
  std::vector<int64_t> skips_;       // guarded by mutex_
  std::vector<std::string> peers_;  // guarded by mutex_
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace posenc

#endif  // POSENC_TESTS_UNIT_CLIENT_FAULTY_SERVICE_H_
