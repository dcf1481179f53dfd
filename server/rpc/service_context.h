// The context of the services as handlers hold it: shared, since a callback of the store may arrive after
// its RPC, and with it the service, is gone; and what the RPCs of one service have in common.

#ifndef POSENC_SERVER_RPC_SERVICE_CONTEXT_H_
#define POSENC_SERVER_RPC_SERVICE_CONTEXT_H_

#include <memory>

#include "server/rpc/calls/stall_watch.h"
#include "server/rpc/requests/spec_memo.h"
#include "server/rpc/services.h"

namespace posenc {

struct SharedContext : ServiceContext {
  explicit SharedContext(const ServiceContext& context)
      : ServiceContext(context),
        stalls(std::make_shared<StallWatch>(context.stall_timeout)),
        specs(std::make_unique<SpecMemo>()),
        pressure(context.store->WhileSomebodyWaits(
            [stalls = stalls, least_bytes = context.block_bytes](size_t waiting_bytes) {
              stalls->CutOffStalest(waiting_bytes, least_bytes);
            })) {}

  const std::shared_ptr<StallWatch> stalls;
  const std::unique_ptr<SpecMemo> specs;
  const std::shared_ptr<void> pressure;  // ends with the context
};

using ContextPtr = std::shared_ptr<const SharedContext>;

}  // namespace posenc

#endif  // POSENC_SERVER_RPC_SERVICE_CONTEXT_H_
