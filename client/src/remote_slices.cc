// The calls of RemoteConnection that carry numbers.

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/src/estimate.h"
#include "client/src/shared_attach.h"
#include "client/src/remote_connection.h"
#include "client/src/slice_call.h"
#include "client/src/slice_frame.h"
#include "client/src/slice_receiver.h"
#include "posenc/table_builder.h"
#include "proto/selection_codec.h"
#include "proto/spec_codec.h"

namespace posenc {
namespace {

constexpr const char* kGetSlice = "/posenc.v1.PositionalEncodingService/GetSlice";
constexpr const char* kStreamSlice = "/posenc.v1.PositionalEncodingService/StreamSlice";

// Up to here one message is quicker than a stream. Below every server's max_unary_bytes by default.
constexpr double kMaxUnaryBytes = 1 << 20;

// From here on a mapping is quicker than a message.
constexpr double kMinSharedBytes = 1 << 20;

bool IsWhole(const Selection& selection) {
  return !selection.rows && !selection.columns && !selection.heads && !selection.keys &&
         selection.positions.empty() && selection.real_positions.empty() && selection.axis_positions.empty();
}

absl::StatusOr<Table> TableFrom(grpc::ByteBuffer& message, uint64_t max_bytes) {
  absl::StatusOr<Frame> frame = ParseFrame(FrameKind::kGetSlice, message);
  if (!frame.ok()) return frame.status();
  std::vector<TensorInfo> infos;
  for (const FrameTensor& tensor : frame->tensors) {
    if (TensorBytes(tensor.info) != tensor.data_bytes) {
      return absl::InternalError(
          absl::StrCat("the server sent a tensor '", tensor.info.name, "' that is not of its shape"));
    }
    infos.push_back(tensor.info);
  }
  absl::StatusOr<TableBuilder> builder =
      TableBuilder::Allocate(std::move(frame->key), std::move(infos), max_bytes);
  if (!builder.ok()) return builder.status();
  FrameReader reader(message);
  uint32_t crc32c = 0;  // TCP's own checksums must do for one small message
  for (size_t i = 0; i < frame->tensors.size(); ++i) {
    absl::Status status = reader.Copy(frame->tensors[i], builder->data()[i], crc32c);
    if (!status.ok()) return status;
  }
  return (*std::move(builder)).Build();
}

}  // namespace

absl::StatusOr<Table> RemoteConnection::FetchUnary(const FetchParams& params, double bytes) {
  v1::GetSliceRequest request;
  *request.mutable_spec() = EncodeSpec(params.spec);
  *request.mutable_selection() = EncodeSelection(params.selection);
  absl::StatusOr<Table> table;
  absl::Status status = Run(params.call, bytes, [&](grpc::ClientContext& context, RetryLoop&) {
    absl::StatusOr<grpc::ByteBuffer> message = CallUnary(channels_.small, kGetSlice, request, context);
    if (!message.ok()) return message.status();
    table = TableFrom(*message, options_.max_table_bytes);
    return table.status();
  });
  if (!status.ok()) return status;
  return table;
}

absl::Status RemoteConnection::Stream(const StreamParams& params) {
  SliceReceiver receiver(params);
  v1::StreamSliceRequest request;
  *request.mutable_spec() = EncodeSpec(params.spec);
  *request.mutable_selection() = EncodeSelection(params.selection);
  request.set_checksums_only(params.checksums_only);
  const double bytes = EstimateBytes(params.spec, params.selection);
  absl::Status stopped;
  absl::Status status = Run(params.call, bytes, [&](grpc::ClientContext& context, RetryLoop& loop) {
    const int64_t begin = receiver.next_row();
    request.set_skip_rows(begin);
    absl::Status ended = CallStream(channels_.bulk, kStreamSlice, request, context,
                                    [&](grpc::ByteBuffer& message) { return receiver.Accept(message); });
    if (receiver.stopped_by_caller()) {
      stopped = ended;
      return absl::OkStatus();
    }
    if (receiver.next_row() > begin) loop.Progressed();
    const absl::Status complete = receiver.Finish();
    // A connection that breaks behind the last row has lost nothing.
    if (ended.ok() || (complete.ok() && IsTransient(ended))) return complete;
    return ended;
  });
  return stopped.ok() ? status : stopped;
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
  if (params.on_progress) {
    stream.on_chunk = [&](const Chunk& chunk) {
      for (const auto& tensor : chunk.tensors) done_bytes += tensor.size();
      params.on_progress(done_bytes, chunk.slice.size_bytes);
      return absl::OkStatus();
    };
  }
  if (absl::Status status = Stream(stream); !status.ok()) return status;
  return (*std::move(builder)).Build();
}

bool RemoteConnection::HasSharedMemory(const CallOptions& call) {
  if (shared_memory_ == SharedMemory::kUnknown) {
    v1::OpenSharedTableRequest request;
    request.set_socket_only(true);
    v1::OpenSharedTableResponse response;
    const absl::Status status = Run(call, 0, [&](grpc::ClientContext& context, RetryLoop&) {
      return FromGrpc(tables_->OpenSharedTable(&context, request, &response));
    });
    const bool there = status.ok() && SharedMemorySocketAnswers(response.socket_path());
    shared_memory_ = there ? SharedMemory::kThere : SharedMemory::kAbsent;
  }
  return shared_memory_ == SharedMemory::kThere;
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
  // Another host with a socket at the same path, or the server's successor: not asked again.
  if (!table.ok()) shared_memory_ = SharedMemory::kAbsent;
  return table;
}

absl::StatusOr<Table> RemoteConnection::Fetch(const FetchParams& params) {
  const double bytes = EstimateBytes(params.spec, params.selection);
  const bool shareable = options_.shared_memory && bytes >= kMinSharedBytes &&
                         bytes <= static_cast<double>(options_.max_table_bytes);
  if (shareable && IsWhole(params.selection) && HasSharedMemory(params.call)) {
    absl::StatusOr<Table> table = FetchShared(params);
    if (table.ok()) return table;
  }
  if (bytes <= kMaxUnaryBytes) {
    absl::StatusOr<Table> table = FetchUnary(params, bytes);
    // A server whose operator allows less in one message.
    if (table.status().code() != absl::StatusCode::kFailedPrecondition) return table;
  }
  return FetchStream(params);
}

}  // namespace posenc
