// gRPC's side of a call with one answer: a reactor and the UnaryCall that its handler sees.
//
// At once:  most calls are answered before their handler returns. Their reactor is made with the answer in
//           it, has nothing to react to, and is spared the thread that gRPC would wake for its end.
// Lifetime: the reactor deletes itself in OnDone, which gRPC calls only after Finish; the call does not touch
//           it after the step that calls Finish, so nobody can reach a dead reactor.
// Threads:  one mutex for each call. Finish is called under it: gRPC runs reactions on its own threads
//           only, never inside a call of ours.
// Stalled readers: OnDone comes once the transport has taken the whole answer. Until then the answer holds
//           memory, so an answer that is not taken within the watch's timeout has its call cancelled.

#ifndef POSENC_SERVER_RPC_CALLS_UNARY_REACTOR_H_
#define POSENC_SERVER_RPC_CALLS_UNARY_REACTOR_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <memory>

#include "absl/time/time.h"
#include "server/rpc/calls/call.h"
#include "server/rpc/calls/stall_watch.h"

namespace posenc {

class ServedUnary : public UnaryCall {
 public:
  using UnaryCall::UnaryCall;

  // Returns the reactor for gRPC, which owns itself. Called once, when the handler has returned.
  virtual grpc::ServerUnaryReactor* TakeReactor() = 0;
};

// `answer` is the buffer that gRPC gave for the response.
std::shared_ptr<ServedUnary> StartUnary(grpc::CallbackServerContext* rpc, grpc::ByteBuffer* answer,
                                        absl::Duration max_memory_wait, std::shared_ptr<StallWatch> stalls);

// The deadline of an RPC; InfiniteFuture when the client set none.
absl::Time DeadlineOf(const grpc::CallbackServerContext& rpc);

}  // namespace posenc

#endif  // POSENC_SERVER_RPC_CALLS_UNARY_REACTOR_H_
