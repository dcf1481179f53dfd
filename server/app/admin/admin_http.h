// The admin pages over HTTP: /metrics for Prometheus, /livez and /readyz for probes, /version for people.
//
// /livez is 200 as long as the program answers and no listener is known to be deaf, else 503. /readyz is 200 when ready, else 503 with what is missing;
// with ?verbose it lists every condition. Other paths are 404.
//
// Threads:   one of the HTTP server's own; what the options call must take any thread and not block. However
//            many connections send nothing, the pages answer at once (http_server.h).
// Ownership: what the options refer to must outlive the server. The destructor stops it.

#ifndef POSENC_SERVER_APP_ADMIN_ADMIN_HTTP_H_
#define POSENC_SERVER_APP_ADMIN_ADMIN_HTTP_H_

#include <prometheus/collectable.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/app/lifecycle/lifecycle.h"
#include "server/app/listeners/listen_address.h"
#include "server/telemetry/log.h"

namespace posenc {

struct AdminHttpOptions {
  ListenAddress listen;
  std::vector<const prometheus::Collectable*> collectors;
  const Lifecycle* lifecycle = nullptr;
  std::string version_json;
  size_t max_connections = 64;
  Logger* log = nullptr;  // null logs nothing
};

class AdminHttp {
 public:
  virtual ~AdminHttp() = default;
  virtual int port() const = 0;
};

// Errors: Unavailable that names the address and the reason, when it cannot be bound.
absl::StatusOr<std::unique_ptr<AdminHttp>> StartAdminHttp(const AdminHttpOptions& options);

}  // namespace posenc

#endif  // POSENC_SERVER_APP_ADMIN_ADMIN_HTTP_H_
