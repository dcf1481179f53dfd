// Times two ways of doing the same work side by side: round after round, one after the other, so that
// what else the machine does falls on both.

#ifndef POSENC_TESTS_BENCH_RATIOS_INTERLEAVED_H_
#define POSENC_TESTS_BENCH_RATIOS_INTERLEAVED_H_

#include <functional>
#include <string>
#include <vector>

namespace posenc::bench {

// Seconds of every round.
struct Timing {
  std::vector<double> ours;
  std::vector<double> alternative;
};

struct Summary {
  double median = 0;
  double low = 0;   // first quartile
  double high = 0;  // third quartile
};

Summary Summarize(std::vector<double> samples);

// Runs `rounds` rounds after one that is not counted.
Timing RunInterleaved(int rounds, const std::function<void()>& ours,
                      const std::function<void()>& alternative);

// One measured ratio of README's and RESULTS.md's tables.
struct Ratio {
  std::string key;
  std::string what;         // one line for people
  Summary value;            // of the rounds' own ratios
  std::string ours;         // e.g. "6.1 GB/s"
  std::string alternative;  // e.g. "8.0 GB/s"
};

// Prints a ratio as one line of JSON on stdout.
void Print(const Ratio& ratio);

}  // namespace posenc::bench

#endif  // POSENC_TESTS_BENCH_RATIOS_INTERLEAVED_H_
