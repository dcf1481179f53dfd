#include "server/app/listeners/rpc_methods.h"

#include <google/protobuf/descriptor.h>

#include "grpc/health/v1/health.pb.h"
#include "posenc/v1/positional_encoding_service.pb.h"
#include "posenc/v1/table_admin_service.pb.h"

namespace posenc {
namespace {

using google::protobuf::FileDescriptor;
using google::protobuf::MethodDescriptor;
using google::protobuf::ServiceDescriptor;

RpcType TypeOf(const MethodDescriptor& method) {
  if (method.client_streaming()) {
    return method.server_streaming() ? RpcType::kBidiStream : RpcType::kClientStream;
  }
  return method.server_streaming() ? RpcType::kServerStream : RpcType::kUnary;
}

void AddMethods(const FileDescriptor& file, bool serves_tables, std::vector<RpcMethod>& methods) {
  for (int i = 0; i < file.service_count(); ++i) {
    const ServiceDescriptor& service = *file.service(i);
    for (int k = 0; k < service.method_count(); ++k) {
      const MethodDescriptor& method = *service.method(k);
      methods.push_back({service.full_name(), method.name(), TypeOf(method), serves_tables});
    }
  }
}

}  // namespace

std::vector<std::string> TableServiceNames() {
  return {"posenc.v1.PositionalEncodingService", "posenc.v1.TableAdminService"};
}

std::vector<RpcMethod> ServedRpcMethods() {
  std::vector<RpcMethod> methods;
  AddMethods(*v1::GetSliceRequest::descriptor()->file(), true, methods);
  AddMethods(*v1::ListTablesRequest::descriptor()->file(), true, methods);
  AddMethods(*grpc::health::v1::HealthCheckRequest::descriptor()->file(), false, methods);
  // Inside gRPC's own library, and without a header of it.
  methods.push_back({"grpc.reflection.v1alpha.ServerReflection", "ServerReflectionInfo",
                     RpcType::kBidiStream, false});
  return methods;
}

}  // namespace posenc
