#include "posenc/v1/table_admin_service.grpc.pb.h"
#include "server/rpc/calls/rpc_adapter.h"
#include "server/rpc/handlers/evict_tables.h"
#include "server/rpc/handlers/get_server_info.h"
#include "server/rpc/handlers/list_tables.h"
#include "server/rpc/handlers/warm_tables.h"
#include "server/rpc/service_context.h"

namespace posenc {
namespace {

using grpc::ByteBuffer;
using grpc::CallbackServerContext;
using Generated = v1::TableAdminService;
using RawService = Generated::WithRawCallbackMethod_ListTables<
    Generated::WithRawCallbackMethod_WarmTables<Generated::WithRawCallbackMethod_EvictTables<
        Generated::WithRawCallbackMethod_GetServerInfo<Generated::Service>>>>;

class TableAdminService final : public RawService {
 public:
  explicit TableAdminService(const ServiceContext& context)
      : context_(std::make_shared<SharedContext>(context)) {}

  grpc::ServerUnaryReactor* ListTables(CallbackServerContext* rpc, const ByteBuffer* request,
                                       ByteBuffer* answer) override {
    return ServeUnary<v1::ListTablesRequest>(context_, rpc, request, answer, &posenc::ListTables);
  }
  grpc::ServerWriteReactor<ByteBuffer>* WarmTables(CallbackServerContext* rpc,
                                                   const ByteBuffer* request) override {
    return ServeStream<v1::WarmTablesRequest>(context_, rpc, request, &posenc::WarmTables);
  }
  grpc::ServerUnaryReactor* EvictTables(CallbackServerContext* rpc, const ByteBuffer* request,
                                        ByteBuffer* answer) override {
    return ServeUnary<v1::EvictTablesRequest>(context_, rpc, request, answer, &posenc::EvictTables);
  }
  grpc::ServerUnaryReactor* GetServerInfo(CallbackServerContext* rpc, const ByteBuffer* request,
                                          ByteBuffer* answer) override {
    return ServeUnary<v1::GetServerInfoRequest>(context_, rpc, request, answer, &posenc::GetServerInfo);
  }

 private:
  const ContextPtr context_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeTableAdminService(const ServiceContext& context) {
  return std::make_unique<TableAdminService>(context);
}

}  // namespace posenc
