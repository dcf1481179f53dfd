// Small calls beside bulk streams: the 99th percentile of 4 KiB calls beside four streams over that of calls
// alone. The same with gRPC and nothing else shows what the machine does to any calls: clients, servers and
// streams share its CPUs.

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_format.h"
#include "posenc/client.h"
#include "tests/bench/bare/bare_client.h"
#include "tests/bench/ratios/interleaved.h"
#include "tests/bench/support/pages.h"
#include "tests/bench/support/programs.h"

namespace posenc::bench {
namespace {

constexpr int kRounds = 9;
constexpr int kCalls = 400;
constexpr int kStreams = 4;
constexpr size_t kSmallBytes = 4096;
constexpr size_t kTableBytes = size_t{256} << 20;

struct Percentiles {
  double p50, p99;
};

// Of small calls, in seconds.
Percentiles TimeCalls(const std::function<absl::Status()>& call) {
  std::vector<double> seconds;
  for (int i = 0; i < kCalls; ++i) {
    seconds.push_back(Seconds([&] { ExitOnError(call()); }));
  }
  return {Percentile(seconds, 0.5), Percentile(seconds, 0.99)};
}

// Threads that do bulk work until they are told to stop.
class Bulk {
 public:
  using Work = std::function<void(const std::atomic<bool>& stopped)>;

  explicit Bulk(const Work& work) {
    for (int i = 0; i < kStreams; ++i) {
      threads_.emplace_back([this, work] { work(stopped_); });
    }
  }
  Bulk(const Bulk&) = delete;
  ~Bulk() {
    stopped_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::atomic<bool> stopped_ = false;
  std::vector<std::thread> threads_;
};

// What the rounds of one side gave.
struct Side {
  std::function<absl::Status()> call;
  Bulk::Work work;
  std::vector<double> ratios = {}, medians = {}, idle = {}, beside = {};

  void Round() {
    const Percentiles alone = TimeCalls(call);
    const Bulk bulk(work);
    const Percentiles loaded = TimeCalls(call);
    ratios.push_back(loaded.p99 / alone.p99);
    medians.push_back(loaded.p50 / alone.p50);
    idle.push_back(alone.p99);
    beside.push_back(loaded.p99);
  }
  void PrintAs(const std::string& key, const std::string& what) const {
    Print({.key = key,
           .what = absl::StrFormat("p99 of %s over p99 alone; the p50s' ratio is %.1f", what,
                                   Summarize(medians).median),
           .value = Summarize(ratios),
           .ours = TimeText(Summarize(beside).median),
           .alternative = TimeText(Summarize(idle).median)});
  }
};

void Measure() {
  const PosencServer server = ValueOrExit(StartPosencServer({"--cache-bytes", "512MiB"}));
  const BareServer bare = ValueOrExit(StartBareServer(kSmallBytes, kTableBytes));
  Client client(MakeConnection(server.target));
  const TableRequest table = Rope{.head_dim = 128, .max_len = 524288};
  ExitOnError(client.Stream(table, {}, [](const Chunk&) { return absl::OkStatus(); }));
  Side ours{.call = [&] { return client.Slice(table, {.rows = Range{1000, 1008}}).status(); },
            .work = [&](const std::atomic<bool>& stopped) {
              const auto on_chunk = [&](const Chunk&) {
                return stopped ? absl::CancelledError("enough") : absl::OkStatus();
              };
              while (!stopped) client.Stream(table, {}, on_chunk).IgnoreError();
            }};
  RawClient raw(bare.raw_target);
  Side theirs{.call = [&] { return raw.CallUnary(""); },
              .work = [&](const std::atomic<bool>& stopped) {
                RawClient own(bare.raw_target);
                const Pages memory(kTableBytes + (1 << 20));
                while (!stopped) ExitOnError(own.ReadStream("", {memory.data(), memory.bytes()}, kTableBytes));
              }};
  for (int round = 0; round < kRounds; ++round) {
    ours.Round();
    theirs.Round();
  }
  ours.PrintAs("fetch_p99_beside_bulk", "a 4 KiB GetSlice beside four bulk streams of the same client");
  theirs.PrintAs("raw_grpc_p99_beside_bulk", "a bare 4 KiB call beside four bare streams of other channels");
}

}  // namespace
}  // namespace posenc::bench

// Prints both figures, whatever the argument.
int main() {
  posenc::bench::Measure();
  return 0;
}
