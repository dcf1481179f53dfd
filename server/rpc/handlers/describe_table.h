// DescribeTable: what a table is, and on request the digests of its bytes.

#ifndef POSENC_SERVER_RPC_HANDLERS_DESCRIBE_TABLE_H_
#define POSENC_SERVER_RPC_HANDLERS_DESCRIBE_TABLE_H_

#include <memory>

#include "posenc/v1/positional_encoding_service.pb.h"
#include "server/rpc/calls/call.h"
#include "server/rpc/service_context.h"

namespace posenc {

// Errors: InvalidArgument with the violations of the spec; with_content_digest: as DigestTensors, and
// FailedPrecondition for a table of more than kMaxDigestBytes.
// Cost: microseconds; with_content_digest: the generation of the whole table, one block in memory.
void DescribeTable(const ContextPtr& context, const v1::DescribeTableRequest& request,
                   const std::shared_ptr<UnaryCall>& call);

}  // namespace posenc

#endif  // POSENC_SERVER_RPC_HANDLERS_DESCRIBE_TABLE_H_
