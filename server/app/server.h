// One run of the server, from configuration to drain.
//
// Start goes through phases: telemetry (the admin pages are the first to open), store, services,
// listeners, warm, ready. Whatever a phase starts registers its stop in the same place, and stopping runs
// these in reverse: health says NOT_SERVING, listeners close and calls end, the store ends, and the admin
// pages are the last to go, so that the last scrape sees the drain.
//
// Threads: Run blocks its caller, which must not be a gRPC thread; it is stopped through the StopRequest.

#ifndef POSENC_SERVER_APP_SERVER_H_
#define POSENC_SERVER_APP_SERVER_H_

#include <prometheus/registry.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/app/admin/admin_http.h"
#include "server/app/admin/program_info.h"
#include "server/app/admin/server_collector.h"
#include "server/app/config/config.h"
#include "server/app/config/warm_list.h"
#include "server/app/lifecycle/descriptor_limit.h"
#include "server/app/lifecycle/lifecycle.h"
#include "server/app/lifecycle/stop_request.h"
#include "server/app/listeners/grpc_listeners.h"
#include "server/app/listeners/health_service.h"
#include "server/app/listeners/port_file.h"
#include "server/app/listeners/shared_memory_socket.h"
#include "server/core/tensor_catalog.h"
#include "server/tables/shared_tables.h"
#include "server/tables/store/table_store.h"
#include "server/telemetry/log.h"
#include "server/telemetry/process_collector.h"
#include "server/telemetry/rpc_metrics.h"

namespace posenc {

class Server {
 public:
  // The log and the stop request must outlive the server.
  Server(ServerConfig config, std::shared_ptr<const TensorCatalog> catalog, std::vector<WarmEntry> warm,
         Logger& log, StopRequest& stop);

  // Starts, serves until the stop is requested, and drains. Once only.
  // Errors: why it could not start, in one line; everything that had started has been stopped.
  absl::Status Run();

 private:
  absl::Status Start();
  absl::Status StartTelemetry();
  absl::Status StartStore();
  absl::Status StartServices();
  absl::Status OpenSharedMemory();
  absl::Status OpenListeners();
  absl::Status AnnouncePorts();
  absl::Status WarmTables();
  absl::Status BecomeReady();
  void WarnOfMemoryLimit();
  void ReportProbe(const std::string& deaf);
  void Drain();
  void StopAll();

  const ServerConfig config_;
  const std::shared_ptr<const TensorCatalog> catalog_;
  const std::vector<WarmEntry> warm_;
  Logger& log_;
  StopRequest& stop_;
  const DescriptorShares descriptors_;
  const ProgramInfo info_ = GetProgramInfo();
  Lifecycle lifecycle_;

  prometheus::Registry registry_;
  RpcMetrics rpc_metrics_;
  ProcessCollector process_collector_;
  std::atomic<const TableStore*> observed_store_ = nullptr;  // the admin pages are there before the store
  ServerCollector collector_;
  HealthService health_;

  std::vector<std::function<void()>> stops_;
  // Each is made by its phase and ended by the stop that the phase registers.
  std::unique_ptr<AdminHttp> admin_;
  std::unique_ptr<TableStore> store_;
  std::vector<std::unique_ptr<grpc::Service>> services_;
  std::unique_ptr<SharedTables> shared_tables_;
  std::unique_ptr<SharedMemorySocket> shared_memory_;
  std::unique_ptr<GrpcListeners> listeners_;
  std::vector<std::unique_ptr<PortFile>> port_files_;
};

}  // namespace posenc

#endif  // POSENC_SERVER_APP_SERVER_H_
