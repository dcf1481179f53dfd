#include "client/fallback/fallback_connection.h"

#include <algorithm>
#include <optional>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/local/local_connection.h"

namespace posenc {
namespace {

bool IsDeadConnection(const absl::Status& status) {
  // DataLoss is repeated, but says that the service was there.
  return IsTransient(status) && status.code() != absl::StatusCode::kDataLoss;
}

bool HasNoAnswer(const absl::Status& status) {
  return IsDeadConnection(status) || status.code() == absl::StatusCode::kDeadlineExceeded;
}

// Whether this process lacks what the service may have; all else that it says the service says too.
bool NeedsService(const absl::Status& status) {
  // FailedPrecondition: its stored tensor of that name has another digest.
  return status.code() == absl::StatusCode::kNotFound || status.code() == absl::StatusCode::kUnimplemented ||
         status.code() == absl::StatusCode::kFailedPrecondition;
}

absl::Status Both(const absl::Status& service, const absl::Status& local) {
  return {service.code(), absl::StrCat(service.message(), "; computed here: ", local.message())};
}

// A stream that may begin at one connection and go on at another.
class MovingStream {
 public:
  explicit MovingStream(const StreamParams& params) : params_(params), next_row_(params.skip_rows) {}

  // Streams the rows that are still missing.
  absl::Status Continue(Connection& connection) {
    leg_is_checked_ = false;
    StreamParams leg{.spec = params_.spec,
                     .selection = params_.selection,
                     .skip_rows = next_row_,
                     .call = params_.call};
    if (params_.destinations) {
      leg.destinations = [this](const SliceInfo& slice) { return MemoryOf(slice); };
    }
    // Without a callback rows may arrive in any order; all of them are computed again then.
    if (params_.on_chunk) {
      leg.on_chunk = [this](const Chunk& chunk) { return Deliver(chunk); };
    }
    return connection.Stream(leg);
  }

  bool has_begun() const { return next_row_ > params_.skip_rows; }
  // Whether the caller's own functions ended the stream.
  bool stopped_by_caller() const { return stopped_by_caller_; }

 private:
  absl::Status CheckSame(const SliceInfo& slice) {
    leg_is_checked_ = true;
    if (!slice_) slice_ = slice;
    if (*slice_ == slice) return absl::OkStatus();
    return absl::AbortedError(absl::StrCat("the service began table ", slice_->key,
                                           ", which this process computes as ", slice.key));
  }

  absl::StatusOr<std::vector<std::span<std::byte>>> MemoryOf(const SliceInfo& slice) {
    if (absl::Status status = CheckSame(slice); !status.ok()) return status;
    if (memory_) return *memory_;
    auto memory = params_.destinations(slice);
    stopped_by_caller_ = !memory.ok();
    if (memory.ok()) memory_ = *memory;
    return memory;
  }

  absl::Status Deliver(const Chunk& chunk) {
    if (!leg_is_checked_) {
      if (absl::Status status = CheckSame(chunk.slice); !status.ok()) return status;
    }
    next_row_ = chunk.first_row + chunk.row_count;
    absl::Status status = params_.on_chunk(chunk);
    stopped_by_caller_ = !status.ok();
    return status;
  }

  const StreamParams& params_;
  int64_t next_row_;
  bool leg_is_checked_ = false;
  bool stopped_by_caller_ = false;
  std::optional<SliceInfo> slice_;
  std::optional<std::vector<std::span<std::byte>>> memory_;
};

}  // namespace

ServiceOrLocalConnection::ServiceOrLocalConnection(std::shared_ptr<Connection> service,
                                                   std::shared_ptr<Connection> local,
                                                   const FallbackOptions& options,
                                                   RetryEnvironment environment, RunBeside run_beside)
    : ForwardingConnection(std::move(service)),
      local_(std::move(local)),
      probe_timeout_(options.probe_timeout),
      breaker_(options, std::move(environment)),
      run_beside_(std::move(run_beside)) {}

bool ServiceOrLocalConnection::ServiceIsInUse() {
  switch (breaker_.Next()) {
    case CircuitBreaker::Way::kService:
      return true;
    case CircuitBreaker::Way::kProbe:
      return AskHealth();
    case CircuitBreaker::Way::kProbeBeside:
      ProbeBeside();
      return false;
    case CircuitBreaker::Way::kWithout:
      return false;
  }
  return false;
}

void ServiceOrLocalConnection::ProbeBeside() {
  if (run_beside_) return run_beside_([this] { AskHealth(); });
  try {
    prober_ = std::jthread([this] { AskHealth(); });  // the one before has told the breaker and is at its end
  } catch (const std::system_error& error) {
    breaker_.ProbeFailed(absl::ResourceExhaustedError(absl::StrCat("no thread for a probe: ", error.what())));
  }
}

bool ServiceOrLocalConnection::AskHealth() {
  const absl::StatusOr<HealthStatus> health = inner_->Probe(probe_timeout_);
  if (!health.ok() && HasNoAnswer(health.status())) {
    breaker_.ProbeFailed(health.status());
    return false;
  }
  if (health.ok() && *health == HealthStatus::kNotServing) {
    breaker_.ProbeFailed(absl::UnavailableError("the service says that it is not serving"));
    return false;
  }
  // A service without health, or one that wants a token for it, is there.
  breaker_.Reached();
  return true;
}

bool ServiceOrLocalConnection::AskService(const CallOptions& call, const Ask& ask,
                                          const IsUnreachable& is_unreachable, absl::Status& status) {
  status = UnaskedCancelAsUnavailable(ask(*inner_), call.stop);
  if (is_unreachable(status)) {
    // Who gives less time than a probe has is computed for here, and does not decide for all others.
    const bool impatient = absl::IsDeadlineExceeded(status) && call.timeout && *call.timeout < probe_timeout_;
    if (!impatient) breaker_.Failed(status);
    return false;
  }
  // A call that its caller stopped says nothing about the service.
  if (!absl::IsCancelled(status)) breaker_.Reached();
  ++answered_by_service_;
  return true;
}

absl::Status ServiceOrLocalConnection::AskEither(const CallOptions& call, const Ask& ask,
                                                 const IsUnreachable& is_unreachable) {
  absl::Status from_service;
  const bool asked = ServiceIsInUse();
  if (asked && AskService(call, ask, is_unreachable, from_service)) return from_service;
  const absl::Status from_here = ask(*local_);
  if (!NeedsService(from_here)) {
    ++answered_locally_;
    return from_here;
  }
  if (!asked && AskService(call, ask, is_unreachable, from_service)) return from_service;
  ++failed_;
  return Both(from_service, from_here);
}

template <typename Result, typename Params>
absl::StatusOr<Result> ServiceOrLocalConnection::Call(
    absl::StatusOr<Result> (Connection::*method)(const Params&), const Params& params) {
  absl::StatusOr<Result> result;
  absl::Status status = AskEither(
      params.call,
      [&](Connection& connection) {
        result = (connection.*method)(params);
        return result.status();
      },
      HasNoAnswer);
  if (!status.ok()) return status;
  return result;
}

absl::StatusOr<TableDescription> ServiceOrLocalConnection::Describe(const DescribeParams& params) {
  return Call(&Connection::Describe, params);
}

absl::StatusOr<Table> ServiceOrLocalConnection::Fetch(const FetchParams& params) {
  return Call(&Connection::Fetch, params);
}

absl::StatusOr<ModelTables> ServiceOrLocalConnection::ResolveModel(const ResolveModelParams& params) {
  return Call(&Connection::ResolveModel, params);
}

absl::Status ServiceOrLocalConnection::Stream(const StreamParams& params) {
  if (params.checksums_only) return inner_->Stream(params);
  MovingStream stream(params);
  absl::Status stopped;
  absl::Status status = AskEither(
      params.call,
      [&](Connection& connection) {
        if (stream.has_begun()) ++continued_locally_;
        absl::Status ended = stream.Continue(connection);
        if (!stream.stopped_by_caller()) return ended;
        // What the caller's own functions return says nothing about the service.
        stopped = std::move(ended);
        return absl::OkStatus();
      },
      [&](const absl::Status& ended) {
        return stream.has_begun() ? IsDeadConnection(ended) : HasNoAnswer(ended);
      });
  return stopped.ok() ? status : stopped;
}

FallbackStats ServiceOrLocalConnection::stats() const {
  FallbackStats stats{.answered_by_service = answered_by_service_,
                      .answered_locally = answered_locally_,
                      .continued_locally = continued_locally_,
                      .failed = failed_};
  breaker_.AddTo(stats);
  return stats;
}

std::shared_ptr<FallbackConnection> client_v1::MakeConnectionWithFallback(
    std::shared_ptr<Connection> primary, std::shared_ptr<Connection> local,
    const FallbackOptions& options) {
  if (local == nullptr) local = MakeLocalConnection();
  return std::make_shared<ServiceOrLocalConnection>(std::move(primary), std::move(local), options,
                                                    SystemEnvironment());
}

std::shared_ptr<FallbackConnection> client_v1::MakeConnectionWithFallback(
    const std::string& target, ConnectionOptions connection, const FallbackOptions& options) {
  connection.retry.max_attempts = std::min(connection.retry.max_attempts, 2);
  connection.wait_for_ready = false;
  return MakeConnectionWithFallback(MakeConnection(target, connection),
                                    MakeBoundedLocalConnection(nullptr, connection.max_table_bytes), options);
}

}  // namespace posenc
