// ResolveModel: which tables the text of a config.json means.

#ifndef POSENC_SERVER_RPC_HANDLERS_RESOLVE_MODEL_H_
#define POSENC_SERVER_RPC_HANDLERS_RESOLVE_MODEL_H_

#include <memory>

#include "posenc/v1/positional_encoding_service.pb.h"
#include "server/rpc/calls/call.h"
#include "server/rpc/service_context.h"

namespace posenc {

// Runs on a worker: a config may be as long as a request. Errors: as ResolveModelConfig; the violations
// keep the key paths of the config.
void ResolveModel(const ContextPtr& context, const v1::ResolveModelRequest& request,
                  const std::shared_ptr<UnaryCall>& call);

}  // namespace posenc

#endif  // POSENC_SERVER_RPC_HANDLERS_RESOLVE_MODEL_H_
