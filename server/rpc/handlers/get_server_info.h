// GetServerInfo: what this server is and how it is doing.

#ifndef POSENC_SERVER_RPC_HANDLERS_GET_SERVER_INFO_H_
#define POSENC_SERVER_RPC_HANDLERS_GET_SERVER_INFO_H_

#include <memory>

#include "posenc/v1/table_admin_service.pb.h"
#include "server/rpc/calls/call.h"
#include "server/rpc/service_context.h"

namespace posenc {

// Errors: none.
void GetServerInfo(const ContextPtr& context, const v1::GetServerInfoRequest& request,
                   const std::shared_ptr<UnaryCall>& call);

}  // namespace posenc

#endif  // POSENC_SERVER_RPC_HANDLERS_GET_SERVER_INFO_H_
