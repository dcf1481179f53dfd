// StreamSlice: a slice of any size in chunks of whole rows, in order.
//
// While one chunk is being written the next one is fetched: a stream holds at most two chunks, each of one
// block or one buffer of at most a block's size, however long the slice and however slow the reader is. The
// few blocks behind them are generated ahead, on all cores; the cache holds those, not the stream.
// A chunk that cannot be fetched ahead for want of memory is asked for again once the chunk before has
// gone out and the stream holds nothing.

#ifndef POSENC_SERVER_RPC_HANDLERS_STREAM_SLICE_H_
#define POSENC_SERVER_RPC_HANDLERS_STREAM_SLICE_H_

#include <memory>

#include "posenc/v1/positional_encoding_service.pb.h"
#include "server/rpc/calls/call.h"
#include "server/rpc/requests/spec_request.h"
#include "server/rpc/service_context.h"

namespace posenc {

// Errors: as DecodeSelectionOf, ResolveSelection and FetchRows; OutOfRange for skip_rows beyond the rows.
void StreamSlice(const ContextPtr& context, const SpecRequest<v1::StreamSliceRequest>& request,
                 const std::shared_ptr<StreamCall>& call);

}  // namespace posenc

#endif  // POSENC_SERVER_RPC_HANDLERS_STREAM_SLICE_H_
