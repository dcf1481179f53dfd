// WarmTables: generates tables ahead of their use, one after the other, and streams the progress.
//
// At most one message is in flight and the latest progress replaces what was not yet written, so that a
// slow reader holds up nothing; but every table's last message is sent, and the next table waits for that.
// A client that goes away stops the warm-up; tables that were done stay warm.

#ifndef POSENC_SERVER_RPC_HANDLERS_WARM_TABLES_H_
#define POSENC_SERVER_RPC_HANDLERS_WARM_TABLES_H_

#include <memory>

#include "posenc/v1/table_admin_service.pb.h"
#include "server/rpc/calls/call.h"
#include "server/rpc/service_context.h"

namespace posenc {

// Errors: InvalidArgument as DecodeSpecs, before anything is generated; ResourceExhausted for tables without
// a pin that would not fit the memory budget together; else as WarmTable.
void WarmTables(const ContextPtr& context, const v1::WarmTablesRequest& request,
                const std::shared_ptr<StreamCall>& call);

}  // namespace posenc

#endif  // POSENC_SERVER_RPC_HANDLERS_WARM_TABLES_H_
