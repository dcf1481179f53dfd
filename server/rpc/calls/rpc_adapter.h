// The way of one RPC through this folder: bytes → message → handler → frames. Every method is a raw one:
// gRPC's own typed methods answer bytes that do not parse with UNIMPLEMENTED and no text.
//
// Threads: called on gRPC's threads; handlers return at once.

#ifndef POSENC_SERVER_RPC_CALLS_RPC_ADAPTER_H_
#define POSENC_SERVER_RPC_CALLS_RPC_ADAPTER_H_

#include <memory>

#include "server/rpc/calls/exceptions.h"
#include "server/rpc/calls/stream_reactor.h"
#include "server/rpc/calls/unary_reactor.h"
#include "server/rpc/calls/wire.h"
#include "server/rpc/requests/spec_request.h"
#include "server/rpc/service_context.h"

namespace posenc {

template <typename Request>
using UnaryHandler = void (*)(const ContextPtr&, const Request&, const std::shared_ptr<UnaryCall>&);

template <typename Request>
using StreamHandler = void (*)(const ContextPtr&, const Request&, const std::shared_ptr<StreamCall>&);

inline absl::Status Parse(const SharedContext&, absl::string_view bytes, google::protobuf::Message& request) {
  return ParseRequest(bytes, request);
}

template <typename Message>
absl::Status Parse(const SharedContext& context, absl::string_view bytes, SpecRequest<Message>& request) {
  return ParseSpecRequest(bytes, *context.catalog, *context.specs, request);
}

// Parses the request and hands it to `handler`; whatever stops that goes to `refuse`.
template <typename Request, typename Call, typename Refuse>
void ParseAndHandle(const ContextPtr& context, const grpc::ByteBuffer& bytes,
                    const std::shared_ptr<Call>& call,
                    void (*handler)(const ContextPtr&, const Request&, const std::shared_ptr<Call>&),
                    const Refuse& refuse) {
  CatchExceptions(
      [&] {
        const absl::StatusOr<grpc::Slice> one_piece = RequestBytes(bytes);
        if (!one_piece.ok()) return refuse(one_piece.status());
        Request request;
        absl::Status parsed = Parse(*context, ViewOf(*one_piece), request);
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
  const auto started = StartUnary(rpc, answer, context->max_memory_wait, context->stalls);
  const std::shared_ptr<UnaryCall> call = started;
  ParseAndHandle(context, *bytes, call, handler,
                 [&](absl::Status status) { call->Respond(std::move(status)); });
  return started->TakeReactor();
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

#endif  // POSENC_SERVER_RPC_CALLS_RPC_ADAPTER_H_
