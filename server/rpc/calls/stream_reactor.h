// gRPC's side of a call that answers with a stream: a reactor and the StreamCall that its handler sees.
//
//             Write              OnWriteDone(ok)
//   idle ───────────────▶ writing ─────────────▶ idle (then the producer's OnWritten)
//   idle ── WriteLast, Finish ──▶ finishing ── OnDone ──▶ done
//   writing ── Finish, OnCancel, a failed write: the status is kept until OnWriteDone ──▶ finishing
//
// Every transition, and the gRPC call that belongs to it, happens under one mutex. gRPC runs reactions on
// its own threads only, never inside a call of ours, so this cannot deadlock; and since OnDone takes the
// mutex too, the reactor and the server context are alive in every state but done.
//
// Stalled readers: when a message has not been taken by the transport for the watch's timeout, the
//           call is cancelled on our side, whatever flow control says. The client sees CANCELLED; interceptors see
//           DEADLINE_EXCEEDED as the final status.

#ifndef POSENC_SERVER_RPC_CALLS_STREAM_REACTOR_H_
#define POSENC_SERVER_RPC_CALLS_STREAM_REACTOR_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <memory>

#include "absl/time/time.h"
#include "server/rpc/calls/call.h"
#include "server/rpc/calls/stall_watch.h"

namespace posenc {

struct StartedStream {
  grpc::ServerWriteReactor<grpc::ByteBuffer>* reactor = nullptr;  // for gRPC; owns itself
  std::shared_ptr<StreamCall> call;                               // for the handler
};

StartedStream StartStream(grpc::CallbackServerContext* rpc, absl::Duration max_memory_wait,
                          std::shared_ptr<StallWatch> stalls);

}  // namespace posenc

#endif  // POSENC_SERVER_RPC_CALLS_STREAM_REACTOR_H_
