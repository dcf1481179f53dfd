#include "client/remote/remote_connection.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "client/local/estimate.h"
#include "client/remote/message_codec.h"
#include "client/remote/slice_call.h"
#include "google/protobuf/stubs/common.h"
#include "proto/spec_codec.h"
#include "server/core/shortest_decimal.h"
#include "server/core/table_key.h"

namespace posenc {
namespace {

// Slower than any network this is meant for; see CallOptions::timeout.
constexpr double kSlowestBytesPerSecond = 8 << 20;
// No table takes longer, and absl and gRPC have room for it.
constexpr absl::Duration kLongestTimeout = absl::Hours(24);

// Where the time that passed and the attempts say more than the error itself.
bool IsAboutReaching(const absl::Status& status) {
  return status.code() == absl::StatusCode::kUnavailable ||
         status.code() == absl::StatusCode::kDeadlineExceeded;
}

bool WaitToRetry(RetryLoop& loop, const absl::Status& status, const std::stop_token& stop) {
  if (!stop.stop_possible()) return loop.WaitToRetry(status);
  const std::optional<absl::Duration> delay = loop.DelayOfRetry(status);
  return delay && SleepUnlessStopped(*delay, stop);
}

}  // namespace

RemoteConnection::RemoteConnection(std::string target, const ConnectionOptions& options,
                                   RetryEnvironment environment)
    : target_(std::move(target)),
      options_(options),
      environment_(std::move(environment)),
      budget_(options.retry.budget_tokens),
      channels_(MakeChannels(target_, options_)),
      small_calls_(channels_.small),
      tables_(v1::PositionalEncodingService::NewStub(channels_.small)),
      admin_(v1::TableAdminService::NewStub(channels_.small)),
      health_(grpc::health::v1::Health::NewStub(channels_.small)) {}

void RemoteConnection::Prepare(grpc::ClientContext& context, absl::Time deadline, bool is_retry) const {
  context.set_deadline(absl::ToChronoTime(deadline));
  context.set_wait_for_ready(is_retry && WaitsForServer());
  if (!options_.token.empty()) context.AddMetadata("authorization", "Bearer " + options_.token);
}

bool RemoteConnection::WaitsForServer() const {
  return options_.wait_for_ready || (options_.wait_for_return && reached_);
}

absl::Status RemoteConnection::CheckCall(const CallOptions& call) const {
  const bool printable = absl::c_all_of(options_.token, [](char c) { return c >= ' ' && c <= '~'; });
  if (!printable) {
    return absl::InvalidArgumentError("the token holds a byte that no header may; allowed: printable ASCII");
  }
  // Sent all the same, an answer might come before gRPC's timer.
  if (call.timeout && *call.timeout <= absl::ZeroDuration()) {
    return absl::DeadlineExceededError(absl::StrCat(target_, ": no time is left for the call"));
  }
  return absl::OkStatus();
}

absl::Duration RemoteConnection::TimeoutOf(const CallOptions& call, double bytes) const {
  const absl::Duration usual = options_.timeout + absl::Seconds(bytes / kSlowestBytesPerSecond);
  // gRPC takes a time before 1970 for none.
  return std::clamp(call.timeout.value_or(usual), absl::ZeroDuration(), kLongestTimeout);
}

absl::Status RemoteConnection::Explain(const absl::Status& status, int attempts,
                                       absl::Duration elapsed) const {
  if (!IsAboutReaching(status)) return status;
  const double seconds = absl::ToDoubleSeconds(absl::Trunc(elapsed, absl::Milliseconds(1)));
  return {status.code(),
          absl::StrCat(target_, ": ", status.message(), " (", attempts,
                       attempts == 1 ? " attempt, " : " attempts, ", ShortestDecimal(seconds), " s)")};
}

absl::Status RemoteConnection::Run(const CallOptions& call, double bytes, const Attempt& attempt) {
  if (absl::Status status = CheckCall(call); !status.ok()) return status;
  const absl::Time begin = environment_.now();
  const absl::Duration timeout = TimeoutOf(call, bytes);
  RetryLoop loop(options_.retry, environment_, budget_, begin + timeout);
  absl::Status status;
  absl::Status first_error;
  do {
    grpc::ClientContext context;
    Prepare(context, begin + timeout, loop.attempts() > 1);
    const std::stop_callback cancel(call.stop, [&] { context.TryCancel(); });
    status = UnaskedCancelAsUnavailable(attempt(context, loop), call.stop);
    if (first_error.ok()) first_error = status;
  } while (!status.ok() && WaitToRetry(loop, status, call.stop));
  if (status.ok()) {
    budget_.GiveForSuccess();
    if (!reached_) reached_ = true;
    return status;
  }
  if (call.stop.stop_requested()) return absl::CancelledError("stopped by the caller");
  // A retry that waited for the server in vain ends with the deadline; why it waited is more telling.
  if (status.code() == absl::StatusCode::kDeadlineExceeded && !first_error.ok()) {
    status = {status.code(), first_error.message()};
  }
  return Explain(status, loop.attempts(), environment_.now() - begin);
}

template <typename Stub, typename Request, typename Response>
absl::Status RemoteConnection::RunUnary(
    const CallOptions& call, Stub& stub,
    grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
    const Request& request, Response& response, double bytes) {
  return Run(call, bytes, [&](grpc::ClientContext& context, RetryLoop&) {
    return FromGrpc((stub.*method)(&context, request, &response));
  });
}

absl::StatusOr<TableDescription> RemoteConnection::Describe(const DescribeParams& params) {
  using Stub = v1::PositionalEncodingService::Stub;
  v1::DescribeTableRequest request;
  *request.mutable_spec() = EncodeSpec(params.spec);
  request.set_with_content_digest(params.with_content_digest);
  v1::DescribeTableResponse response;
  // The server reads a whole table for its digest.
  const double bytes = params.with_content_digest ? EstimateBytes(params.spec, Selection()) : 0;
  absl::Status status =
      RunUnary(params.call, *tables_, &Stub::DescribeTable, request, response, bytes);
  if (!status.ok()) return status;
  absl::StatusOr<TableDescription> description = DecodeDescription(response);
  if (!description.ok()) return description;
  const SliceInfo answer{description->key, description->tensors, description->rows, description->size_bytes};
  status = CheckAnswer(expected_answers_.Of(params.spec, Selection()), answer);
  if (!status.ok()) return status;
  return description;
}

absl::StatusOr<ModelTables> RemoteConnection::ResolveModel(const ResolveModelParams& params) {
  using Stub = v1::PositionalEncodingService::Stub;
  // Protobuf would send it all the same, and the server could not read the request.
  const ModelQuery& query = params.query;
  const bool is_gguf = !query.gguf_json.empty();
  if (!google::protobuf::internal::IsStructurallyValidUTF8(is_gguf ? query.gguf_json : query.config_json)) {
    return absl::InvalidArgumentError(absl::StrCat(is_gguf ? "gguf_json" : "config_json", " is not UTF-8"));
  }
  v1::ResolveModelRequest request;
  if (is_gguf) {
    request.set_gguf_json(query.gguf_json);
  } else {
    request.set_config_json(query.config_json);
  }
  request.set_runtime(static_cast<v1::Runtime>(query.runtime));
  if (query.effective_length) request.set_effective_length(*query.effective_length);
  v1::ResolveModelResponse response;
  absl::Status status = RunUnary(params.call, *tables_, &Stub::ResolveModel, request, response);
  if (!status.ok()) return status;
  return DecodeModelTables(response);
}

absl::StatusOr<TablePage> RemoteConnection::ListTables(const ListTablesParams& params) {
  v1::ListTablesRequest request;
  request.set_page_token(params.page_token);
  v1::ListTablesResponse response;
  absl::Status status = RunUnary(params.call, *admin_, &v1::TableAdminService::Stub::ListTables,
                                 request, response);
  if (!status.ok()) return status;
  return DecodeTablePage(response);
}

absl::StatusOr<EvictedTables> RemoteConnection::Evict(const EvictParams& params) {
  for (const std::string& key : params.keys) {
    const absl::StatusOr<TableKey> valid = TableKey::FromHex(key);
    if (!valid.ok()) return valid.status();
  }
  v1::EvictTablesRequest request;
  request.mutable_table_keys()->Add(params.keys.begin(), params.keys.end());
  request.set_all(params.all);
  v1::EvictTablesResponse response;
  absl::Status status = RunUnary(params.call, *admin_, &v1::TableAdminService::Stub::EvictTables,
                                 request, response);
  if (!status.ok()) return status;
  return EvictedTables{response.tables(), response.blocks(), response.bytes()};
}

absl::StatusOr<ServerStatus> RemoteConnection::ServerInfo(const CallOptions& call) {
  const v1::GetServerInfoRequest request;
  v1::GetServerInfoResponse response;
  absl::Status status =
      RunUnary(call, *admin_, &v1::TableAdminService::Stub::GetServerInfo, request, response);
  if (!status.ok()) return status;
  return DecodeServerStatus(response);
}

absl::StatusOr<HealthStatus> RemoteConnection::Health(const CallOptions& call) {
  const grpc::health::v1::HealthCheckRequest request;
  grpc::health::v1::HealthCheckResponse response;
  absl::Status status =
      RunUnary(call, *health_, &grpc::health::v1::Health::Stub::Check, request, response);
  if (!status.ok()) return status;
  return static_cast<HealthStatus>(std::clamp<int>(response.status(), 0, 3));
}

absl::Status RemoteConnection::Warm(const WarmParams& params) {
  v1::WarmTablesRequest request;
  double bytes = 0;
  for (const TableSpec& spec : params.specs) {
    *request.add_specs() = EncodeSpec(spec);
    bytes += EstimateBytes(spec, Selection());
  }
  request.set_unpinned(params.unpinned);
  return Run(params.call, bytes, [&](grpc::ClientContext& context, RetryLoop& loop) {
    const auto reader = admin_->WarmTables(&context, request);
    v1::WarmTablesResponse message;
    while (reader->Read(&message)) {
      loop.Progressed();
      if (!params.on_progress) continue;
      params.on_progress({message.table_key(), message.blocks_done(), message.blocks_total(),
                          message.tables_done(), message.tables_total()});
    }
    return FromGrpc(reader->Finish());
  });
}

std::shared_ptr<Connection> client_v1::MakeConnection(const std::string& target,
                                                      const ConnectionOptions& options) {
  return std::make_shared<RemoteConnection>(target, options, SystemEnvironment());
}

}  // namespace posenc
