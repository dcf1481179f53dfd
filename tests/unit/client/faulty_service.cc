#include "tests/unit/client/faulty_service.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "client/local/local_slice.h"
#include "proto/selection_codec.h"
#include "proto/spec_codec.h"
#include "server/core/crc32c.h"

namespace posenc {
namespace {

// What an honest service would say of the answer to a request.
template <typename Request>
SliceInfo InfoOf(const Request& request) {
  return LocalSlice::Make(DecodeSpec(request.spec()).value(), DecodeSelection(request.selection()).value())->info();
}

int64_t RowBytes(const SliceInfo& info) { return static_cast<int64_t>(info.size_bytes) / info.row_count; }

std::string Rows(const SliceInfo& info, int64_t begin, int64_t end) {
  std::string data((end - begin) * RowBytes(info), '\0');
  for (int64_t row = begin; row < end; ++row) {
    const float numbers[2] = {static_cast<float>(row), -static_cast<float>(row)};
    std::memcpy(data.data() + (row - begin) * RowBytes(info), numbers, sizeof(numbers));
  }
  return data;
}

template <typename Message>
void Fill(Message& tensor, const SliceInfo& info, int64_t rows) {
  tensor.set_name(info.tensors.front().name);
  tensor.set_element_type(v1::ELEMENT_TYPE_F32);
  tensor.add_shape(rows);
  tensor.add_shape(RowBytes(info) / static_cast<int64_t>(sizeof(float)));
}

v1::StreamSliceResponse ChunkMessage(const SliceInfo& info, int64_t row, int64_t rows, bool first, bool with_data) {
  v1::StreamSliceResponse chunk;
  if (first) {
    chunk.mutable_header()->set_table_key(info.key);
    chunk.mutable_header()->set_row_count(info.row_count);
    chunk.mutable_header()->set_size_bytes(info.size_bytes);
    Fill(*chunk.mutable_header()->add_tensors(), info, info.row_count);
  }
  chunk.set_first_row(row);
  chunk.set_row_count(rows);
  Fill(*chunk.add_tensors(), info, rows);
  if (!with_data) return chunk;
  const std::string data = Rows(info, row, row + rows);
  chunk.set_crc32c(ExtendCrc32c(0, std::as_bytes(std::span(data))));
  chunk.mutable_tensors(0)->set_data(data);
  return chunk;
}

}  // namespace

FaultyService::FaultyService(int port, const std::shared_ptr<grpc::ServerCredentials>& credentials) {
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:" + std::to_string(port), credentials, &port_);
  builder.RegisterService(this);
  server_ = builder.BuildAndStart();
}

grpc::Status FaultyService::DescribeTable(grpc::ServerContext*, const v1::DescribeTableRequest* request,
                                          v1::DescribeTableResponse* response) {
  const SliceInfo info = LocalSlice::Make(DecodeSpec(request->spec()).value(), Selection())->info();
  response->set_table_key(info.key);
  *response->mutable_spec() = request->spec();
  response->set_rows(info.row_count);
  response->set_size_bytes(info.size_bytes);
  Fill(*response->add_tensors(), info, info.row_count);
  on_describe(*response);
  return grpc::Status::OK;
}

grpc::Status FaultyService::GetSlice(grpc::ServerContext* context, const v1::GetSliceRequest* request,
                                     v1::GetSliceResponse* response) {
  const auto found = context->client_metadata().find("authorization");
  if (found != context->client_metadata().end()) {
    authorization = std::string(found->second.data(), found->second.size());
  }
  if (grpc::Status status = on_call(++calls_); !status.ok()) return status;
  const SliceInfo info = InfoOf(*request);
  response->set_table_key(info.key);
  Fill(*response->add_tensors(), info, info.row_count);
  response->mutable_tensors(0)->set_data(Rows(info, 0, info.row_count));
  on_slice(*response);
  return grpc::Status::OK;
}

grpc::Status FaultyService::StreamSlice(grpc::ServerContext* context, const v1::StreamSliceRequest* request,
                                        grpc::ServerWriter<v1::StreamSliceResponse>* writer) {
  const int call = ++calls_;
  {
    const std::lock_guard lock(mutex_);
    skips_.push_back(request->skip_rows());
    peers_.push_back(context->peer());
    deadline = context->deadline();
  }
  if (grpc::Status status = on_call(call); !status.ok()) return status;
  const SliceInfo info = InfoOf(*request);
  const int64_t step = std::max<int64_t>(2, info.row_count / 5);
  for (int64_t row = request->skip_rows(); row < info.row_count; row += step) {
    const int64_t rows = std::min(step, info.row_count - row);
    const bool first = row == request->skip_rows();
    v1::StreamSliceResponse chunk = ChunkMessage(info, row, rows, first, !request->checksums_only());
    if (grpc::Status status = on_chunk(call, chunk); !status.ok()) return status;
    writer->Write(chunk);
  }
  return grpc::Status::OK;
}

}  // namespace posenc
