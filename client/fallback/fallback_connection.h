// MakeConnectionWithFallback's connection, with time and chance as parameters.

#ifndef POSENC_CLIENT_FALLBACK_FALLBACK_CONNECTION_H_
#define POSENC_CLIENT_FALLBACK_FALLBACK_CONNECTION_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <thread>

#include "absl/status/status.h"
#include "client/api/forwarding_connection.h"
#include "client/fallback/circuit_breaker.h"
#include "client/remote/retry.h"
#include "posenc/fallback.h"

namespace posenc {

class ServiceOrLocalConnection : public ForwardingConnection<FallbackConnection> {
 public:
  // Runs a function beside the calls, once.
  using RunBeside = std::function<void(std::function<void()> task)>;

  // Empty `run_beside`: on a thread of this connection, for which the destructor waits.
  ServiceOrLocalConnection(std::shared_ptr<Connection> service, std::shared_ptr<Connection> local,
                           const FallbackOptions& options, RetryEnvironment environment, RunBeside run_beside = {});

  absl::StatusOr<TableDescription> Describe(const DescribeParams& params) override;
  absl::StatusOr<Table> Fetch(const FetchParams& params) override;
  absl::Status Stream(const StreamParams& params) override;
  absl::StatusOr<ModelTables> ResolveModel(const ResolveModelParams& params) override;
  // Asking would be a call to a service that may be away.
  bool MapsTables(const CallOptions&) override { return false; }

  FallbackStats stats() const override;

 private:
  // One call, as it is asked of either side.
  using Ask = std::function<absl::Status(Connection& connection)>;
  using IsUnreachable = std::function<bool(const absl::Status& status)>;

  // Asks the service, or this process, or both one after the other.
  absl::Status AskEither(const CallOptions& call, const Ask& ask, const IsUnreachable& is_unreachable);

  // Asks the service, and tells the breaker. True when that was an answer.
  bool AskService(const CallOptions& call, const Ask& ask, const IsUnreachable& is_unreachable, absl::Status& status);

  // Whether the service is to be asked; sees to it that its health is asked for where that is due.
  bool ServiceIsInUse();
  // Asks for its health and tells the breaker; whether it serves.
  bool AskHealth();
  void ProbeBeside();

  template <typename Result, typename Params>
  absl::StatusOr<Result> Call(absl::StatusOr<Result> (Connection::*method)(const Params&),
                              const Params& params);

  const std::shared_ptr<Connection> local_;
  const absl::Duration probe_timeout_;
  CircuitBreaker breaker_;
  std::atomic<uint64_t> answered_by_service_ = 0;
  std::atomic<uint64_t> answered_locally_ = 0;
  std::atomic<uint64_t> continued_locally_ = 0;
  std::atomic<uint64_t> failed_ = 0;
  const RunBeside run_beside_;
  std::jthread prober_;  // of the last probe; the breaker has one at a time
};

}  // namespace posenc

#endif  // POSENC_CLIENT_FALLBACK_FALLBACK_CONNECTION_H_
