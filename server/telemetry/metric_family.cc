#include "server/telemetry/metric_family.h"

#include <limits>
#include <utility>

namespace posenc {

using prometheus::ClientMetric;
using prometheus::MetricType;

MetricFamilyBuilder::MetricFamilyBuilder(MetricType type, std::string name, std::string help) {
  family_.type = type;
  family_.name = std::move(name);
  family_.help = std::move(help);
}

MetricFamilyBuilder MetricFamilyBuilder::Counter(std::string name, std::string help) {
  return {MetricType::Counter, std::move(name), std::move(help)};
}

MetricFamilyBuilder MetricFamilyBuilder::Gauge(std::string name, std::string help) {
  return {MetricType::Gauge, std::move(name), std::move(help)};
}

MetricFamilyBuilder MetricFamilyBuilder::Histogram(std::string name, std::string help) {
  return {MetricType::Histogram, std::move(name), std::move(help)};
}

MetricFamilyBuilder& MetricFamilyBuilder::Add(double value, MetricLabels labels) {
  ClientMetric sample;
  sample.label = std::move(labels);
  if (family_.type == MetricType::Counter) {
    sample.counter.value = value;
  } else {
    sample.gauge.value = value;
  }
  family_.metric.push_back(std::move(sample));
  return *this;
}

MetricFamilyBuilder& MetricFamilyBuilder::Add(std::span<const double> bounds,
                                              std::span<const uint64_t> counts, double sum) {
  ClientMetric sample;
  uint64_t cumulative = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    cumulative += counts[i];
    const double bound = i < bounds.size() ? bounds[i] : std::numeric_limits<double>::infinity();
    sample.histogram.bucket.push_back({cumulative, bound});
  }
  sample.histogram.sample_count = cumulative;
  sample.histogram.sample_sum = sum;
  family_.metric.push_back(std::move(sample));
  return *this;
}

}  // namespace posenc
