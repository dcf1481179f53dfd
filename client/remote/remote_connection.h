// The connection to a service over gRPC.
//
// Every call is a RetryLoop around attempts; every attempt has a ClientContext of its own.

#ifndef POSENC_CLIENT_REMOTE_REMOTE_CONNECTION_H_
#define POSENC_CLIENT_REMOTE_REMOTE_CONNECTION_H_

#include <grpcpp/client_context.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "client/remote/channels.h"
#include "client/remote/expected_answer.h"
#include "client/remote/parallel_read.h"
#include "client/remote/retry.h"
#include "client/remote/slice_call.h"
#include "client/remote/unary_caller.h"
#include "client/shared_memory/shared_memory_use.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "posenc/connection.h"
#include "posenc/v1/positional_encoding_service.grpc.pb.h"
#include "posenc/v1/table_admin_service.grpc.pb.h"

namespace posenc {

class RemoteConnection : public Connection {
 public:
  RemoteConnection(std::string target, const ConnectionOptions& options,
                   RetryEnvironment environment);
  // Waits for the last of what FetchAsync began: its `done` has been called, but not everything is gone.
  ~RemoteConnection() override;

  absl::StatusOr<TableDescription> Describe(const DescribeParams& params) override;
  absl::StatusOr<Table> Fetch(const FetchParams& params) override;
  absl::Status Stream(const StreamParams& params) override;
  absl::StatusOr<ModelTables> ResolveModel(const ResolveModelParams& params) override;
  absl::Status Warm(const WarmParams& params) override;
  absl::StatusOr<TablePage> ListTables(const ListTablesParams& params) override;
  absl::StatusOr<EvictedTables> Evict(const EvictParams& params) override;
  absl::StatusOr<ServerStatus> ServerInfo(const CallOptions& call) override;
  absl::StatusOr<HealthStatus> Health(const CallOptions& call) override;
  bool FetchAsync(const FetchParams& params, std::function<void(absl::StatusOr<Table>)> done) override;
  absl::StatusOr<HealthStatus> Probe(absl::Duration timeout) override;  // remote_probe.cc
  bool MapsTables(const CallOptions& call) override {
    return options_.shared_memory && HasSharedMemory(call).value_or(false);
  }

 private:
  class AsyncFetch;  // remote_async.cc

  // Counts the AsyncFetches that exist. They hold the channel, and gRPC must not see the last reference to a
  // channel go on one of its own threads: it would wait for that thread.
  struct AsyncFetches {
    std::mutex mutex;
    std::condition_variable none;
    int count = 0;  // guarded by mutex
  };

  // What one call has to work with; `context` is a fresh one for every attempt.
  using Attempt = std::function<absl::Status(grpc::ClientContext& context, RetryLoop& loop)>;

  // Runs attempts until one succeeds or none may follow. Errors name the target, and the attempts and the
  // time where those matter.
  absl::Status Run(const CallOptions& call, double bytes, const Attempt& attempt);

  // Runs a unary call of a generated stub.
  template <typename Stub, typename Request, typename Response>
  absl::Status RunUnary(const CallOptions& call, Stub& stub,
                        grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                        const Request& request, Response& response, double bytes = 0);

  // Whether a retry waits until the server can be reached.
  bool WaitsForServer() const;
  // Whether there is anything to send: time, and a token of printable ASCII. gRPC ends the process that sends
  // any other header.
  absl::Status CheckCall(const CallOptions& call) const;
  absl::Duration TimeoutOf(const CallOptions& call, double bytes) const;
  void Prepare(grpc::ClientContext& context, absl::Time deadline, bool is_retry) const;
  absl::Status Explain(const absl::Status& status, int attempts, absl::Duration elapsed) const;
  absl::StatusOr<Table> FetchUnary(const FetchParams& params, double bytes);
  absl::StatusOr<Table> FetchStream(const FetchParams& params);
  // `channel` is the one of the first attempt; behind a standstill there are others.
  absl::Status StreamOver(std::shared_ptr<grpc::Channel> channel, const StreamParams& params, ConsumeOn where);
  // Reads a large answer into the caller's memory in several parts at once. Nothing when it is not to be cut.
  std::optional<absl::Status> StreamInParts(const StreamParams& params, const ReadProgress& on_progress);
  // Maps a whole table of a server on this host. Any error means: stream it instead.
  absl::StatusOr<Table> FetchShared(const FetchParams& params);
  // Whether the server has a socket for shared memory that answers here; asks until there is an answer.
  // Errors: those of not reaching the server, and Cancelled.
  absl::StatusOr<bool> HasSharedMemory(const CallOptions& call);

  const std::string target_;
  const ConnectionOptions options_;
  const RetryEnvironment environment_;
  RetryBudget budget_;
  const Channels channels_;
  UnaryCaller small_calls_;
  ExpectedAnswers expected_answers_;
  AsyncFetches async_fetches_;
  SharedMemoryUse shared_memory_;
  std::atomic<bool> reached_ = false;  // a server has answered
  const std::unique_ptr<v1::PositionalEncodingService::Stub> tables_;
  const std::unique_ptr<v1::TableAdminService::Stub> admin_;
  const std::unique_ptr<grpc::health::v1::Health::Stub> health_;
};

}  // namespace posenc

#endif  // POSENC_CLIENT_REMOTE_REMOTE_CONNECTION_H_
