// GetSlice: a slice in one message.

#ifndef POSENC_SERVER_RPC_HANDLERS_GET_SLICE_H_
#define POSENC_SERVER_RPC_HANDLERS_GET_SLICE_H_

#include <memory>

#include "posenc/v1/positional_encoding_service.pb.h"
#include "server/rpc/calls/call.h"
#include "server/rpc/requests/spec_request.h"
#include "server/rpc/service_context.h"

namespace posenc {

// Errors: as DecodeSelectionOf, ResolveSelection and FetchRows; FailedPrecondition for an answer over
// max_unary_bytes, with the bytes needed, the cap and the way out; InvalidArgument with selection.positions
// for more of them than kMaxGatherBytes of whole rows.
void GetSlice(const ContextPtr& context, const SpecRequest<v1::GetSliceRequest>& request,
              const std::shared_ptr<UnaryCall>& call);

}  // namespace posenc

#endif  // POSENC_SERVER_RPC_HANDLERS_GET_SLICE_H_
