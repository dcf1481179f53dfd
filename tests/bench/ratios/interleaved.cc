#include "tests/bench/ratios/interleaved.h"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>

namespace posenc::bench {
namespace {

double Seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Summary Summarize(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const auto at = [&](double share) {
    return samples[static_cast<size_t>(share * static_cast<double>(samples.size() - 1))];
  };
  return {.median = at(0.5), .low = at(0.25), .high = at(0.75)};
}

Timing RunInterleaved(int rounds, const std::function<void()>& ours,
                      const std::function<void()>& alternative) {
  ours();
  alternative();
  Timing timing;
  for (int round = 0; round < rounds; ++round) {
    timing.ours.push_back(Seconds(ours));
    timing.alternative.push_back(Seconds(alternative));
  }
  return timing;
}

void Print(const Ratio& ratio) {
  const nlohmann::json line = {
      {"key", ratio.key},         {"what", ratio.what}, {"value", ratio.value.median},
      {"low", ratio.value.low},   {"high", ratio.value.high},
      {"ours", ratio.ours},       {"alternative", ratio.alternative},
  };
  std::cout << line.dump() << std::endl;
}

}  // namespace posenc::bench
