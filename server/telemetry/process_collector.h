// The process_* metrics that every Prometheus client library gives and prometheus-cpp does not: CPU time,
// memory, file descriptors, threads and start time of this process, read from /proc when scraped.
//
// Threads: Collect may run on any thread, any time. A file of /proc that cannot be read leaves its
// families out; it is never an error.

#ifndef POSENC_SERVER_TELEMETRY_PROCESS_COLLECTOR_H_
#define POSENC_SERVER_TELEMETRY_PROCESS_COLLECTOR_H_

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <vector>

namespace posenc {

class ProcessCollector : public prometheus::Collectable {
 public:
  std::vector<prometheus::MetricFamily> Collect() const override;
};

}  // namespace posenc

#endif  // POSENC_SERVER_TELEMETRY_PROCESS_COLLECTOR_H_
