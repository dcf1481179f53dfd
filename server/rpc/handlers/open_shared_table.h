// OpenSharedTable: a token for the table's memory, for clients on the server's host.

#ifndef POSENC_SERVER_RPC_HANDLERS_OPEN_SHARED_TABLE_H_
#define POSENC_SERVER_RPC_HANDLERS_OPEN_SHARED_TABLE_H_

#include <memory>

#include "posenc/v1/positional_encoding_service.pb.h"
#include "server/rpc/calls/call.h"
#include "server/rpc/service_context.h"

namespace posenc {

// Makes the table resident in sealed memory and answers with a token for it.
// Errors: as DecodeNormalizedSpec and TableStore::Fetch; FailedPrecondition when the server has no socket
// for shared memory.
void OpenSharedTable(const ContextPtr& context, const v1::OpenSharedTableRequest& request,
                     const std::shared_ptr<UnaryCall>& call);

}  // namespace posenc

#endif  // POSENC_SERVER_RPC_HANDLERS_OPEN_SHARED_TABLE_H_
