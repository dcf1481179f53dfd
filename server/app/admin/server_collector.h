// The posenc_* metrics of the table store, of the life cycle, of the build and of the log, read when they
// are scraped. Every label set is always there, at 0 if need be.
//
// Threads:   Collect may run on any thread. Ownership: what it reads must outlive it.

#ifndef POSENC_SERVER_APP_ADMIN_SERVER_COLLECTOR_H_
#define POSENC_SERVER_APP_ADMIN_SERVER_COLLECTOR_H_

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <functional>
#include <vector>

#include "server/app/admin/program_info.h"
#include "server/app/lifecycle/lifecycle.h"
#include "server/tables/store/store_stats.h"
#include "server/telemetry/log.h"

namespace posenc {

class ServerCollector : public prometheus::Collectable {
 public:
  ServerCollector(std::function<StoreStats()> stats, const Lifecycle& lifecycle, const Logger& log,
                  ProgramInfo info);

  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  const std::function<StoreStats()> stats_;
  const Lifecycle& lifecycle_;
  const Logger& log_;
  const ProgramInfo info_;
};

}  // namespace posenc

#endif  // POSENC_SERVER_APP_ADMIN_SERVER_COLLECTOR_H_
