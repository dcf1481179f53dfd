// The calls of RemoteConnection that carry numbers.

#include <optional>
#include <utility>

#include "client/local/estimate.h"
#include "client/remote/remote_connection.h"
#include "client/remote/slice_call.h"
#include "client/remote/slice_receiver.h"
#include "client/remote/slice_request.h"
#include "client/remote/unary_slice.h"
#include "client/shared_memory/shared_attach.h"
#include "posenc/table_builder.h"
#include "proto/selection_codec.h"
#include "proto/spec_codec.h"

namespace posenc {
namespace {

constexpr const char* kStreamSlice = "/posenc.v1.PositionalEncodingService/StreamSlice";

// From here on a mapping is quicker than a message.
constexpr double kMinSharedBytes = 1 << 20;

// The caller's function runs on the caller's thread.
ConsumeOn ThreadsFor(const StreamParams& params) {
  return params.on_chunk ? ConsumeOn::kCaller : ConsumeOn::kReceiver;
}

bool IsWhole(const Selection& selection) {
  return !selection.rows && !selection.columns && !selection.heads && !selection.keys &&
         selection.positions.empty() && selection.real_positions.empty() && selection.axis_positions.empty();
}

}  // namespace

absl::StatusOr<Table> RemoteConnection::FetchUnary(const FetchParams& params, double bytes) {
  const std::string request = GetSliceRequestBytes(params.spec, params.selection);
  absl::StatusOr<Table> table;
  std::optional<ExpectedAnswer> expected;
  const auto expect = [&] {
    if (!expected) expected = expected_answers_.Of(params.spec, params.selection);
  };
  absl::Status status = Run(params.call, bytes, [&](grpc::ClientContext& context, RetryLoop&) {
    absl::StatusOr<grpc::ByteBuffer> message = small_calls_.Call(kGetSlice, request, context, expect);
    if (!message.ok()) return message.status();
    table = TableFrom(*message, *expected, options_.max_table_bytes);
    return table.status();
  });
  if (!status.ok()) return status;
  return table;
}

absl::Status RemoteConnection::StreamOver(std::shared_ptr<grpc::Channel> channel, const StreamParams& params,
                                          ConsumeOn where) {
  SliceReceiver receiver(params, expected_answers_.Of(params.spec, params.selection));
  v1::StreamSliceRequest request;
  *request.mutable_spec() = EncodeSpec(params.spec);
  *request.mutable_selection() = EncodeSelection(params.selection);
  request.set_checksums_only(params.checksums_only);
  const double bytes = EstimateBytes(params.spec, params.selection);
  absl::Status stopped;
  bool stood_still = false;  // since the last row
  absl::Status status = Run(params.call, bytes, [&](grpc::ClientContext& context, RetryLoop& loop) {
    const int64_t begin = receiver.next_row();
    request.set_skip_rows(begin);
    // A retry that waits for a server to come back is no standstill, unless the last one was.
    StandStill still{.limit = options_.stall_timeout,
                     .from_start = stood_still || loop.attempts() == 1 || !WaitsForServer()};
    absl::Status ended = CallStream(channel, kStreamSlice, request, context, where, still,
                                    [&](grpc::ByteBuffer& message) { return receiver.Accept(message); });
    if (receiver.stopped_by_caller()) {
      stopped = ended;
      return absl::OkStatus();
    }
    ended = UnaskedCancelAsUnavailable(std::move(ended), params.call.stop);
    if (receiver.next_row() > begin) {
      loop.Progressed();
      stood_still = false;
      reached_ = true;
    }
    if (still.happened) {
      if (stood_still) loop.GiveUp();
      stood_still = true;
      channel = MakeFreshChannel(target_, options_);
    }
    const absl::Status complete = receiver.Finish();
    // A connection that breaks behind the last row has lost nothing.
    if (ended.ok() || (complete.ok() && IsTransient(ended))) return complete;
    return ended;
  });
  return stopped.ok() ? status : stopped;
}

std::optional<absl::Status> RemoteConnection::StreamInParts(const StreamParams& params,
                                                            const ReadProgress& on_progress) {
  const double bytes = EstimateBytes(params.spec, params.selection);
  if (channels_.bulk.size() < 2 || bytes < static_cast<double>(kMinParallelBytes)) return std::nullopt;
  const auto plan = PlanParallelRead(params.spec, params.selection, channels_.bulk.size());
  if (!plan) return std::nullopt;
  // All parts together, at the same time or not, have the time of one call.
  const absl::Time deadline = environment_.now() + TimeoutOf(params.call, bytes);
  return ReadInParallel(
      *plan, params,
      [this, deadline](size_t part, StreamParams stream) {
        stream.call.timeout = deadline - environment_.now();
        return StreamOver(channels_.bulk[part], stream, ConsumeOn::kReceiver);
      },
      on_progress);
}

absl::Status RemoteConnection::Stream(const StreamParams& params) {
  // Only where nobody watches the order of the rows.
  if (params.destinations && !params.on_chunk && !params.checksums_only && params.skip_rows == 0) {
    if (std::optional<absl::Status> status = StreamInParts(params, {})) return *std::move(status);
  }
  return StreamOver(params.on_chunk ? channels_.streams : channels_.bulk.front(), params, ThreadsFor(params));
}

absl::StatusOr<Table> RemoteConnection::FetchStream(const FetchParams& params) {
  std::optional<TableBuilder> builder;
  uint64_t done_bytes = 0;
  StreamParams stream{.spec = params.spec, .selection = params.selection, .call = params.call};
  stream.destinations =
      [&](const SliceInfo& slice) -> absl::StatusOr<std::vector<std::span<std::byte>>> {
    auto allocated = TableBuilder::Allocate(slice.key, slice.tensors, options_.max_table_bytes);
    if (!allocated.ok()) return allocated.status();
    builder = *std::move(allocated);
    return builder->data();
  };
  if (const std::optional<absl::Status> status = StreamInParts(stream, params.on_progress)) {
    if (!status->ok()) return *status;
    return (*std::move(builder)).Build();
  }
  if (params.on_progress) {
    stream.on_chunk = [&](const Chunk& chunk) {
      for (const auto& tensor : chunk.tensors) done_bytes += tensor.size();
      params.on_progress(done_bytes, chunk.slice.size_bytes);
      return absl::OkStatus();
    };
  }
  absl::Status status = StreamOver(channels_.bulk.front(), stream, ThreadsFor(stream));
  if (!status.ok()) return status;
  return (*std::move(builder)).Build();
}

absl::StatusOr<bool> RemoteConnection::HasSharedMemory(const CallOptions& call) {
  if (shared_memory_.IsToBeAsked(environment_.now())) {
    v1::OpenSharedTableRequest request;
    request.set_socket_only(true);
    v1::OpenSharedTableResponse response;
    const absl::Status status = Run(call, 0, [&](grpc::ClientContext& context, RetryLoop&) {
      return FromGrpc(tables_->OpenSharedTable(&context, request, &response));
    });
    // No answer, and none for the table either.
    if (IsTransient(status) || absl::IsDeadlineExceeded(status) || absl::IsCancelled(status)) return status;
    const bool there = status.ok() && SharedMemorySocketAnswers(response.socket_path());
    there ? shared_memory_.Found() : shared_memory_.Failed(environment_.now());
  }
  return shared_memory_.is_there();
}

absl::StatusOr<Table> RemoteConnection::FetchShared(const FetchParams& params) {
  v1::OpenSharedTableRequest request;
  *request.mutable_spec() = EncodeSpec(params.spec);
  v1::OpenSharedTableResponse response;
  const double bytes = EstimateBytes(params.spec, params.selection);
  absl::Status status = Run(params.call, bytes, [&](grpc::ClientContext& context, RetryLoop&) {
    return FromGrpc(tables_->OpenSharedTable(&context, request, &response));
  });
  if (!status.ok()) return status;
  absl::StatusOr<Table> table = AttachSharedTable(response);
  if (!table.ok()) {
    // Another host with a socket at the same path, the server's successor, or a moment's trouble.
    shared_memory_.Failed(environment_.now());
    return table;
  }
  shared_memory_.Worked();
  status = CheckAnswer(expected_answers_.Of(params.spec, params.selection), table->key(), table->tensors());
  if (!status.ok()) return status;
  return table;
}

absl::StatusOr<Table> RemoteConnection::Fetch(const FetchParams& params) {
  const double bytes = EstimateBytes(params.spec, params.selection);
  const absl::Time deadline = environment_.now() + TimeoutOf(params.call, bytes);
  // Whatever is tried one after the other has the time of one call.
  FetchParams rest = params;
  const auto take_rest = [&]() -> const FetchParams& {
    rest.call.timeout = deadline - environment_.now();
    return rest;
  };
  const bool shareable = options_.shared_memory && bytes >= kMinSharedBytes &&
                         bytes <= static_cast<double>(options_.max_table_bytes);
  if (shareable && IsWhole(params.selection)) {
    const absl::StatusOr<bool> shared = HasSharedMemory(take_rest().call);
    if (!shared.ok()) return shared.status();
    if (*shared) {
      absl::StatusOr<Table> table = FetchShared(take_rest());
      if (table.ok()) return table;
    }
  }
  if (FitsOneMessage(params.spec, params.selection, bytes)) {
    absl::StatusOr<Table> table = FetchUnary(take_rest(), bytes);
    // A server whose operator allows less in one message.
    if (table.status().code() != absl::StatusCode::kFailedPrecondition) return table;
  }
  return FetchStream(take_rest());
}

}  // namespace posenc
