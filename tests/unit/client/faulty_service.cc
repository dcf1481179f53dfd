#include "tests/unit/client/faulty_service.h"

#include <span>

#include "server/core/crc32c.h"

namespace posenc {
namespace {

constexpr int kRows = FaultyService::kRows;

std::string Rows(int64_t begin, int64_t end) {
  std::string data;
  for (int64_t row = begin; row < end; ++row) {
    const float numbers[2] = {static_cast<float>(row), -static_cast<float>(row)};
    data.append(reinterpret_cast<const char*>(numbers), sizeof(numbers));
  }
  return data;
}

template <typename Message>
void Fill(Message& tensor, int64_t rows) {
  tensor.set_name("table");
  tensor.set_element_type(v1::ELEMENT_TYPE_F32);
  tensor.add_shape(rows);
  tensor.add_shape(2);
}

v1::StreamSliceResponse Chunk(int64_t row, bool first) {
  v1::StreamSliceResponse chunk;
  if (first) {
    chunk.mutable_header()->set_table_key("key");
    chunk.mutable_header()->set_row_count(kRows);
    chunk.mutable_header()->set_size_bytes(kRows * 8);
    Fill(*chunk.mutable_header()->add_tensors(), kRows);
  }
  const std::string data = Rows(row, row + 2);
  chunk.set_first_row(row);
  chunk.set_row_count(2);
  chunk.set_crc32c(ExtendCrc32c(0, std::as_bytes(std::span(data))));
  Fill(*chunk.add_tensors(), 2);
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

grpc::Status FaultyService::GetSlice(grpc::ServerContext* context, const v1::GetSliceRequest*,
                                     v1::GetSliceResponse* response) {
  const auto found = context->client_metadata().find("authorization");
  if (found != context->client_metadata().end()) {
    authorization = std::string(found->second.data(), found->second.size());
  }
  if (grpc::Status status = on_call(++calls_); !status.ok()) return status;
  response->set_table_key("key");
  Fill(*response->add_tensors(), kRows);
  response->mutable_tensors(0)->set_data(Rows(0, kRows));
  on_slice(*response);
  return grpc::Status::OK;
}

grpc::Status FaultyService::StreamSlice(grpc::ServerContext* context, const v1::StreamSliceRequest* request,
                                        grpc::ServerWriter<v1::StreamSliceResponse>* writer) {
  const int call = ++calls_;
  {
    const std::lock_guard lock(mutex_);
    skips_.push_back(request->skip_rows());
    deadline = context->deadline();
  }
  if (grpc::Status status = on_call(call); !status.ok()) return status;
  for (int64_t row = request->skip_rows(); row < kRows; row += 2) {
    v1::StreamSliceResponse chunk = Chunk(row, row == request->skip_rows());
    if (grpc::Status status = on_chunk(call, chunk); !status.ok()) return status;
    writer->Write(chunk);
  }
  return grpc::Status::OK;
}

}  // namespace posenc
