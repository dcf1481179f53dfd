// The closed list of RPCs that the metrics know: everything that this server serves, read from the
// descriptors, so that a new RPC is counted without a new line here.

#ifndef POSENC_SERVER_APP_LISTENERS_RPC_METHODS_H_
#define POSENC_SERVER_APP_LISTENERS_RPC_METHODS_H_

#include <string>
#include <vector>

#include "server/telemetry/rpc_metrics.h"

namespace posenc {

// Names of the services of posenc.v1, which are also the names that health knows.
std::vector<std::string> TableServiceNames();

// Every method of those, of grpc.health.v1.Health and of reflection.
std::vector<RpcMethod> ServedRpcMethods();

}  // namespace posenc

#endif  // POSENC_SERVER_APP_LISTENERS_RPC_METHODS_H_
