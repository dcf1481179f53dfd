// Times two ways of doing the same work side by side: round after round, one after the other and in turns
// who is first, so that what else the machine does falls on both.

#ifndef POSENC_TESTS_BENCH_RATIOS_INTERLEAVED_H_
#define POSENC_TESTS_BENCH_RATIOS_INTERLEAVED_H_

#include <cstddef>
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

// The value below which this share of the samples lies.
double Percentile(std::vector<double> samples, double share);

// Seconds that work takes on the clock.
double Seconds(const std::function<void()>& work);

// Runs `rounds` rounds after one that is not counted.
Timing RunInterleaved(int rounds, const std::function<void()>& ours,
                      const std::function<void()>& alternative);

// The same with functions that measure for themselves and return seconds.
Timing MeasureInterleaved(int rounds, const std::function<double()>& ours,
                          const std::function<double()>& alternative);

// The rounds' own ratios.
std::vector<double> OursOverAlternative(const Timing& timing);
std::vector<double> AlternativeOverOurs(const Timing& timing);

// One measured figure of the report's table; report.py knows the goals.
struct Ratio {
  std::string key;
  std::string what;         // one line for people
  Summary value;            // of the rounds' own ratios
  std::string ours;         // e.g. "6.1 GB/s"
  std::string alternative;  // e.g. "8.0 GB/s"; empty: there is none
};

// Print a figure, or why there is none, as one line of JSON on stdout.
void Print(const Ratio& ratio);
void PrintNotMeasured(const std::string& key, const std::string& reason);

// "6.12 GB/s", "183 us", "4.21 ms", "1.20 s".
std::string RateText(size_t bytes, double seconds);
std::string TimeText(double seconds);

}  // namespace posenc::bench

#endif  // POSENC_TESTS_BENCH_RATIOS_INTERLEAVED_H_
