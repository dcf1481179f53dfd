// ListTables: pages of the tables that the store holds, in the order of their keys.

#ifndef POSENC_SERVER_RPC_HANDLERS_LIST_TABLES_H_
#define POSENC_SERVER_RPC_HANDLERS_LIST_TABLES_H_

#include <memory>

#include "posenc/v1/table_admin_service.pb.h"
#include "server/rpc/calls/call.h"
#include "server/rpc/service_context.h"

namespace posenc {

// The page token is the last key of the page before, so that a page is right whatever was evicted since.
// Errors: InvalidArgument for a page_size out of range and for a page_token that is no key.
void ListTables(const ContextPtr& context, const v1::ListTablesRequest& request,
                const std::shared_ptr<UnaryCall>& call);

}  // namespace posenc

#endif  // POSENC_SERVER_RPC_HANDLERS_LIST_TABLES_H_
