#include "tests/unit/rpc/rpc_fixture.h"

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <future>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "posenc/v1/positional_encoding_service.grpc.pb.h"
#include "posenc/v1/table_admin_service.grpc.pb.h"
#include "proto/spec_codec.h"
#include "proto/status_codec.h"
#include "server/encodings/table_generator.h"
#include "server/rpc/services.h"
#include "server/tables/shared_tables.h"

namespace posenc {
namespace {

absl::Status FromGrpc(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  return DecodeStatus(status.error_code(), status.error_message(), status.error_details());
}

void SetTimeout(grpc::ClientContext& rpc, absl::Duration timeout) {
  rpc.set_deadline(absl::ToChronoTime(absl::Now() + timeout));
}

constexpr absl::Duration kTimeout = absl::Seconds(60);

// One unary call through a generated stub.
template <typename Response, typename Stub, typename Request>
absl::StatusOr<Response> Unary(Stub& stub,
                               grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                                            Response*),
                               const Request& request, absl::Duration timeout = kTimeout) {
  grpc::ClientContext rpc;
  SetTimeout(rpc, timeout);
  Response response;
  const grpc::Status status = (stub.*method)(&rpc, request, &response);
  if (!status.ok()) return FromGrpc(status);
  return response;
}

std::string ToString(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  EXPECT_TRUE(buffer.Dump(&slices).ok());
  std::string text;
  for (const grpc::Slice& slice : slices) {
    text.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return text;
}

class TypedStream final : public OpenStream {
 public:
  TypedStream(v1::PositionalEncodingService::Stub& stub, const v1::StreamSliceRequest& request) {
    SetTimeout(rpc_, kTimeout);
    reader_ = stub.StreamSlice(&rpc_, request);
  }
  bool Read(v1::StreamSliceResponse* chunk) override { return reader_->Read(chunk); }
  void Cancel() override { rpc_.TryCancel(); }
  absl::Status Finish() override { return FromGrpc(reader_->Finish()); }

 private:
  grpc::ClientContext rpc_;
  std::unique_ptr<grpc::ClientReader<v1::StreamSliceResponse>> reader_;
};

TableSpec SpecOf(const std::string& text) {
  return DecodeNormalizedSpec(ParseText<v1::TableSpec>(text)).value();
}

std::unique_ptr<TableStore> MakeStore(const ServerSettings& settings) {
  TableStoreOptions options;
  options.budget_bytes = settings.budget_bytes;
  options.block_bytes = settings.block_bytes;
  options.threads = 2;
  return MakeTableStore(options);
}

// Buffers for `rows` rows of every tensor.
struct Output {
  Output(const TableShape& shape, int64_t rows) {
    for (const TensorShape& tensor : shape.tensors) {
      data.emplace_back(static_cast<size_t>(rows * tensor.row_bytes()), '\0');
    }
    for (std::string& bytes : data) targets.push_back(reinterpret_cast<std::byte*>(bytes.data()));
  }
  std::vector<std::string> data;
  std::vector<std::byte*> targets;
};

}  // namespace

struct RpcTest::Server {
  explicit Server(const ServerSettings& settings)
      : store(MakeStore(settings)) {
    ServiceContext context;
    context.store = store.get();
    context.build = {"1.2.3", "abc", "cc"};
    context.start_time = absl::Now();
    context.block_bytes = settings.block_bytes;
    context.max_unary_bytes = settings.max_unary_bytes;
    context.max_memory_wait = settings.max_memory_wait;
    context.stall_timeout = settings.stall_timeout;
    if (settings.shared_memory) shared_tables = std::make_unique<SharedTables>(*store);
    context.shared_tables = shared_tables.get();
    tables_service = MakePositionalEncodingService(context);
    admin_service = MakeTableAdminService(context);
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(tables_service.get());
    builder.RegisterService(admin_service.get());
    server = builder.BuildAndStart();
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    // Windows that grow let the transport take more for a reader that has stalled.
    arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    channel = grpc::CreateCustomChannel(absl::StrCat("127.0.0.1:", port),
                                        grpc::InsecureChannelCredentials(), arguments);
    tables = v1::PositionalEncodingService::NewStub(channel);
    admin = v1::TableAdminService::NewStub(channel);
  }

  ~Server() {
    server->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(5));
    server->Wait();
    store->Shutdown();
  }

  std::unique_ptr<TableStore> store;
  std::unique_ptr<SharedTables> shared_tables;
  std::unique_ptr<grpc::Service> tables_service;
  std::unique_ptr<grpc::Service> admin_service;
  std::unique_ptr<grpc::Server> server;
  int port = 0;
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<v1::PositionalEncodingService::Stub> tables;
  std::unique_ptr<v1::TableAdminService::Stub> admin;
};

RpcTest::RpcTest() : server_(std::make_unique<Server>(ServerSettings())) {}
RpcTest::~RpcTest() = default;

void RpcTest::Restart(const ServerSettings& settings) {
  server_.reset();
  server_ = std::make_unique<Server>(settings);
}

TableStore& RpcTest::store() { return *server_->store; }
int RpcTest::port() const { return server_->port; }

absl::StatusOr<v1::DescribeTableResponse> RpcTest::DescribeTable(const std::string& request,
                                                                 absl::Duration timeout) {
  return Unary<v1::DescribeTableResponse>(*server_->tables,
                                          &v1::PositionalEncodingService::Stub::DescribeTable,
                                          ParseText<v1::DescribeTableRequest>(request), timeout);
}

absl::StatusOr<v1::GetSliceResponse> RpcTest::GetSlice(const std::string& request,
                                                       absl::Duration timeout) {
  return Unary<v1::GetSliceResponse>(*server_->tables, &v1::PositionalEncodingService::Stub::GetSlice,
                                     ParseText<v1::GetSliceRequest>(request), timeout);
}

StreamedSlice RpcTest::StreamSlice(const std::string& request) {
  StreamedSlice slice;
  const std::unique_ptr<OpenStream> stream = OpenSlice(request);
  v1::StreamSliceResponse chunk;
  while (stream->Read(&chunk)) slice.chunks.push_back(chunk);
  slice.status = stream->Finish();
  return slice;
}

std::unique_ptr<OpenStream> RpcTest::OpenSlice(const std::string& request) {
  return std::make_unique<TypedStream>(*server_->tables, ParseText<v1::StreamSliceRequest>(request));
}

absl::StatusOr<v1::ResolveModelResponse> RpcTest::ResolveModel(const std::string& config_json) {
  v1::ResolveModelRequest request;
  request.set_config_json(config_json);
  return Unary<v1::ResolveModelResponse>(
      *server_->tables, &v1::PositionalEncodingService::Stub::ResolveModel, request);
}

absl::StatusOr<v1::OpenSharedTableResponse> RpcTest::OpenSharedTable(
    const v1::OpenSharedTableRequest& request) {
  return Unary<v1::OpenSharedTableResponse>(
      *server_->tables, &v1::PositionalEncodingService::Stub::OpenSharedTable, request);
}

absl::StatusOr<v1::ListTablesResponse> RpcTest::ListTables(const std::string& request) {
  return Unary<v1::ListTablesResponse>(*server_->admin, &v1::TableAdminService::Stub::ListTables,
                                       ParseText<v1::ListTablesRequest>(request));
}

absl::StatusOr<std::vector<v1::WarmTablesResponse>> RpcTest::WarmTables(const std::string& request,
                                                                     absl::Duration timeout) {
  grpc::ClientContext rpc;
  SetTimeout(rpc, timeout);
  const auto reader = server_->admin->WarmTables(&rpc, ParseText<v1::WarmTablesRequest>(request));
  std::vector<v1::WarmTablesResponse> progress;
  v1::WarmTablesResponse message;
  while (reader->Read(&message)) progress.push_back(message);
  const grpc::Status status = reader->Finish();
  if (!status.ok()) return FromGrpc(status);
  return progress;
}

absl::StatusOr<v1::EvictTablesResponse> RpcTest::EvictTables(const std::string& request) {
  return Unary<v1::EvictTablesResponse>(*server_->admin, &v1::TableAdminService::Stub::EvictTables,
                                        ParseText<v1::EvictTablesRequest>(request));
}

absl::StatusOr<v1::GetServerInfoResponse> RpcTest::GetServerInfo() {
  return Unary<v1::GetServerInfoResponse>(*server_->admin,
                                          &v1::TableAdminService::Stub::GetServerInfo,
                                          v1::GetServerInfoRequest());
}

RawAnswer RpcTest::CallRaw(const std::string& method, const std::string& request, size_t max_messages) {
  grpc::GenericStub stub(server_->channel);
  grpc::ClientContext rpc;
  SetTimeout(rpc, kTimeout);
  grpc::CompletionQueue queue;
  const auto wait = [&queue] {
    void* tag = nullptr;
    bool ok = false;
    return queue.Next(&tag, &ok) && ok;
  };
  const auto call = stub.PrepareCall(&rpc, absl::StrCat("/posenc.v1.", method), &queue);
  call->StartCall(nullptr);
  wait();
  const grpc::Slice slice(request);
  call->WriteLast(grpc::ByteBuffer(&slice, 1), grpc::WriteOptions(), nullptr);
  wait();
  RawAnswer answer;
  grpc::ByteBuffer message;
  for (call->Read(&message, nullptr); wait(); call->Read(&message, nullptr)) {
    answer.messages.push_back(ToString(message));
    if (answer.messages.size() == max_messages) rpc.TryCancel();
  }
  grpc::Status status;
  call->Finish(&status, nullptr);
  wait();
  answer.status = FromGrpc(status);
  return answer;
}

bool RpcTest::MemoryComesBack() {
  store().EvictAll();
  // Only what generators keep may stay.
  const StoreStats stats = store().stats();
  const size_t all = stats.limit_bytes - stats.generator_bytes - (size_t{64} << 10);
  std::promise<absl::Status> granted;
  store().Allocate(all, absl::Now() + absl::Seconds(30),
                   [&](absl::StatusOr<BufferPtr> buffer) { granted.set_value(buffer.status()); });
  return granted.get_future().get().ok();
}

std::string StreamedSlice::Data(int tensor, int64_t first_row) const {
  std::string data;
  int64_t next = first_row;
  for (const v1::StreamSliceResponse& chunk : chunks) {
    EXPECT_EQ(chunk.first_row(), next);
    next += chunk.row_count();
    data += chunk.tensors(tensor).data();
  }
  return data;
}

int64_t StreamedSlice::rows() const {
  int64_t rows = 0;
  for (const v1::StreamSliceResponse& chunk : chunks) rows += chunk.row_count();
  return rows;
}

std::string ExpectedRows(const std::string& spec, int64_t first, int64_t count, size_t tensor) {
  const auto generator = MakeTableGenerator(SpecOf(spec)).value();
  Output output(generator->shape(), count);
  generator->Generate(first, count, output.targets);
  return output.data[tensor];
}

std::string ExpectedPositions(const std::string& spec, const std::vector<int64_t>& positions,
                              size_t tensor) {
  const auto generator = MakeTableGenerator(SpecOf(spec)).value();
  Output output(generator->shape(), static_cast<int64_t>(positions.size()));
  generator->GenerateAt(std::vector<double>(positions.begin(), positions.end()), output.targets);
  return output.data[tensor];
}

std::string CutRows(const std::string& rows, size_t row_bytes, size_t begin, size_t end) {
  std::string cut;
  for (size_t at = 0; at < rows.size(); at += row_bytes) cut += rows.substr(at + begin, end - begin);
  return cut;
}

}  // namespace posenc
