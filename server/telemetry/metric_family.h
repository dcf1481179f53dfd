// Builds families of samples for collectors that read their numbers when they are scraped, where the
// counters of prometheus-cpp would keep a second copy of what is counted elsewhere.
//
// Units: as the family's name says (_seconds, _bytes). Threads: plain values, not thread-safe.

#ifndef POSENC_SERVER_TELEMETRY_METRIC_FAMILY_H_
#define POSENC_SERVER_TELEMETRY_METRIC_FAMILY_H_

#include <prometheus/client_metric.h>
#include <prometheus/metric_family.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace posenc {

using MetricLabels = std::vector<prometheus::ClientMetric::Label>;

// One family, to which samples are added; returns itself, so that a family is one expression.
class MetricFamilyBuilder {
 public:
  static MetricFamilyBuilder Counter(std::string name, std::string help);
  static MetricFamilyBuilder Gauge(std::string name, std::string help);
  static MetricFamilyBuilder Histogram(std::string name, std::string help);

  // Adds the sample of a counter or gauge.
  MetricFamilyBuilder& Add(double value, MetricLabels labels = {});

  // Adds the sample of a histogram: counts[i] observations fell up to bounds[i] and not below, the last
  // of the counts is of those above every bound.
  // Requires: counts.size() == bounds.size() + 1.
  MetricFamilyBuilder& Add(std::span<const double> bounds, std::span<const uint64_t> counts, double sum);

  prometheus::MetricFamily Build() const { return family_; }

 private:
  MetricFamilyBuilder(prometheus::MetricType type, std::string name, std::string help);

  prometheus::MetricFamily family_;
};

}  // namespace posenc

#endif  // POSENC_SERVER_TELEMETRY_METRIC_FAMILY_H_
