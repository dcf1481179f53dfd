// The peer of a call, asked for only when somebody needs it: gRPC makes a text for every answer.
//
// Threads: one at a time: the call's mutex guards it. Lifetime: the RPC must be alive until RpcEnds; after that
// the peer is what was asked for before, or nobody's.

#ifndef POSENC_SERVER_RPC_CALLS_CALL_PEER_H_
#define POSENC_SERVER_RPC_CALLS_CALL_PEER_H_

#include <grpcpp/server_context.h>

#include "server/tables/memory/peer.h"

namespace posenc {

class CallPeer {
 public:
  explicit CallPeer(const grpc::CallbackServerContext& rpc) : rpc_(&rpc) {}

  const PeerId& Get() {
    if (rpc_ != nullptr) {
      peer_ = PeerId(rpc_->peer());
      rpc_ = nullptr;
    }
    return peer_;
  }

  void RpcEnds() { rpc_ = nullptr; }

 private:
  const grpc::CallbackServerContext* rpc_;  // null once the peer is known, or never will be
  PeerId peer_;
};

}  // namespace posenc

#endif  // POSENC_SERVER_RPC_CALLS_CALL_PEER_H_
