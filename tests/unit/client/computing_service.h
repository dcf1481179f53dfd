// A service that answers slices with the right numbers and breaks as a test wants it, over real gRPC on a
// port of its own. FaultyService, its sibling, has numbers of its own and any wrong answer.

#ifndef POSENC_TESTS_UNIT_CLIENT_COMPUTING_SERVICE_H_
#define POSENC_TESTS_UNIT_CLIENT_COMPUTING_SERVICE_H_

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "posenc/connect.h"
#include "posenc/v1/positional_encoding_service.grpc.pb.h"

namespace posenc {

class ComputingService : public v1::PositionalEncodingService::Service {
 public:
  ComputingService();
  ~ComputingService() override { server_->Shutdown(); }

  std::string target() const { return "127.0.0.1:" + std::to_string(port_); }

  // What every call begins with; not OK ends it. Gets the number of the call, from 1.
  std::function<grpc::Status(int call, grpc::ServerContext& context)> on_call =
      [](int, grpc::ServerContext&) { return grpc::Status::OK; };
  // Called with each chunk of a stream before it is sent; not OK ends the stream.
  std::function<grpc::Status(const v1::StreamSliceRequest&, v1::StreamSliceResponse&)> on_chunk =
      [](const v1::StreamSliceRequest&, v1::StreamSliceResponse&) { return grpc::Status::OK; };

  int calls() const { return calls_; }
  // The first row that each stream was asked for, and the rows left out before it, in order of arrival.
  std::vector<std::pair<int64_t, int64_t>> streams() {
    const std::lock_guard lock(mutex_);
    return streams_;
  }

 private:
  grpc::Status GetSlice(grpc::ServerContext* context, const v1::GetSliceRequest* request,
                        v1::GetSliceResponse* response) override;
  grpc::Status StreamSlice(grpc::ServerContext* context, const v1::StreamSliceRequest* request,
                           grpc::ServerWriter<v1::StreamSliceResponse>* writer) override;

  const std::shared_ptr<Connection> local_ = MakeLocalConnection();
  int port_ = 0;
  std::atomic<int> calls_ = 0;
  std::mutex mutex_;
  std::vector<std::pair<int64_t, int64_t>> streams_;  // guarded by mutex_
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace posenc

#endif  // POSENC_TESTS_UNIT_CLIENT_COMPUTING_SERVICE_H_
