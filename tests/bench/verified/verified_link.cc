// Times how a large table comes over a link: received as a stream, or computed here and vouched for.
//
//   verified_link TARGET LABEL      prints rows of a Markdown table; shaped_link.sh prints the whole
//
// Both ways alternate, round after round, with a server whose blocks are resident. Shared memory is off.

#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "posenc/client.h"
#include "posenc/verified.h"
#include "tests/bench/ratios/interleaved.h"

namespace posenc::bench {
namespace {

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Seconds of one way, on the clock and of this process's CPU time.
struct Samples {
  std::vector<double> clock;
  std::vector<double> cpu;
};

void Require(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

Table GetTimed(Client& client, const Rope& rope, Samples& samples) {
  absl::StatusOr<Table> table;
  const double cpu = CpuSeconds();
  samples.clock.push_back(Seconds([&] { table = client.Get(rope, {.timeout = absl::Minutes(5)}); }));
  samples.cpu.push_back(CpuSeconds() - cpu);
  Require(table.status());
  return *std::move(table);
}

double MedianMs(const std::vector<double>& seconds) { return 1e3 * Summarize(seconds).median; }

class Link {
 public:
  Link(const std::string& target, std::string label)
      : label_(std::move(label)), remote_(MakeConnection(target, {.shared_memory = false})) {}

  void Measure(const char* name, const Rope& rope, int rounds) {
    Require(streaming_.Warm({.specs = {TableRequest(rope).spec()}, .unpinned = true}));
    Samples streamed, one_thread, all_threads;
    double megabytes = 0;
    for (int round = -1; round < rounds; ++round) {
      megabytes = 1e-6 * static_cast<double>(GetTimed(streaming_, rope, streamed).size_bytes());
      GetTimed(one_thread_, rope, one_thread);
      GetTimed(all_threads_, rope, all_threads);
      // The first round makes connections and checksums.
      if (round < 0) streamed = one_thread = all_threads = Samples();
    }
    const double ratio = MedianMs(streamed.clock) / MedianMs(all_threads.clock);
    std::printf("| %s | %s | %.1f ms, %.2f GB/s | %.1f ms | %.1f ms | %.1f | %.0f / %.0f ms |\n",
                label_.c_str(), name, MedianMs(streamed.clock), megabytes / MedianMs(streamed.clock),
                MedianMs(one_thread.clock), MedianMs(all_threads.clock), ratio, MedianMs(streamed.cpu),
                MedianMs(all_threads.cpu));
    std::fflush(stdout);
  }

  uint64_t mismatches() const { return all_->stats().mismatched_chunks + one_->stats().mismatched_chunks; }

 private:
  const std::string label_;
  const std::shared_ptr<Connection> remote_;
  const std::shared_ptr<VerifiedConnection> one_ = MakeVerifiedLocalConnection(remote_, {.threads = 1});
  const std::shared_ptr<VerifiedConnection> all_ = MakeVerifiedLocalConnection(remote_);
  Client streaming_{remote_};
  Client one_thread_{one_};
  Client all_threads_{all_};
};

}  // namespace
}  // namespace posenc::bench

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: verified_link TARGET LABEL\n");
    return 2;
  }
  posenc::bench::Link link(argv[1], argv[2]);
  link.Measure("64 MiB", {.head_dim = 128, .max_len = 131072}, 7);
  link.Measure("1 GiB", {.head_dim = 128, .max_len = 2097152}, 3);
  if (link.mismatches() == 0) return 0;
  std::fprintf(stderr, "%lu chunks were not the service's\n", link.mismatches());
  return 1;
}
