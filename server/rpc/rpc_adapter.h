// The way of one RPC through this folder: bytes → message → handler → frames. Every method is a raw one:
// gRPC's own typed methods answer bytes that do not parse with UNIMPLEMENTED and no text.
//
// Threads: called on gRPC's threads; handlers return at once.

#ifndef POSENC_SERVER_RPC_RPC_ADAPTER_H_
#define POSENC_SERVER_RPC_RPC_ADAPTER_H_

#include <memory>

#include "server/rpc/exceptions.h"
#include "server/rpc/service_context.h"
#include "server/rpc/stream_reactor.h"
#include "server/rpc/unary_reactor.h"
#include "server/rpc/wire.h"

namespace posenc {

template <typename Request>
using UnaryHandler = void (*)(const ContextPtr&, const Request&, const std::shared_ptr<UnaryCall>&);

template <typename Request>
using StreamHandler = void (*)(const ContextPtr&, const Request&, const std::shared_ptr<StreamCall>&);

// Parses the request and hands it to `handler`; whatever stops that goes to `refuse`.
template <typename Request, typename Call, typename Refuse>
void ParseAndHandle(const ContextPtr& context, const grpc::ByteBuffer& bytes,
                    const std::shared_ptr<Call>& call,
                    void (*handler)(const ContextPtr&, const Request&, const std::shared_ptr<Call>&),
                    const Refuse& refuse) {
  CatchExceptions(
      [&] {
        Request request;
        absl::Status parsed = ParseRequest(bytes, request);
        if (!parsed.ok()) return refuse(std::move(parsed));
        handler(context, request, call);
      },
      refuse);
}

// Answers a unary RPC with what `handler` makes of its request.
template <typename Request>
grpc::ServerUnaryReactor* ServeUnary(const ContextPtr& context, grpc::CallbackServerContext* rpc,
                                     const grpc::ByteBuffer* bytes, grpc::ByteBuffer* answer,
                                     UnaryHandler<Request> handler) {
  const StartedUnary started = StartUnary(rpc, answer, context->max_memory_wait, context->stalls);
  ParseAndHandle(context, *bytes, started.call, handler,
                 [&](absl::Status status) { started.call->Respond(std::move(status)); });
  return started.reactor;
}

// Answers a server-streaming RPC likewise.
template <typename Request>
grpc::ServerWriteReactor<grpc::ByteBuffer>* ServeStream(const ContextPtr& context,
                                                        grpc::CallbackServerContext* rpc,
                                                        const grpc::ByteBuffer* bytes,
                                                        StreamHandler<Request> handler) {
  const StartedStream started = StartStream(rpc, context->max_memory_wait, context->stalls);
  ParseAndHandle(context, *bytes, started.call, handler,
                 [&](absl::Status status) { started.call->Finish(std::move(status)); });
  return started.reactor;
}

}  // namespace posenc

#endif  // POSENC_SERVER_RPC_RPC_ADAPTER_H_
