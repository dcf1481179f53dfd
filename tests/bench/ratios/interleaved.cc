#include "tests/bench/ratios/interleaved.h"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>

#include "absl/strings/str_format.h"

namespace posenc::bench {
namespace {

std::vector<double> Quotients(const std::vector<double>& over, const std::vector<double>& under) {
  std::vector<double> quotients;
  for (size_t i = 0; i < over.size(); ++i) quotients.push_back(over[i] / under[i]);
  return quotients;
}

}  // namespace

double Percentile(std::vector<double> samples, double share) {
  const auto at = static_cast<size_t>(share * static_cast<double>(samples.size() - 1));
  std::nth_element(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(at), samples.end());
  return samples[at];
}

Summary Summarize(std::vector<double> samples) {
  return {.median = Percentile(samples, 0.5),
          .low = Percentile(samples, 0.25),
          .high = Percentile(samples, 0.75)};
}

double Seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Timing MeasureInterleaved(int rounds, const std::function<double()>& ours,
                          const std::function<double()>& alternative) {
  ours();
  alternative();
  Timing timing;
  for (int round = 0; round < rounds; ++round) {
    const bool ours_first = round % 2 == 0;
    if (ours_first) timing.ours.push_back(ours());
    timing.alternative.push_back(alternative());
    if (!ours_first) timing.ours.push_back(ours());
  }
  return timing;
}

Timing RunInterleaved(int rounds, const std::function<void()>& ours,
                      const std::function<void()>& alternative) {
  return MeasureInterleaved(rounds, [&] { return Seconds(ours); }, [&] { return Seconds(alternative); });
}

std::vector<double> OursOverAlternative(const Timing& timing) {
  return Quotients(timing.ours, timing.alternative);
}

std::vector<double> AlternativeOverOurs(const Timing& timing) {
  return Quotients(timing.alternative, timing.ours);
}

void Print(const Ratio& ratio) {
  const nlohmann::json line = {
      {"key", ratio.key},         {"what", ratio.what}, {"value", ratio.value.median},
      {"low", ratio.value.low},   {"high", ratio.value.high},
      {"ours", ratio.ours},       {"alternative", ratio.alternative},
  };
  std::cout << line.dump() << std::endl;
}

void PrintNotMeasured(const std::string& key, const std::string& reason) {
  const nlohmann::json line = {{"key", key}, {"not_measured", reason}};
  std::cout << line.dump() << std::endl;
}

std::string RateText(size_t bytes, double seconds) {
  return absl::StrFormat("%.2f GB/s", static_cast<double>(bytes) / seconds / 1e9);
}

std::string TimeText(double seconds) {
  if (seconds < 1e-6) return absl::StrFormat("%.0f ns", seconds * 1e9);
  if (seconds < 1e-3) return absl::StrFormat("%.0f us", seconds * 1e6);
  if (seconds < 1) return absl::StrFormat("%.2f ms", seconds * 1e3);
  return absl::StrFormat("%.2f s", seconds);
}

}  // namespace posenc::bench
