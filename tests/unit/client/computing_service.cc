#include "tests/unit/client/computing_service.h"

#include <grpc/grpc.h>

#include "proto/selection_codec.h"
#include "proto/spec_codec.h"
#include "proto/status_codec.h"
#include "server/core/crc32c.h"

namespace posenc {
namespace {

grpc::Status ToGrpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  return {static_cast<grpc::StatusCode>(status.code()), std::string(status.message()),
          EncodeStatusDetails(status)};
}

template <typename Message>
void Fill(const TensorInfo& info, int64_t rows, Message& tensor) {
  tensor.set_name(info.name);
  tensor.set_element_type(EncodeElementType(info.element_type));
  tensor.mutable_shape()->Add(info.shape.begin(), info.shape.end());
  if (rows >= 0) tensor.set_shape(0, rows);
}

v1::StreamSliceResponse ChunkMessage(const Chunk& chunk, bool first) {
  v1::StreamSliceResponse message;
  if (first) {
    v1::SliceHeader& header = *message.mutable_header();
    header.set_table_key(chunk.slice.key);
    header.set_row_count(chunk.slice.row_count);
    header.set_size_bytes(chunk.slice.size_bytes);
    for (const TensorInfo& info : chunk.slice.tensors) Fill(info, -1, *header.add_tensors());
  }
  message.set_first_row(chunk.first_row);
  message.set_row_count(chunk.row_count);
  uint32_t crc32c = 0;
  for (size_t i = 0; i < chunk.tensors.size(); ++i) {
    v1::Tensor& tensor = *message.add_tensors();
    Fill(chunk.slice.tensors[i], chunk.row_count, tensor);
    tensor.set_data(chunk.tensors[i].data(), chunk.tensors[i].size());
    crc32c = ExtendCrc32c(crc32c, chunk.tensors[i]);
  }
  message.set_crc32c(crc32c);
  return message;
}

}  // namespace

ComputingService::ComputingService() {
  // Never undone: after large writes gRPC takes up to ten seconds to shut down, which it would between tests.
  [[maybe_unused]] static const bool stays = (grpc_init(), true);
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
  builder.RegisterService(this);
  server_ = builder.BuildAndStart();
}

grpc::Status ComputingService::GetSlice(grpc::ServerContext* context, const v1::GetSliceRequest* request,
                                        v1::GetSliceResponse* response) {
  if (grpc::Status status = on_call(++calls_, *context); !status.ok()) return status;
  const auto table = local_->Fetch({.spec = DecodeSpec(request->spec()).value(),
                                    .selection = DecodeSelection(request->selection()).value()});
  if (!table.ok()) return ToGrpc(table.status());
  response->set_table_key(table->key());
  for (const TensorInfo& info : table->tensors()) {
    v1::Tensor& tensor = *response->add_tensors();
    Fill(info, -1, tensor);
    tensor.set_data(table->bytes(info.name).data(), table->bytes(info.name).size());
  }
  return grpc::Status::OK;
}

grpc::Status ComputingService::StreamSlice(grpc::ServerContext* context,
                                           const v1::StreamSliceRequest* request,
                                           grpc::ServerWriter<v1::StreamSliceResponse>* writer) {
  {
    const std::lock_guard lock(mutex_);
    streams_.emplace_back(request->selection().rows().begin(), request->skip_rows());
  }
  if (grpc::Status status = on_call(++calls_, *context); !status.ok()) return status;
  grpc::Status broken;
  const absl::Status ended = local_->Stream(
      {.spec = DecodeSpec(request->spec()).value(),
       .selection = DecodeSelection(request->selection()).value(),
       .skip_rows = request->skip_rows(),
       .on_chunk = [&](const Chunk& chunk) {
         v1::StreamSliceResponse message = ChunkMessage(chunk, chunk.first_row == request->skip_rows());
         broken = on_chunk(*request, message);
         return broken.ok() && writer->Write(message) ? absl::OkStatus() : absl::AbortedError("broken");
       }});
  return broken.ok() ? ToGrpc(ended) : broken;
}

}  // namespace posenc
