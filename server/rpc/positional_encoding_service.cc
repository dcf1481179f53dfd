#include "posenc/v1/positional_encoding_service.grpc.pb.h"
#include "server/rpc/calls/rpc_adapter.h"
#include "server/rpc/handlers/describe_table.h"
#include "server/rpc/handlers/get_slice.h"
#include "server/rpc/handlers/open_shared_table.h"
#include "server/rpc/handlers/resolve_model.h"
#include "server/rpc/handlers/stream_slice.h"
#include "server/rpc/service_context.h"

namespace posenc {
namespace {

using grpc::ByteBuffer;
using grpc::CallbackServerContext;
using Generated = v1::PositionalEncodingService;
using RawService = Generated::WithRawCallbackMethod_DescribeTable<
    Generated::WithRawCallbackMethod_GetSlice<Generated::WithRawCallbackMethod_StreamSlice<
        Generated::WithRawCallbackMethod_ResolveModel<
            Generated::WithRawCallbackMethod_OpenSharedTable<Generated::Service>>>>>;

class PositionalEncodingService final : public RawService {
 public:
  explicit PositionalEncodingService(const ServiceContext& context)
      : context_(std::make_shared<SharedContext>(context)) {}

  grpc::ServerUnaryReactor* DescribeTable(CallbackServerContext* rpc, const ByteBuffer* request,
                                          ByteBuffer* answer) override {
    return ServeUnary<v1::DescribeTableRequest>(context_, rpc, request, answer, &posenc::DescribeTable);
  }
  grpc::ServerUnaryReactor* GetSlice(CallbackServerContext* rpc, const ByteBuffer* request,
                                     ByteBuffer* answer) override {
    return ServeUnary<SpecRequest<v1::GetSliceRequest>>(context_, rpc, request, answer, &posenc::GetSlice);
  }
  grpc::ServerWriteReactor<ByteBuffer>* StreamSlice(CallbackServerContext* rpc,
                                                    const ByteBuffer* request) override {
    return ServeStream<SpecRequest<v1::StreamSliceRequest>>(context_, rpc, request, &posenc::StreamSlice);
  }
  grpc::ServerUnaryReactor* ResolveModel(CallbackServerContext* rpc, const ByteBuffer* request,
                                         ByteBuffer* answer) override {
    return ServeUnary<v1::ResolveModelRequest>(context_, rpc, request, answer, &posenc::ResolveModel);
  }
  grpc::ServerUnaryReactor* OpenSharedTable(CallbackServerContext* rpc, const ByteBuffer* request,
                                            ByteBuffer* answer) override {
    return ServeUnary<v1::OpenSharedTableRequest>(context_, rpc, request, answer, &posenc::OpenSharedTable);
  }

 private:
  const ContextPtr context_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakePositionalEncodingService(const ServiceContext& context) {
  return std::make_unique<PositionalEncodingService>(context);
}

}  // namespace posenc
