// The context of the services as handlers hold it: shared, since a callback of the store may arrive after
// its RPC, and with it the service, is gone.

#ifndef POSENC_SERVER_RPC_SERVICE_CONTEXT_H_
#define POSENC_SERVER_RPC_SERVICE_CONTEXT_H_

#include <memory>

#include "server/rpc/services.h"

namespace posenc {

using ContextPtr = std::shared_ptr<const ServiceContext>;

}  // namespace posenc

#endif  // POSENC_SERVER_RPC_SERVICE_CONTEXT_H_
