// What one server delivers to many clients at once, what that costs it, and what a fleet makes of it.

#include <atomic>
#include <barrier>
#include <iostream>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "posenc/client.h"
#include "tests/bench/growth/growth.h"
#include "tests/bench/ratios/interleaved.h"
#include "tests/bench/support/programs.h"

namespace posenc::bench {
namespace {

constexpr double kMeasuredSeconds = 2.0;
constexpr double kModelBytes = 67108864.0;  // 131072 rows of head_dim 128 in F32
const Rope kTable{.head_dim = 128, .max_len = 131072};

// What clients got of a server within the time measured.
struct Load {
  double per_second = 0;   // bytes or calls
  double server_cpu = 0;   // seconds for each of them
};

// Runs `clients` threads, each with a connection of its own, which call `work` until time is up. `work`
// returns how much it got.
Load Measure(const PosencServer& server, int clients, const std::function<double(Client&)>& work) {
  std::atomic<bool> stopped = false;
  std::atomic<double> total = 0;
  std::barrier<> start(clients + 1);
  std::vector<std::thread> threads;
  for (int i = 0; i < clients; ++i) {
    threads.emplace_back([&] {
      Client client(MakeConnection(server.target, {.shared_memory = false}));
      work(client);
      start.arrive_and_wait();
      while (!stopped) total += work(client);
    });
  }
  start.arrive_and_wait();
  total = 0;
  const double cpu_before = server.process->CpuSeconds();
  const double seconds = Seconds([&] {
    std::this_thread::sleep_for(std::chrono::duration<double>(kMeasuredSeconds));
    stopped = true;
    for (std::thread& thread : threads) thread.join();
  });
  const double got = total;
  return {.per_second = got / seconds, .server_cpu = (server.process->CpuSeconds() - cpu_before) / got};
}

Load MeasureBulk(const PosencServer& server, int readers) {
  return Measure(server, readers, [](Client& client) {
    double bytes = 0;
    ExitOnError(client.Stream(kTable, {}, [&](const Chunk& chunk) {
      for (const auto& tensor : chunk.tensors) bytes += static_cast<double>(tensor.size());
      return absl::OkStatus();
    }));
    return bytes;
  });
}

Load MeasureSmall(const PosencServer& server, int callers) {
  return Measure(server, callers, [](Client& client) {
    ExitOnError(client.Slice(kTable, {.rows = Range{1000, 1008}}).status());
    return 1.0;
  });
}

std::vector<std::string> Cells(const std::string& first, const Load& bulk, const Load& small) {
  return {first, absl::StrFormat("%.2f GB/s", bulk.per_second / 1e9),
          absl::StrFormat("%.2f s", bulk.server_cpu * 1e9), absl::StrFormat("%.0f /s", small.per_second),
          absl::StrFormat("%.0f us", small.server_cpu * 1e6)};
}

std::vector<std::string> Header(const std::string& first) {
  return {first, "bulk", "server's CPU for each GB", "4 KiB calls", "server's CPU for each"};
}

// What 8 readers get of a server on these CPUs.
std::pair<Load, Load> MeasureOnCpus(const std::string& cpus) {
  const PosencServer server = ValueOrExit(StartPosencServer({"--cache-bytes", "256MiB"}, cpus));
  return {MeasureBulk(server, 8), MeasureSmall(server, 8)};
}

// Hosts that one replica can start in a minute and feed while they decode, by what limits it.
void PrintFleet(const Load& bulk, const Load& small) {
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](const std::string& limit, double bytes_per_second, double calls_per_second) {
    rows.push_back({limit, absl::StrFormat("%.2f GB/s", bytes_per_second / 1e9),
                    absl::StrFormat("%.0f", bytes_per_second / kModelBytes),
                    absl::StrFormat("%.0f", bytes_per_second * 60 / kModelBytes),
                    absl::StrFormat("%.0f", calls_per_second)});
  };
  add("one CPU of the server", 1 / bulk.server_cpu, 1 / small.server_cpu);
  for (const int gigabits : {10, 25, 100}) {
    const double bytes_per_second = gigabits * 1e9 / 8;
    add(absl::StrCat(gigabits, " Gbit/s"), bytes_per_second, bytes_per_second / 4400);  // with framing
  }
  std::cout << "### What one replica feeds\n\nA model's table is one of 64 MiB (131072 x 128, cos and sin, F32); "
               "BF16 halves it. From the CPU seconds of the table above with two CPUs; networks at their "
               "nominal rate.\n\n";
  PrintTable({"limit", "bulk", "hosts started a second", "a minute", "4 KiB calls a second"}, rows);
}

}  // namespace

void PrintThroughput() {
  std::vector<std::vector<std::string>> rows;
  {
    const PosencServer server = ValueOrExit(StartPosencServer({"--cache-bytes", "256MiB"}));
    for (int readers = 1; readers <= 64; readers *= 2) {
      rows.push_back(Cells(absl::StrCat(readers), MeasureBulk(server, readers), MeasureSmall(server, readers)));
    }
  }
  std::cout << "### Throughput over readers\n\nEach reader has a connection of its own and asks again and again for "
               "a warm table of 64 MiB, or for 8 rows of it; clients and server share the machine's CPUs.\n\n";
  PrintTable(Header("readers"), rows);

  const auto [one_bulk, one_small] = MeasureOnCpus("0");
  const auto [two_bulk, two_small] = MeasureOnCpus("0,1");
  std::cout << "### Throughput over the server's CPUs\n\nThe same with 8 readers, the server bound to so many CPUs, "
               "the readers to none.\n\n";
  PrintTable(Header("CPUs"), {Cells("1", one_bulk, one_small), Cells("2", two_bulk, two_small)});
  PrintFleet(two_bulk, two_small);
}

}  // namespace posenc::bench
