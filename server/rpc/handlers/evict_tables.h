// EvictTables: unpins tables and drops their blocks.

#ifndef POSENC_SERVER_RPC_HANDLERS_EVICT_TABLES_H_
#define POSENC_SERVER_RPC_HANDLERS_EVICT_TABLES_H_

#include <memory>

#include "posenc/v1/table_admin_service.pb.h"
#include "server/rpc/calls/call.h"
#include "server/rpc/service_context.h"

namespace posenc {

// Errors: InvalidArgument for a key that is not 64 hex digits, for neither keys nor `all`, and for both;
// NotFound for a key that the store does not hold, named; the keys before it are evicted then.
void EvictTables(const ContextPtr& context, const v1::EvictTablesRequest& request,
                 const std::shared_ptr<UnaryCall>& call);

}  // namespace posenc

#endif  // POSENC_SERVER_RPC_HANDLERS_EVICT_TABLES_H_
