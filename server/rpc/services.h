// The gRPC services of posenc.v1 over one table store.
//
// Threads:   gRPC's callback threads; nothing here blocks them: generation, gathers and digests run on the
//            store's workers.
// Ownership: everything in the context must outlive the services, and the services the grpc::Server.

#ifndef POSENC_SERVER_RPC_SERVICES_H_
#define POSENC_SERVER_RPC_SERVICES_H_

#include <grpcpp/impl/codegen/service_type.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "absl/time/time.h"
#include "server/core/limits.h"
#include "server/core/tensor_catalog.h"
#include "server/tables/shared_tables.h"
#include "server/tables/store/table_store.h"

namespace posenc {

// What GetServerInfo says besides the store's statistics.
struct BuildInfo {
  std::string version;
  std::string revision;
  std::string compiler;
};

struct ServiceContext {
  TableStore* store = nullptr;
  // Tensors that specs name; outlives the services.
  const TensorCatalog* catalog = &EmptyCatalog();
  BuildInfo build;
  absl::Time start_time;
  // Null without a socket for shared memory; outlives the services.
  SharedTables* shared_tables = nullptr;
  std::string shared_memory_socket;  // path of the socket
  size_t block_bytes = limits::kDefaultBlockBytes;
  // Largest unary answer; larger ones are told to stream.
  size_t max_unary_bytes = limits::kDefaultMaxUnaryBytes;
  // How long a request may wait for memory when its own deadline is later or absent.
  absl::Duration max_memory_wait = absl::Seconds(30);
  // A stream whose reader takes nothing for this long is cancelled, and so is a unary call whose answer is
  // not taken whole by then, so that stalled readers cannot hold the budget; the client sees CANCELLED. While
  // somebody waits for memory, a second without progress is too long (StallWatch).
  absl::Duration stall_timeout = absl::Seconds(60);
  // State of the life cycle, for GetServerInfo.
  std::function<bool()> ready = [] { return true; };
  std::function<bool()> draining = [] { return false; };
};

std::unique_ptr<grpc::Service> MakePositionalEncodingService(const ServiceContext& context);
std::unique_ptr<grpc::Service> MakeTableAdminService(const ServiceContext& context);

}  // namespace posenc

#endif  // POSENC_SERVER_RPC_SERVICES_H_
